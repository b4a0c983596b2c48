// The report as JUnit XML, for CI systems.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/text.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

constexpr string_view kSkipped = "<skipped";

std::string failure_element(
    const std::string& type, const std::string& message, const std::string& text) {
  return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", markup(type),
      markup(message), markup(text));
}

// A known failure must neither stop a CI system nor look as if it had passed.
std::string known_element(const std::string& message, const std::string& text) {
  return fmt::format("{} message=\"{}\">{}</skipped>", kSkipped, markup(message), markup(text));
}

std::string testcase(
    const std::string& classname, const std::string& name, const std::string& inside) {
  const std::string begin =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\"", markup(classname), markup(name));
  return begin + (inside.empty() ? "/>\n" : fmt::format(">\n   {}\n  </testcase>\n", inside));
}

struct Suite {
  std::string name, cases;
  i64 tests = 0, failures = 0, skipped = 0;
  void add(const std::string& classname, const std::string& test, const std::string& inside) {
    cases += testcase(classname, test, inside);
    ++tests;
    const bool is_known = inside.starts_with(kSkipped);
    skipped += is_known;
    failures += !inside.empty() && !is_known;
  }
  std::string text() const {
    return fmt::format(
        " <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}"
        " </testsuite>\n",
        markup(name), tests, failures, skipped, cases);
  }
};

// One cause. Where there are several, each says how it differs from the others.
std::string block(const Failure& f, std::size_t causes) {
  std::string s;
  if (causes > 1) {
    const std::string cause = cause_text(f);
    s = fmt::format("{} case{}{}{}\n{}\n", grouped(f.count), f.count == 1 ? "" : "s",
        cause.empty() ? "" : ": ", cause, f.text);
  }
  s += shown_id(f.shrunk.empty() ? f.id : f.shrunk) + "\n" + f.repeat;
  return s + (f.known.empty() ? "" : "\nknown: " + f.known);
}

Suite suite_of(const Report& r, const std::string& op, const std::map<std::string, Cell>& row) {
  Suite s{op, {}};
  for (const auto& [property, cell] : row) {
    const std::vector<const Failure*> failed = failures_of(r, op, property);
    std::string text;
    for (const Failure* f : failed) text += (text.empty() ? "" : "\n\n") + block(*f, failed.size());
    const bool all_known = std::none_of(
        failed.begin(), failed.end(), [](const Failure* f) { return f->unexpected(); });
    s.add("lockstep." + op, property,
        failed.empty()  ? ""
            : all_known ? known_element("known: " + failed[0]->known, text)
                        : failure_element(property, failed[0]->text, text));
  }
  return s;
}

// The verdict is a test of its own: a run that checked nothing must not look green.
Suite verdict_suite(const Report& r) {
  std::string text, inside;
  for (const auto& [kind, words] : remarks(r)) text += kind + ": " + words + "\n";
  if (r.exit == Exit::known_failures)
    inside = known_element(std::string(word_of(r.exit)), text + verdict_line(r));
  else if (r.exit != Exit::pass)
    inside = failure_element(std::string(word_of(r.exit)), r.verdict, text + verdict_line(r));
  Suite s{"verdict", {}};
  s.add("lockstep", "verdict", inside);
  return s;
}

}  // namespace

std::string junit_report(const Report& r) {
  std::vector<Suite> suites;
  for (const auto& [op, row] : r.cells) suites.push_back(suite_of(r, op, row));
  suites.push_back(verdict_suite(r));
  i64 tests = 0, failures = 0;
  std::string inside;
  for (const Suite& s : suites) {
    tests += s.tests;
    failures += s.failures;
    inside += s.text();
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\">\n{}</testsuites>\n",
      markup(r.backend), tests, failures, inside);
}

}  // namespace lockstep::judge
