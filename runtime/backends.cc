#include "runtime/backends.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include "containers/exceptions.h"

namespace lockstep::runtime {
namespace {

namespace fs = std::filesystem;

// The file that holds this code. The name of a program in its own table of libraries is empty.
fs::path own_file() {
  static const char place = 0;
  Dl_info info;
  link_map* map = nullptr;
  std::error_code none;
  if (dladdr1(&place, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) && map &&
      *map->l_name)
    return fs::canonical(map->l_name, none);
  return fs::read_symlink("/proc/self/exe", none);
}

std::string known_backends() {
  std::string names;
  for (const std::string& n : installed_backends()) names += (names.empty() ? "" : ", ") + n;
  return names.empty() ? "none are installed" : names;
}

}  // namespace

std::string backend_directory() {
  // A library lies in lib or in a directory of its own below, a program beside lib.
  const fs::path own = own_file().parent_path();
  for (const fs::path& lib :
      {own, own.parent_path(), own.parent_path() / "lib", own.parent_path() / LOCKSTEP_LIBDIR})
    if (fs::is_directory(lib / "lockstep")) return (lib / "lockstep").string();
  return (own.parent_path() / "lib" / "lockstep").string();
}

std::vector<std::string> installed_backends() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(backend_directory(), none))
    if (entry.path().extension() == ".so") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string backend_file(const std::string& what) {
  const bool path = what.find('/') != std::string::npos || what.ends_with(".so");
  const fs::path file = path ? fs::path(what) : fs::path(backend_directory()) / (what + ".so");
  if (!fs::exists(file))
    throw utils::ValueVerifyFatal(path ? "no file '" + what + "'"
                                       : "no backend '" + what + "' (in " + backend_directory() +
                ": " + known_backends() + "; or the path of a library)");
  if (!fs::is_regular_file(file)) throw utils::ValueVerifyFatal("'" + what + "' is no file");
  return fs::absolute(file).string();
}

}  // namespace lockstep::runtime
