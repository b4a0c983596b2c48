// The sections of the page, in the order in which a reader needs them.
#include "conformance/reports/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "conformance/base/text.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

std::string copyable(const std::string& command) {
  return fmt::format(
      "<div class=\"command\"><pre>{}</pre><button class=\"copy\">copy</button></div>\n",
      markup(command));
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "<code>" + markup(text) + "</code>";
}

std::string header(const Report& r) {
  return fmt::format(
      "<h1><span class=\"verdict {}\">{}</span> {} {}</h1>\n<p>{} &middot; {} &middot; "
      "<span class=\"dim\">device</span> {}</p>\n",
      r.exit == Exit::pass ? "good" : "bad", markup(r.verdict), markup(r.name), markup(r.version),
      markup(scope(r)), exit_text(r.exit), markup(r.device));
}

std::string tiles(const Report& r) {
  const Counts& c = r.counts;
  std::string s = "<div class=\"tiles\">\n";
  const auto tile = [&](const char* word, i64 n, bool bad) {
    s += fmt::format("<div{}><b>{}</b>{}</div>\n", bad ? " class=\"bad\"" : "", grouped(n), word);
  };
  tile("selected", c.selected, c.selected == 0);
  tile("executed", c.executed, c.executed == 0);
  tile("passed", c.passed, false);
  tile("failed", c.failed, c.failed > 0);
  tile("crashed", c.crashed, c.crashed > 0);
  tile("timed out", c.timed_out, c.timed_out > 0);
  tile("not claimed", c.not_claimed, false);
  tile("missing", c.missing, c.missing > 0);
  tile("quarantined", c.quarantined, c.quarantined > 0);
  tile("calls", c.calls, false);
  return s + "</div>\n";
}

std::string remarks_text(const Report& r) {
  std::string s;
  for (const auto& [kind, text] : remarks(r))
    s += fmt::format("<p class=\"bad\">{}: {}</p>\n", kind, markup(text));
  return s;
}

// ---- failures --------------------------------------------------------------------------------

// The target of a grid cell's link.
std::string anchor(const Report& r, const Failure& f) {
  return fmt::format("failure-{}", &f - r.failures.data());
}

std::string elements_table(const std::vector<Element>& elements) {
  if (elements.empty()) return "";
  std::string s =
      "<div class=\"scroll\"><table><thead><tr><th>output</th><th>index</th>"
      "<th class=\"num\">expected</th><th class=\"num\">got</th><th class=\"num\">difference</th>"
      "</tr></thead><tbody>\n";
  for (const Element& e : elements)
    s += fmt::format(
        "<tr><td>{}</td><td><code>[{}]</code></td><td class=\"num\">{} <code>0x{:08x}</code></td>"
        "<td class=\"num\">{} <code>0x{:08x}</code></td><td class=\"num\">{:+}</td></tr>\n",
        e.output, fmt::join(e.index, ","), e.expected, static_cast<std::uint32_t>(e.expected),
        e.got, static_cast<std::uint32_t>(e.got), e.got - e.expected);
  return s + "</tbody></table></div>\n";
}

std::string failure_text(const Report& r, const Failure& f, bool open) {
  std::string s = fmt::format(
      "<details id=\"{}\"{}><summary>{} violates <b>{}</b> <span class=\"dim\">in {} case{}</span>"
      "</summary>\n",
      anchor(r, f), open ? " open" : "", markup(f.op == "*" ? r.name : f.op), markup(f.property),
      grouped(f.count), f.count == 1 ? "" : "s");
  if (const std::string cause = cause_text(f); !cause.empty())
    s += "<p>" + markup(cause) + "</p>\n";
  if (!f.id.empty()) s += "<p>" + code(shown_id(f.id)) + "</p>\n";
  s += "<p>" + markup(f.text) + "</p>\n" + elements_table(f.elements);
  if (!f.known.empty()) s += "<p>Known: " + markup(f.known) + "</p>\n";
  if (!f.shrunk.empty())
    s += fmt::format("<p>The smallest case found: {}</p>\n<p>{}</p>\n", code(shown_id(f.shrunk)),
        markup(f.shrunk_text));
  return s + (f.repeat.empty() ? "" : copyable(f.repeat)) + "</details>\n";
}

std::string failures(const Report& r) {
  const std::vector<Cluster> all = clusters(r);
  if (all.empty()) return "";
  std::string s = fmt::format(
      "<h2>Failures</h2>\n<p class=\"dim\">Failures: {}. Groups, each of which may have one cause: "
      "{}.</p>\n",
      r.failures.size(), all.size());
  for (const Cluster& c : all) {
    s += fmt::format("<h3>{} <span class=\"dim\">{} failed judgements</span></h3>\n",
        markup(c.symptom), grouped(c.count));
    for (const Failure* f : c.failures) s += failure_text(r, *f, f == all[0].failures[0]);
  }
  return s;
}

