#include "runtime/backends.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

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

// Whether a library has fewer bytes than its headers promise. The loader would map those that are
// missing, and end the process at the first that it reads.
bool is_cut(const fs::path& library) {
  std::ifstream file(library, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(file.tellg());
  const auto read = [&](std::uint64_t at, auto& to) {
    file.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&to), sizeof to));
  };
  ElfW(Ehdr) header;
  if (!file || !read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  for (unsigned k = 0; k < header.e_phnum; ++k) {
    ElfW(Phdr) part;
    if (!read(header.e_phoff + k * sizeof part, part)) return true;
    if (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset))
      return true;
  }
  return false;
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
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::status_known(status))
    throw utils::ValueVerifyFatal("'" + what + "' cannot be opened: " + error.message());
  if (!fs::exists(status))
    throw utils::ValueVerifyFatal(path ? "no file '" + what + "'"
                                       : "no backend '" + what + "' (in " + backend_directory() +
                ": " + known_backends() + "; or the path of a library)");
  if (!fs::is_regular_file(status)) throw utils::ValueVerifyFatal("'" + what + "' is no file");
  if (is_cut(file)) throw utils::ValueVerifyFatal("'" + what + "' is no backend: it is cut short");
  return fs::absolute(file).string();
}

}  // namespace lockstep::runtime
