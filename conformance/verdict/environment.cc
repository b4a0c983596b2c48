#include <sys/utsname.h>

#include <fstream>
#include <sstream>

#include "conformance/base/sha256.h"
#include "conformance/golden/vectors.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

// The first processor name that the operating system reports; empty if there is none.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (const std::size_t at = line.find(": "); line.starts_with("model name") && at < line.size())
      return line.substr(at + 2);
  return "";
}

}  // namespace

Environment this_environment() {
  utsname u{};
  uname(&u);
  return {"lockstep " LOCKSTEP_VERSION, std::string(u.sysname) + " " + u.release, u.machine,
      processor_name()};
}

std::string file_hash(const std::string& backend) {
  constexpr string_view kRecorded = "results:";
  if (backend.starts_with("exec:")) return "";
  const bool recorded = backend.starts_with(kRecorded);
  std::ifstream in(
      recorded ? backend.substr(kRecorded.size()) : library_file(backend), std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return sha256(bytes.str());
}

void add_file_hashes(Report& r, const Selection& s) {
  r.file_hash = file_hash(r.backend);
  if (takes_vectors(s)) r.chosen.vectors_hash = vectors_hash(s.vectors);
}

}  // namespace lockstep::judge
