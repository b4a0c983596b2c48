#include "conformance/subjects/library_subject.h"
#include "conformance/subjects/subject.h"
#include "containers/exceptions.h"
#include "runtime/backends.h"

namespace lockstep::judge {
namespace {

constexpr string_view kExec = "exec:", kResults = "results:";

}  // namespace

std::string library_file(const std::string& what) {
  try {
    return runtime::backend_file(what);
  } catch (const utils::ValueVerifyFatal& e) {
    throw UsageError(e.what());
  }
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