// ---- the grid --------------------------------------------------------------------------------

// A number in at most four characters.
std::string brief(i64 n) {
  for (const char* unit : {"", "k", "M", "G"}) {
    if (n < 1000) return std::to_string(n) + unit;
    n /= 1000;
  }
  return ">999G";
}

std::vector<std::string> columns(const Report& r) {
  std::vector<std::string> names;
  const auto judged = [&](const std::string& name) {
    return std::any_of(
        r.cells.begin(), r.cells.end(), [&](const auto& row) { return row.second.contains(name); });
  };
  for (const Property* p : kProperties)
    if (judged(std::string(p->name))) names.emplace_back(p->name);
  for (const auto& [op, row] : r.cells)
    for (const auto& [name, cell] : row)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

// A cell is greener the more cases were judged, and redder the more of them failed.
std::string grid_cell(
    const Report& r, const std::string& op, const std::string& property, const Cell& c) {
  const std::string title = markup(
      fmt::format("{} {}: {} of {} failed", op, property, grouped(c.failed), grouped(c.judged)));
  const std::vector<const Failure*> failed = failures_of(r, op, property);
  if (failed.empty()) {
    const auto width = static_cast<int>(std::bit_width(static_cast<u64>(c.judged)));
    return fmt::format("<td class=\"g{}\" title=\"{}\">{}</td>", std::clamp(width / 3, 1, 4), title,
        brief(c.judged));
  }
  const i64 share = 1 + c.failed / (c.judged / 3 + 1);
  return fmt::format("<td class=\"r{}\" title=\"{}\"><a href=\"#{}\">&#10007; {}</a></td>",
      std::clamp<i64>(share, 1, 3), title, anchor(r, *failed[0]), brief(c.failed));
}

std::string grid(const Report& r) {
  const std::vector<std::string> names = columns(r);
  std::string s =
      "<h2>Operators and properties</h2>\n<p class=\"dim\">How many cases were judged; &#10007; "
      "how "
      "many failed; empty where a property does not apply.</p>\n"
      "<div class=\"scroll\"><table class=\"grid\"><thead><tr><th>operator</th>";
  for (const std::string& n : names) s += "<th>" + markup(n) + "</th>";
  s += "</tr></thead><tbody>\n";
  for (const auto& [op, row] : r.cells) {
    s += "<tr><th>" + markup(op == "*" ? "all" : op) + "</th>";
    for (const std::string& n : names) {
      const auto cell = row.find(n);
      s += cell == row.end() ? "<td></td>" : grid_cell(r, op, n, cell->second);
    }
    s += "</tr>\n";
  }
  return s + "</tbody></table></div>\n";
}

// ---- what was measured -----------------------------------------------------------------------

std::string about_set(const std::string& set, const Report& r) {
  return set == r.set_hash
      ? "<p>Measured on exactly this case set.</p>\n"
      : "<p class=\"bad\">Measured on another case set: " + code(set.substr(0, 16)) + ".</p>\n";
}

// The text in place of a measurement that no verb has made.
std::string unmeasured(const char* verb) {
  return fmt::format(
      "<p class=\"dim\">Not part of this page. <code>lockstep {0} --json FILE</code> measures it, "
      "<code>lockstep report html --{0} FILE</code> shows it.</p>\n",
      verb);
}

// How many of the required are covered, as numbers and as a bar.
std::string share(i64 covered, i64 required) {
  return fmt::format(
      "<td class=\"num\">{} of {}</td><td><progress max=\"{}\" value=\"{}\"></progress></td>",
      covered, required, std::max<i64>(1, required), covered);
}

// Lists the empty cells and combinations in a table cell that scrolls instead of growing.
std::string empty_cells(const std::vector<std::string>& empty) {
  constexpr i64 kShown = 8;
  const auto n = static_cast<std::size_t>(std::min<i64>(kShown, std::ssize(empty)));
  std::string s;
  for (std::size_t k = 0; k < n; ++k) s += (k ? "; " : "") + empty[k];
  if (empty.size() > n) s += fmt::format("; {} more", grouped(std::ssize(empty) - kShown));
  return markup(s);
}

std::string coverage(const Report& r, const std::optional<CoverSummary>& cover) {
  std::string s = "<h2>Coverage</h2>\n";
  if (!cover) return s + unmeasured("cover");
  s += about_set(cover->set_hash, r) +
      "<p class=\"dim\">Single classes of attributes, types, shapes, values and labels, and those "
      "combinations of two and three of them that some legal call shows.</p>\n"
      "<div class=\"scroll\"><table><thead><tr><th>operator</th>"
      "<th class=\"num\">classes</th><th></th><th class=\"num\">pairs</th><th></th>"
      "<th class=\"num\">triples</th><th></th><th>empty</th></tr></thead><tbody>\n";
  for (const auto& [op, row] : cover->operators) {
    s += "<tr><td>" + markup(op) + "</td>" + share(row.covered, row.required);
    for (i64 classes : {2, 3}) {
      const auto of = row.combinations.find(classes);
      s += of == row.combinations.end() ? "<td></td><td></td>"
                                        : share(of->second.first, of->second.second);
    }
    s += "<td class=\"bad\">" + empty_cells(row.empty) + "</td></tr>\n";
  }
  return s + "</tbody></table></div>\n";
}

std::string power(const Report& r, const std::optional<Power>& p) {
  std::string s = "<h2>Power</h2>\n";
  if (!p) return s + unmeasured("mutants");
  s += about_set(p->set_hash, r);
  s += fmt::format(
      "<p>The suite caught {} of {} mutants.</p>\n<pre>{}</pre>\n"
      "<details{}><summary>Every mutant</summary><div class=\"scroll\"><table><thead>"
      "<tr><th>mutant</th><th>operator</th><th>fate</th><th>caught by</th>"
      "<th class=\"num\">density</th><th>mistake</th></tr></thead><tbody>\n",
      p->dead(), p->mutants.size(), markup(density_text(*p)),
      p->dead() < std::ssize(p->mutants) ? " open" : "");
  for (const MutantFate& f : p->mutants)
    s += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td>"
        "<td class=\"num\">{}.{}%</td><td>{}</td></tr>\n",
        code(f.name), markup(f.op), f.dead ? "good" : "bad", f.dead ? "dead" : "alive",
        markup(f.property), f.density() / 10, f.density() % 10, markup(f.kind));
  return s + "</tbody></table></div></details>\n";
}

