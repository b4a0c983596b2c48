#include "conformance/golden/vectors.h"

#include <fmt/format.h>

#include "conformance/base/places.h"
#include "conformance/cli/fuzz_state.h"
#include "conformance/cli/verbs.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

std::string chosen(const std::string& directory) {
  std::string d = directory.empty() ? vector_directory() : directory;
  if (d.empty()) throw UsageError("no vectors are installed; name a directory");
  return d;
}

Exit update(const std::string& directory) {
  int tests = 0, added = 0, changed = 0;
  for (const VectorUpdate& u : update_vectors(directory)) {
    fmt::print(
        "{:<28}{:>5} tests, {} added, {} changed\n", u.file, u.tests, u.added, u.changed.size());
    for (const std::string& id : u.changed) fmt::print("  {} has another result\n", id);
    tests += u.tests;
    added += u.added;
    changed += static_cast<int>(u.changed.size());
  }
  fmt::print(
      "{} tests, {} added, {} changed; set {}\n", tests, added, changed, vectors_hash(directory));
  if (changed > 0)
    fmt::print("A changed result is a new major version and an erratum that names the tests.\n");
  return Exit::pass;
}

Exit check(const std::string& directory) {
  const auto [tests, differences] = check_vectors(directory);
  for (const std::string& d : differences) fmt::print("{}\n", d);
  const Exit exit = differences.empty() ? Exit::pass : Exit::fail;
  fmt::print("{}  {} tests, {} differences; set {}; {}\n", differences.empty() ? "PASS" : "FAIL",
      tests, differences.size(), vectors_hash(directory), exit_text(exit));
  return exit;
}

struct Addition {
  std::string directory, comment;
  std::vector<std::string> what;
};

// Adds a case, or the case in a file that fuzz saved.
Exit add(const Addition& a) {
  for (const std::string& word : a.what) {
    std::string id = word, comment = a.comment;
    if (word.ends_with(".json")) {
      const FuzzFinding f = read_finding(word);
      id = f.id;
      if (comment.empty()) comment = f.property + " fails in " + f.backend + ", found by fuzz";
    }
    if (comment.empty()) throw UsageError("a case needs --comment: where it comes from, and why");
    const std::string added = add_vector(a.directory, parse_case(id), printable(comment));
    fmt::print("{:<24}{}\n", added.empty() ? "there already" : added, id);
  }
  fmt::print("set {}\n", vectors_hash(a.directory));
  return Exit::pass;
}

void add_verb(CLI::App& group, Session& session, const char* name, const char* text,
    Exit (*run)(const std::string&)) {
  auto directory = std::make_shared<std::string>();
  CLI::App* verb = group.add_subcommand(name, text);
  verb->add_option("DIR", *directory, "directory of the vectors; those of the program if omitted");
  verb->callback(
      [directory, run, &session] { session.exit = static_cast<int>(run(chosen(*directory))); });
}

}  // namespace

void add_vectors(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("vectors", "Golden vectors: frozen calls and results");
  group->require_subcommand(1);
  add_verb(*group, session, "check", "Derive every result anew and name each difference", check);
  add_verb(*group, session, "update", "Write the vectors, with what the set lacks", update);
  auto a = std::make_shared<Addition>();
  CLI::App* verb = group->add_subcommand("add", "Freeze calls, with the reference's results");
  verb->add_option("DIR", a->directory, "directory of the vectors")
      ->required()
      ->check(CLI::ExistingDirectory);
  verb->add_option("CASE", a->what, "case ids, or files of findings that fuzz saved")->required();
  verb->add_option(
      "--comment", a->comment, "where the calls come from; for a finding, that fuzz found it");
  verb->footer("Example: lockstep vectors add my-vectors search/conv2d-*.json");
  verb->callback([a, &session] { session.exit = static_cast<int>(add(*a)); });
}

}  // namespace lockstep::judge
