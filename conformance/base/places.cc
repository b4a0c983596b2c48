#include "conformance/base/places.h"

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

std::string vector_directory() {
  const fs::path d = root() / "share" / "lockstep" / "vectors";
  return fs::is_directory(d) ? d.string() : "";
}

std::string kill_matrix_file() { return shared_file("kill_matrix.json"); }

std::string frozen_file() { return shared_file("frozen_tiers.json"); }

std::string networks_file() { return shared_file("models/networks.json"); }

std::string witness_file() {
  const fs::path f = root() / "lib" / "lockstep" / "witness" / "cuda.so";
  return fs::is_regular_file(f) ? f.string() : "";
}

std::string crosscheck_file() { return shared_file("crosschecks.json"); }

}  // namespace lockstep::judge
