#include "conformance/base/places.h"

#include <algorithm>
#include <filesystem>

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

fs::path root() { return fs::path(program_directory()).parent_path(); }

std::string shared_file(const char* name) {
  const fs::path f = root() / "share" / "lockstep" / name;
  return fs::is_regular_file(f) ? f.string() : "";
}

}  // namespace

std::string program_directory() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none).parent_path().string();
}

std::string backend_directory() {
  // A multi-architecture system has a directory of its own below lib.
  for (const char* lib : {"lib", LOCKSTEP_LIBDIR})
    if (fs::is_directory(root() / lib / "lockstep")) return (root() / lib / "lockstep").string();
  return (root() / "lib" / "lockstep").string();
}

std::vector<std::string> installed_backends() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(backend_directory(), none))
    if (entry.path().extension() == ".so") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string vector_directory() {
  const fs::path d = root() / "share" / "lockstep" / "vectors";
  return fs::is_directory(d) ? d.string() : "";
}

std::string kill_matrix_file() { return shared_file("kill_matrix.json"); }

std::string networks_file() { return shared_file("models/networks.json"); }

std::string crosscheck_file() { return shared_file("crosschecks.json"); }

}  // namespace lockstep::judge
