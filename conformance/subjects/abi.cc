#include "conformance/subjects/abi.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "spec/attributes.h"

namespace lockstep::judge {

ls_api load_backend(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(std::string("no library: ") + dlerror());
  void* entry = dlsym(handle, "lockstep_backend_v1");
  if (!entry) throw std::runtime_error("it exports no symbol lockstep_backend_v1");
  const ls_api* table = reinterpret_cast<const ls_api* (*)()>(entry)();
  if (!table) throw std::runtime_error("lockstep_backend_v1() returned no table");
  if (table->abi != LOCKSTEP_ABI)
    throw std::runtime_error("it speaks ABI version " + std::to_string(table->abi) +
                             ", this judge speaks version " + std::to_string(LOCKSTEP_ABI));
  // A table may end earlier than ours: what it lacks is absent.
  ls_api api{};
  std::memcpy(&api, table, std::min<std::size_t>(table->size, sizeof api));
  if (!api.manifest || !api.open || !api.close || !api.prepare || !api.execute || !api.release ||
      !api.path)
    throw std::runtime_error("a required function of its table is missing");
  return api;
}

AbiAttributes::AbiAttributes(const OpInfo& op, Attributes values) {
  for (int i = 0; i < values.size(); ++i) {
    const AttrInfo& f = op.attrs[i];
    if (f.ignored) continue;
    keys_[count_] = std::string(f.name);
    if (f.kind == Kind::word) words_[count_] = std::string(word_of(f, values[i].ints[0]));
    rows_[count_] = row(f, values[i]);
    ++count_;
  }
}

ls_attr AbiAttributes::row(const AttrInfo& f, const Attr& v) const {
  ls_attr a{keys_[count_].c_str(), LS_INT, 1, v.ints.item, nullptr};
  if (f.kind == Kind::boolean) a.kind = LS_BOOL;
  if (f.kind == Kind::tuple) a.kind = LS_TUPLE, a.count = static_cast<uint32_t>(v.ints.size);
  if (f.kind == Kind::word) a = {a.key, LS_TEXT, 0, nullptr, words_[count_].c_str()};
  if (v.none) a = {a.key, LS_NONE, 0, nullptr, nullptr};
  return a;
}

}  // namespace lockstep::judge