// ---- about the run ---------------------------------------------------------------------------

std::string kernels(const Report& r) {
  if (r.kernels.empty()) return "";
  std::string s =
      "<h2>Kernels</h2>\n<div class=\"scroll\"><table><thead><tr><th>operator</th><th>kernel</th>"
      "<th>instruction set</th><th class=\"num\">ran</th></tr></thead><tbody>\n";
  for (const KernelInfo& k : r.kernels) {
    i64 n = 0;
    for (const auto& [op, paths] : r.paths)
      if (const auto at = paths.find(k.name); (k.op == op || k.op == "*") && at != paths.end())
        n = capped_sum(n, at->second);
    s += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"num\">{}</td></tr>\n",
        markup(k.op == "*" ? "all" : k.op), markup(k.name), markup(k.isa),
        k.runnable ? grouped(n) : "not on this machine");
  }
  return s + "</tbody></table></div>\n";
}

std::string about(const Report& r) {
  std::string s = "<h2>About this run</h2>\n" + copyable(check_command(r)) + "<dl>\n";
  const auto row = [&](const char* what, const std::string& html) {
    if (!html.empty()) s += fmt::format("<dt>{}</dt><dd>{}</dd>\n", what, html);
  };
  row("tier, seed", fmt::format("{}, {}", r.tier, r.seed));
  if (r.part.of > 1) row("part", fmt::format("{} of {}", r.part.number, r.part.of));
  row("cases", fmt::format("{} in the set", grouped(r.set_cases)));
  row("case set", code(r.set_hash));
  row("power", markup(prefix_score_text(r)));
  row("golden vectors", code(r.chosen.vectors_hash));
  row("outputs", fmt::format("{} calls, digest {}", grouped(digested(r)), code(digest_of(r))));
  const Canaries canaries = all_canaries(r);
  row("canaries", fmt::format("{} of {} noticed", canaries.noticed, canaries.planted));
  row("library", code(r.file_hash));
  row("manifest", code(r.manifest_hash));
  for (const Environment& e : r.environments)
    row("run by",
        markup(e.judge + " on " + e.system + ", " + e.machine +
            (e.processor.empty() ? "" : ", " + e.processor)));
  return s + "</dl>\n";
}

}  // namespace

std::string html_report(const Report& r, const Measured& measured) {
  return html_page(r.verdict + " " + r.name,
      header(r) + tiles(r) + remarks_text(r) + failures(r) + grid(r) + coverage(r, measured.cover) +
          power(r, measured.power) + kernels(r) + about(r));
}

}  // namespace lockstep::judge
