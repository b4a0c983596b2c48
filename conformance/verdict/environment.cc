#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/base/sha256.h"
#include "conformance/golden/vectors.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {

namespace fs = std::filesystem;

namespace {

// The first processor name that the operating system reports; empty if there is none.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (const std::size_t at = line.find(": "); line.starts_with("model name") && at < line.size())
      return line.substr(at + 2);
  return "";
}

constexpr string_view kCommand = "exec:", kRecorded = "results:";

bool is_command(const std::string& backend) { return backend.starts_with(kCommand); }

fs::path file_of(const std::string& backend) {
  return backend.starts_with(kRecorded) ? backend.substr(kRecorded.size()) : library_file(backend);
}

std::string hash_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return sha256(bytes.str());
}

// The file that the shell runs for a word.
fs::path program(const std::string& word) {
  const char* const path = std::getenv("PATH");
  if (word.find('/') != std::string::npos || !path) return word;
  std::istringstream directories(path);
  for (std::string directory; std::getline(directories, directory, ':');)
    if (fs::path file = fs::path(directory) / word; access(file.c_str(), X_OK) == 0) return file;
  return word;
}

}  // namespace

Environment this_environment() {
  utsname u{};
  uname(&u);
  return {"lockstep " LOCKSTEP_VERSION, std::string(u.sysname) + " " + u.release, u.machine,
      processor_name()};
}

std::string file_hash(const std::string& backend) {
  return is_command(backend) ? "" : hash_of(file_of(backend));
}

std::vector<JudgedFile> judged_files(const std::string& backend) {
  if (!is_command(backend)) return {{file_of(backend).filename(), hash_of(file_of(backend))}};
  std::vector<JudgedFile> files;
  std::istringstream words(backend.substr(kCommand.size()));
  for (std::string word; words >> word;) {
    std::erase_if(word, [](char c) { return c == '\'' || c == '"'; });
    const fs::path file = files.empty() ? program(word) : fs::path(word);
    std::error_code none;
    if (fs::is_regular_file(file, none)) files.push_back({file.filename(), hash_of(file)});
  }
  return files;
}

void add_file_hashes(Report& r, const Selection& s) {
  r.file_hash = file_hash(r.backend);
  if (takes_vectors(s)) r.chosen.vectors_hash = vectors_hash(s.vectors);
}

}  // namespace lockstep::judge
