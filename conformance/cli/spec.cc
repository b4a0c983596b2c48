#include <fmt/format.h>

#include <memory>

#include "conformance/base/places.h"
#include "conformance/base/read_file.h"
#include "conformance/cli/verbs.h"
#include "conformance/specification/describe.h"
#include "conformance/specification/specification.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

struct SpecOptions {
  std::string vectors = vector_directory(), op, before, after;
  bool as_json = false, schema = false;

  Evidence evidence() const { return {vectors, crosscheck_file()}; }
};
using Options = std::shared_ptr<SpecOptions>;

// The width of the terminal, within limits; the least width if standard output is no terminal.
PageStyle page_style() {
  return {std::clamp(screen().columns, kMinPageWidth, kMaxPageWidth), colour_wanted()};
}

void print(const json& j) { fmt::print("{}\n", j.dump(1)); }

std::string count_text(const json& count) {
  return count.is_null() ? "?" : std::to_string(count.get<i64>());
}

// Prints a row for each operator with the counts of its cross-checks.
void overview(const SpecOptions& o) {
  if (o.schema) return fmt::print("{}", specification_schema());
  const json spec = describe_specification(o.evidence());
  if (o.as_json) return print(spec);
  fmt::print("Specification {}, {} operators, {} errata\n\n", spec["version"].get<string_view>(),
      spec["operators"].size(), spec["errata"].size());
  fmt::print("{:<22}{:<8}{:>9}{:>6}{:>9}{:>7}{:>11}\n", "operator", "profile", "examples", "laws",
      "vectors", "again", "libraries");
  bool unknown = false;
  for (const json& op : spec["operators"]) {
    const json& w = op["crosschecks"];
    fmt::print("{:<22}{:<8}{:>9}{:>6}{:>9}{:>7}{:>11}\n", op["name"].get<string_view>(),
        op["profile"].get<string_view>(), count_text(w["examples"]), count_text(w["laws"]),
        count_text(w["vectors"]), count_text(w["independent"]), count_text(w["libraries"]));
    for (const json& count : w) unknown = unknown || count.is_null();
  }
  fmt::print(
      "\nCross-checks: examples worked out by hand, laws, golden vectors, the operator written\n"
      "again from the mathematics alone, and libraries that compute it too.\n");
  if (unknown) fmt::print("? is not installed here, and counts for nothing.\n");
}

void list_errata(const SpecOptions& o) {
  const json errata = describe_errata(o.evidence());
  if (o.as_json) return print(errata);
  const int width = page_style().width;
  for (const json& e : errata) {
    std::string about = e["scope"] == "operators" ? "" : e["scope"].get<std::string>();
    for (const json& op : e["operators"])
      about += (about.empty() ? "" : ", ") + op.get<std::string>();
    const std::string shown = e.contains("vector")
        ? e["vector"].is_null() ? "Its vector is not installed."
                                : "Shown by " + e["vector"].get<std::string>()
        : "Shown by the test " + e["shown_by"]["test"].get<std::string>();
    fmt::print("{}{}{}\n", filled_text(about, 0, width),
        filled_text(e["text"].get<string_view>(), 4, width),
        filled_text(e["reason"].get<std::string>() + " " + shown, 4, width));
  }
  fmt::print("{} errata\n", errata.size());
}

json read_specification(const std::string& path) {
  json j = json::parse(read_file(path), nullptr, false);
  if (!j.is_object() || !j.contains("operators"))
    throw UsageError("'" + path + "' is no specification as `lockstep spec --json` prints it");
  return j;
}

int diff(const SpecOptions& o) {
  const auto found =
      specification_differences(read_specification(o.before), read_specification(o.after));
  for (const std::string& line : found) fmt::print("{}\n", line);
  const Exit e = found.empty() ? Exit::pass : Exit::fail;
  fmt::print("{} differences\n{}\n", found.size(), exit_text(e));
  return static_cast<int>(e);
}

void show(const SpecOptions& o) {
  const OpInfo* op = find_operator(o.op);
  if (!op) throw UsageError("no operator '" + o.op + "' (lockstep list shows them)");
  if (o.as_json) return print(describe(*op));
  fmt::print("{}", operator_page(*op, o.evidence(), page_style()));
}

void add_vectors_option(CLI::App& verb, const Options& o) {
  verb.add_option("--vectors", o->vectors, "directory of golden vectors");
}

}  // namespace

void add_show(CLI::App& app, Session&) {
  auto o = std::make_shared<SpecOptions>();
  CLI::App* verb = app.add_subcommand("show", "Show an operator like a man page");
  verb->add_option("operator", o->op, "name or alias")->required();
  add_vectors_option(*verb, o);
  verb->add_flag("--json", o->as_json, "as JSON");
  verb->callback([o] { show(*o); });
}

void add_spec(CLI::App& app, Session& session) {
  auto o = std::make_shared<SpecOptions>();
  CLI::App* group =
      app.add_subcommand("spec", "The specification: every operator with its cross-checks");
  group->require_subcommand(0, 1);
  add_vectors_option(*group, o);
  group->add_flag("--json", o->as_json, "all of it as JSON");
  group->add_flag("--schema", o->schema, "print the JSON Schema of that");
  group->callback([o, group] {
    if (group->get_subcommands().empty()) overview(*o);
  });

  add_show(*group, session);  // `lockstep show` is the same verb

  auto listed = std::make_shared<SpecOptions>();
  CLI::App* errata = group->add_subcommand(
      "errata", "List where older documents or the deployed runtime differ, and what shows it");
  add_vectors_option(*errata, listed);
  errata->add_flag("--json", listed->as_json, "as JSON");
  errata->callback([listed] { list_errata(*listed); });

  auto compared = std::make_shared<SpecOptions>();
  CLI::App* differ =
      group->add_subcommand("diff", "Name what differs between two files of `spec --json`");
  differ->add_option("old", compared->before, "a file")->required();
  differ->add_option("new", compared->after, "a file")->required();
  differ->callback([compared, &session] { session.exit = diff(*compared); });

  // The group's options have no effect on its verbs, which have their own.
  for (CLI::App* verb : group->get_subcommands({}))
    for (CLI::Option* option : group->get_options())
      if (option != group->get_help_ptr()) verb->excludes(option);
}

}  // namespace lockstep::judge
