// Works on existing reports: other formats, merging, comparing devices, evidence.
#include "conformance/reports/report.h"

#include <fmt/format.h>

#include <memory>

#include "conformance/cli/verbs.h"
#include "conformance/reports/html.h"

namespace lockstep::judge {
namespace {

struct FormOptions {
  std::string report, output = "-", cover, mutants;
};

std::string page(const FormOptions& o) {
  Measured m;
  if (!o.cover.empty()) m.cover = read_document(o.cover, "file of lockstep cover", read_cover);
  if (!o.mutants.empty())
    m.power = read_document(o.mutants, "file of lockstep mutants", read_power);
  return html_report(report_of(o.report), m);
}

CLI::App* add_form(CLI::App& group, const char* name, const char* text,
    const std::shared_ptr<FormOptions>& o, std::string (*form)(const FormOptions&)) {
  CLI::App* verb = group.add_subcommand(name, text);
  verb->add_option("report", o->report, "a report of check --json")->required();
  verb->add_option("--output", o->output, "the file to write; - is standard output")
      ->capture_default_str();
  verb->callback([o, form] {
    require_writable({o->output});
    write_output(o->output, form(*o));
  });
  return verb;
}

struct ManyOptions {
  std::vector<std::string> files;
  std::string output;
};

std::vector<Named> read_all(const std::vector<std::string>& files) {
  std::vector<Named> all;
  for (const std::string& file : files) all.push_back({file, report_of(file)});
  return all;
}

Exit merge(const ManyOptions& o) {
  const bool printed = require_writable({o.output});
  const Report r = merged(read_all(o.files));
  if (!printed) fmt::print("{}", summary(r, colour_wanted(), screen()));
  write_output(o.output, json_report(r));
  return r.exit;
}

// Checks determinism class D3: the same outputs on every device of a list.
Exit agree(const ManyOptions& o) {
  const std::vector<Named> all = read_all(o.files);
  const Report& first = all[0].report;
  Exit e = digested(first) > 0 ? Exit::pass : Exit::incomplete;
  for (const Named& n : all)
    fmt::print("{}  {} {}, {}  {}\n", digest_line(n.report), printable(n.report.name),
        printable(n.report.version), printable(n.report.device), n.file);
  for (const Named& n : all) {
    const std::vector<std::string> ops = differing_outputs(first, n.report);
    const bool same_cases = n.report.set_hash == first.set_hash && n.report.part.of == 1 &&
        digested(n.report) == digested(first);
    if (!same_cases) {
      fmt::print("'{}' and '{}' are not about the same calls\n", o.files[0], n.file);
      e = Exit::incomplete;
    } else if (!ops.empty()) {
      fmt::print("'{}' and '{}' differ in {}\n", o.files[0], n.file,
          printable(fmt::format("{}", fmt::join(ops, ", "))));
      if (e == Exit::pass) e = Exit::fail;
    }
  }
  const string_view word = e == Exit::pass ? "PASS" : e == Exit::fail ? "FAIL" : "INCOMPLETE";
  fmt::print("{}  D3: the same outputs on {} devices; {}\n", word, all.size(), exit_text(e));
  return e;
}

void add_merge(CLI::App& group, Session& session) {
  auto o = std::make_shared<ManyOptions>();
  CLI::App* verb = group.add_subcommand("merge",
      "The parts of one run as one report:\n"
      "lockstep report merge part-*.json --output report.json");
  verb->add_option("reports", o->files, "a report of each part")->required();
  verb->add_option("--output", o->output, "the report to write; - is standard output")->required();
  verb->callback([o, &session] { session.exit = static_cast<int>(merge(*o)); });
}

void add_agree(CLI::App& group, Session& session) {
  auto o = std::make_shared<ManyOptions>();
  CLI::App* verb = group.add_subcommand(
      "agree", "Whether several devices computed the same outputs (determinism class D3)");
  verb->add_option("reports", o->files, "a report of each device")->required()->expected(2, -1);
  verb->callback([o, &session] { session.exit = static_cast<int>(agree(*o)); });
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand(
      "report", "Reports: other forms, one of many parts, devices compared, evidence");
  group->require_subcommand(1);
  const auto options = [] { return std::make_shared<FormOptions>(); };
  const auto o = options();
  CLI::App* html = add_form(*group, "html",
      "One page that needs nothing else:\n"
      "lockstep report html report.json --output report.html",
      o, page);
  html->add_option("--cover", o->cover, "show the coverage of cover --json");
  html->add_option("--mutants", o->mutants, "show the mutants of mutants --json");
  add_form(*group, "markdown", "For the page of a CI run", options(),
      [](const FormOptions& f) { return markdown_report(report_of(f.report)); });
  add_form(*group, "junit", "JUnit XML, for CI systems", options(),
      [](const FormOptions& f) { return junit_report(report_of(f.report)); });
  add_form(*group, "text", "What check prints for a person", options(),
      [](const FormOptions& f) { return summary(report_of(f.report), false); });
  add_form(*group, "digest", "The line of lockstep digest", options(),
      [](const FormOptions& f) { return digest_line(report_of(f.report)) + "\n"; });
  add_merge(*group, session);
  add_agree(*group, session);
  add_attest(*group, session);
  add_verify(*group, session);
}

}  // namespace lockstep::judge
