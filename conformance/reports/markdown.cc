// The report as Markdown, for the page of a CI run.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/text.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kClusters = 10;  // shown in full

std::string counts_table(const Counts& c) {
  std::string head = "|", line = "|", row = "|";
  for (const auto& [word, n] :
      {std::pair{"selected", c.selected}, {"executed", c.executed}, {"passed", c.passed},
          {"failed", c.failed}, {"crashed", c.crashed}, {"timed out", c.timed_out},
          {"not claimed", c.not_claimed}, {"missing", c.missing}, {"quarantined", c.quarantined}}) {
    head += fmt::format(" {} |", word);
    line += " ---: |";
    row += fmt::format(" {} |", grouped(n));
  }
  return head + "\n" + line + "\n" + row + "\n";
}

std::string cluster_text(const Cluster& c) {
  std::string s = fmt::format(
      "### {}\n\n| operator | property | cases | cause | shows |\n|---|---|---:|---|---|\n",
      code_span(c.symptom));
  for (const Failure* f : c.failures) {
    const std::string cause = cause_text(*f);
    s += fmt::format("| {} | {} | {} | {} | {}{} |\n", code_span(f->op), code_span(f->property),
        grouped(f->count), cause.empty() ? "" : code_span(cause),
        code_span(f->shrunk_text.empty() ? f->text : f->shrunk_text),
        f->known.empty() ? "" : ", known: " + code_span(f->known));
  }
  const Failure& first = *c.failures[0];
  return first.repeat.empty() ? s : s + "\n" + code_block(first.repeat);
}

std::string operators_table(const Report& r) {
  std::string s = "| operator | judged | failed | properties violated |\n|---|---:|---:|---|\n";
  for (const auto& [op, row] : r.cells) {
    i64 judged = 0, failed = 0;
    std::string violated;
    for (const auto& [property, cell] : row) {
      judged = capped_sum(judged, cell.judged);
      failed = capped_sum(failed, cell.failed);
      if (cell.failed > 0) violated += (violated.empty() ? "" : ", ") + code_span(property);
    }
    s += fmt::format(
        "| {} | {} | {} | {} |\n", code_span(op), grouped(judged), grouped(failed), violated);
  }
  return s;
}

}  // namespace

std::string markdown_report(const Report& r) {
  std::string s = fmt::format(
      "## {}: {}\n\n{}\n", r.verdict, code_span(r.name + " " + r.version), counts_table(r.counts));
  s += code_block(verdict_line(r)) + "\n";
  for (const auto& [kind, text] : remarks(r)) s += "- " + kind + ": " + code_span(text) + "\n";
  const std::vector<Cluster> all = clusters(r);
  for (std::size_t k = 0; k < std::min(kClusters, all.size()); ++k)
    s += cluster_text(all[k]) + "\n";
  if (all.size() > kClusters)
    s +=
        fmt::format("{} more kinds of failure are in the JSON report.\n\n", all.size() - kClusters);
  return s + "<details><summary>Operators</summary>\n\n" + operators_table(r) + "\n</details>\n";
}

}  // namespace lockstep::judge
