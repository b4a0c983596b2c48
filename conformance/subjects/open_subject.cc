#include <filesystem>

#include "conformance/base/places.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

constexpr string_view kExec = "exec:", kResults = "results:";

std::string known_backends() {
  std::string names;
  for (const std::string& n : installed_backends()) names += (names.empty() ? "" : ", ") + n;
  return names.empty() ? "none are installed" : names;
}

}  // namespace

std::string library_file(const std::string& what) {
  const bool path = what.find('/') != std::string::npos || what.ends_with(".so");
  const fs::path file = path ? fs::path(what) : fs::path(backend_directory()) / (what + ".so");
  if (!fs::exists(file))
    throw UsageError(path ? "no file '" + what + "'"
                          : "no backend '" + what + "' (built in: " + known_backends() +
                "; or the path of a library, exec:COMMAND or results:FILE)");
  if (!fs::is_regular_file(file)) throw UsageError("'" + what + "' is no file");
  return fs::absolute(file).string();
}

std::unique_ptr<Subject> open_subject(const std::string& what, const Limits& limits) {
  if (what.starts_with(kExec)) {
    if (what == kExec) throw UsageError("exec: needs a command, as exec:./my-backend");
    return open_exec(what.substr(kExec.size()), limits, true);
  }
  if (what.starts_with(kResults)) {
    if (what == kResults) throw UsageError("results: needs a file, as results:answers.jsonl");
    return open_recorded(what.substr(kResults.size()), limits);
  }
  return open_library(library_file(what), limits);
}

}  // namespace lockstep::judge
