#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include "conformance/cli/verbs.h"
#include "conformance/subjects/library_subject.h"
#include "containers/params/params.h"
#include "reference/graph/error.h"

namespace {

using namespace lockstep::judge;

// How many letters must be added, left out or changed to make one word of another.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t change = corner + (a[i - 1] != b[k - 1]);
      corner = row[k];
      row[k] = std::min({row[k] + 1, row[k - 1] + 1, change});
    }
  }
  return row.back();
}

// What is wrong with the arguments, and if it is the first word, which verb may be meant.
std::string unknown_verb(const CLI::App& app, const std::string& word, const std::string& what) {
  std::string nearest;
  std::size_t least = 3;  // more than two mistakes are no misprint
  for (const CLI::App* verb : app.get_subcommands({}))
    if (const std::size_t n = distance(word, verb->get_name()); n < least)
      least = n, nearest = verb->get_name();
  if (word.starts_with('-') || word == nearest) return what;
  return "no verb '" + word + "'" +
      (nearest.empty() ? " (lockstep --help lists them)" : "; did you mean '" + nearest + "'?");
}

int run(int argc, char** argv) {
  CLI::App app{
      "lockstep: bit-exact conformance of integer tensor operators.\n"
      "A BACKEND is a built-in name (lockstep list --backends), the path of a shared library,\n"
      "exec:COMMAND for a program that answers the lines of `lockstep eval`, or results:FILE for\n"
      "recorded answers to the calls that `lockstep emit` wrote.\n"
      "Exit codes: 0 pass, 1 fail, 2 usage, 3 incomplete or vacuous, 4 the judge itself broke,\n"
      "5 stale expectations, 6 known failures only.",
      "lockstep"};
  app.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION);
  app.require_subcommand(1);
  Session session;
  for (auto* add : {add_check, add_repro, add_list, add_show, add_spec, add_eval, add_emit,
           add_exhaust, add_fuzz, add_cover, add_mutants, add_diff, add_digest, add_report,
           add_model, add_params, add_vectors, add_doctor, add_completion})
    add(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0)
      throw UsageError(argc > 1 ? unknown_verb(app, argv[1], e.what()) : e.what());
    session.exit = app.exit(e);
  }
  flush_output();
  return session.exit;
}

int complain(Exit code, const std::string& what) {
  fmt::print(stderr, "lockstep: {}\n", what);
  return static_cast<int>(code);
}

// Reports a model or a parameter file that violates a rule; the text ends with the rule's label.
int reject(const std::exception& e) {
  return complain(Exit::fail, std::string(e.what()) + " (exit 1, fail)");
}

int broke(const std::exception& e) {
  return complain(Exit::judge_broke, std::string(e.what()) + " (exit 4, judge broke)");
}

}  // namespace

int main(int argc, char** argv) {
  // A worker that dies must not end this program.
  signal(SIGPIPE, SIG_IGN);
  // No process of the same user, such as a backend's, may look into this one or its files.
  prctl(PR_SET_DUMPABLE, 0);
  try {
    return run(argc, argv);
  } catch (const LoadCrash& e) {
    return reject(e);
  } catch (const lockstep::graph::Error& e) {
    return reject(e);
  } catch (const lockstep::params::Error& e) {
    return reject(e);
  } catch (const lockstep::utils::OutOfMemory& e) {
    // A file that is too large for the machine is the wrong file for it.
    const bool is_for_file = !e.path().empty();
    return is_for_file ? complain(Exit::usage, std::string(e.what()) + " (exit 2, usage)")
                       : broke(e);
  } catch (const std::system_error& e) {
    // The reader of the pipe has seen enough: end like any program that writes into a closed pipe.
    if (e.code() == std::errc::broken_pipe) {
      signal(SIGPIPE, SIG_DFL);
      raise(SIGPIPE);
    }
    return broke(e);
  } catch (const std::logic_error& e) {
    return complain(Exit::usage, std::string(e.what()) + " (exit 2, usage)");
  } catch (const std::exception& e) {
    return broke(e);
  }
}
