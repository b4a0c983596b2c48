#include "conformance/coverage/cover.h"

#include <fmt/format.h>

#include <memory>

#include "conformance/base/places.h"
#include "conformance/cli/verbs.h"
#include "conformance/reports/report.h"
#include "conformance/run/jobs.h"
#include "conformance/verdict/frozen.h"

namespace lockstep::judge {
namespace {

struct CoverOptions {
  std::string json, frozen;
  Selection selection;
  bool schema = false;
};

Exit measure(const CoverOptions& o) {
  if (o.schema) {
    fmt::print("{}", cover_schema());
    return Exit::pass;
  }
  const bool printed = require_writable({o.json, o.frozen});
  if (!o.frozen.empty()) {
    write_output(o.frozen, frozen_json(freeze(jobs_of({}))));
    return Exit::pass;
  }
  const Cover c = cover(o.selection);
  const Exit exit = c.complete() ? Exit::pass : Exit::incomplete;
  if (!printed) fmt::print("{}{}\n", cover_text(c), exit_text(exit));
  if (!o.json.empty()) write_output(o.json, cover_json(c));
  return exit;
}

}  // namespace

void add_cover(CLI::App& app, Session& session) {
  auto o = std::make_shared<CoverOptions>();
  CLI::App* verb = app.add_subcommand(
      "cover", "Measure which classes and combinations the cases of a tier and the vectors cover");
  verb->add_option("--tier", o->selection.tier, "0 smoke, 1 CI, 2 conformance, 3 exhaustive")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  verb->add_option("--seed", o->selection.seed, "seed of the case set")
      ->check(without_sign())
      ->capture_default_str();
  verb->add_option("--op", o->selection.operators, "only these operators; * and ? match")
      ->delimiter(',');
  o->selection.kills = kill_matrix_file();
  o->selection.vectors = vector_directory();
  verb->add_option("--vectors", o->selection.vectors, "directory of golden vectors");
  verb->add_option("--json", o->json, "write the cells as JSON; - is standard output");
  verb->add_option("--freeze", o->frozen,
      "write the cases and outputs of tiers 0 and 1; every check compares itself with that file, "
      "share/lockstep/frozen_tiers.json");
  verb->add_flag("--schema", o->schema, "print the JSON Schema of the cells");
  verb->footer("Example: lockstep cover --op conv2d --json cells.json");
  verb->callback([o, &session] { session.exit = static_cast<int>(measure(*o)); });
}

}  // namespace lockstep::judge
