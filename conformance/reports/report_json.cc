// The report as JSON, described once: its schema and its reader follow.
#include "conformance/base/form.h"
#include "conformance/reports/report.h"
#include "conformance/verdict/finding_form.h"

namespace lockstep::judge {

using form::Like;

namespace {

const form::Rule kHash{.hash = true};

form::Rule about(const char* text) { return {.text = text}; }
form::Rule about_hash(const char* text) { return {.hash = true, .text = text}; }

}  // namespace

static void fields(auto& f, Like<Counts> auto& c) {
  f("selected", c.selected);
  f("executed", c.executed);
  f("passed", c.passed);
  f("failed", c.failed);
  f("not_claimed", c.not_claimed);
  f("missing", c.missing);
  f("crashed", c.crashed);
  f("timed_out", c.timed_out);
  f("quarantined", c.quarantined);
  f("calls", c.calls);
}

static void fields(auto& f, Like<Known> auto& k) {
  f("failed", k.failed);
  f("crashed", k.crashed);
  f("timed_out", k.timed_out);
  f("quarantined", k.quarantined);
}

static void fields(auto& f, Like<Cell> auto& c) {
  f("judged", c.judged);
  f("failed", c.failed);
}

static void fields(auto& f, Like<Outputs> auto& o) {
  f("calls", o.calls);
  f("sum", o.sum, kHash);
}

static void fields(auto& f, Like<SharedClass> auto& c) {
  f("axis", c.axis);
  f("values", c.values);
}

static void fields(auto& f, Like<Failure> auto& x) {
  f("operator", x.op);
  f("property", x.property);
  f("case", x.id);
  f("number", x.number, {.min = -1, .text = "of the case in its set; -1: of the whole run"});
  f("text", x.text);
  f("hint", x.hint);
  f("elements", x.elements);
  f("count", x.count, {.min = 1});
  f("causes", x.causes,
      {.min = 1, .text = "that are counted here; of several only the first is shown"});
  f("outcome", x.outcome, {.words = {"fail", "crash", "timeout"}});
  f("answer", x.answer,
      {.words = {"ok", "logic_error", "runtime_error", "unsupported", "crashed", "timed_out",
           "protocol", "printed", "broken_channel"}});
  f("label", x.label, about("of that answer"));
  f("rule", x.rule, about("the label that an illegal call must give"));
  f("pattern", x.pattern, about("of all wrong values; empty: none"));
  f("cells", x.cells, about("classes of calls of which nearly all cases fail"));
  f("shrunk", x.shrunk);
  f("shrunk_text", x.shrunk_text);
  f("repeat", x.repeat);
  f("known", x.known, about("why it is expected; empty: it is not"));
}

static void fields(auto& f, Like<KernelInfo> auto& k) {
  f("operator", k.op);
  f("name", k.name);
  f("isa", k.isa);
  f("runnable", k.runnable);
}

static void fields(auto& f, Like<Environment> auto& e) {
  f("judge", e.judge);
  f("system", e.system);
  f("machine", e.machine);
  f("processor", e.processor);
}

static void fields(auto& f, Like<Canaries> auto& c) {
  f("planted", c.planted, {.min = 1});
  f("noticed", c.noticed);
}

static void fields(auto& f, Like<Score> auto& s) {
  f("killed", s.killed);
  f("listed", s.listed);
}

static void fields(auto& f, Like<Chosen> auto& c) {
  f("operators", c.operators);
  f("profiles", c.profiles);
  f("properties", c.properties);
  f("cases", c.cases);
  f("budget", c.budget);
  f("nonce", c.nonce);
  f.optional("model", c.model, about("directory of the model whose calls alone were judged"));
  f("vectors_sha256", c.vectors_hash, kHash);
}

static void fields(auto& f, Like<Expectation> auto& e) {
  f("place", e.place);
  f("operator", e.op);
  f("property", e.property);
  f("case", e.id);
  f("kind", e.kind, {.words = {"fail", "crash", "timeout"}});
  f("reason", e.reason);
  f("link", e.link);
  f("expires", e.expires);
  f("tier", e.tier, {.max = 3});
  f("count", e.count,
      about("of the failures that it excuses in a run of its tier and seed; 0: any"));
  f("ids", e.ids, about_hash("of their cases' ids: the sum of each one's SHA-256"));
  f("seed", e.seed);
  f("seen", e.seen, about("the failures that it excused"));
  f("operators", e.operators, about("the judgements that its patterns match"));
  f("properties", e.properties, about("the same"));
  f("expired", e.expired, about("before the day of the run"));
  f("matched", e.matched, about("violations that it matches"));
  f("judged", e.judged, about("judgements that its patterns match"));
  f("passed", e.passed, about("the first case named here that holds"));
  f("passed_number", e.passed_number, {.min = -1, .text = "of that case in its set; -1: none"});
}

static void fields(auto& f, Like<Shard> auto& p) {
  f("number", p.number, {.min = 1});
  f("of", p.of, {.min = 1});
}

static void subject_fields(auto& f, Like<Report> auto& r) {
  f("argument", r.backend);
  f("name", r.name);
  f("version", r.version);
  f("device", r.device);
  f("determinism", r.determinism,
      {.words = {"", "D0", "D1", "D2", "D3"}, .text = "that its manifest states"});
  f("manifest_sha256", r.manifest_hash, kHash);
  f("file_sha256", r.file_hash, kHash);
  f("options", r.options);
  f("kernels", r.kernels, about("that its manifest lists"));
}

static void fields(auto& f, Like<Report> auto& r) {
  f.constant("schema", 1);
  f.derived("verdict", r.verdict,
      {.words = {"PASS", "FAIL", "NONDETERMINISTIC", "CRASH", "TIMEOUT", "INCOMPLETE", "STALE",
           "BROKEN"}});
  f.derived("exit", static_cast<int>(r.exit), {.max = 6});
  f.derived("word", std::string(word_of(r.exit)));
  f.object("backend", [&](auto& g) { subject_fields(g, r); });
  f.object("scope", [&](auto& g) {
    g.derived("subset", r.partial);
    g("operators_selected", r.operators_selected);
    g("operators_claimed", r.operators_claimed);
    g("operators_all", r.operators_all);
    g("claimed", r.claimed, about("of the selected operators"));
  });
  f("chosen", r.chosen, about("what was asked for beside tier and seed"));
  f("tier", r.tier, {.max = 3});
  f("seed", r.seed);
  f("set_hash", r.set_hash, about_hash("of its cases, in whatever order"));
  f("order_hash", r.order_hash, about_hash("of its cases in the order of their numbers"));
  f("set_cases", r.set_cases);
  f.optional("typed_cases", r.typed_cases,
      about("of these, calls too large to run, of which only the types are asked"));
  f("part", r.part, about("of the set, where several machines share it"));
  f("counts", r.counts);
  f("known", r.known, about("of these, the cases whose failures are all expected"));
  f("expectations", r.expectations, about("and what the run made of each"));
  f.derived("stale", r.stale, about("expectations, with the reason"));
  f.derived("exceeded", r.exceeded, about("expectations beside which something else fails"));
  f.object("legal", [&](auto& g) {
    g("selected", r.legal_selected);
    g("not_claimed", r.legal_not_claimed);
  });
  f("canaries", r.canaries, about("property: faults planted in what it observed"));
  f.object("floor", [&](auto& g) {
    g.derived("per_operator", tier_floor(r.tier));
    g("judged", r.floor_judged);
    g("below", r.below_floor);
    g("executed_legal", r.executed_legal);
  });
  f("largest_tensor", r.largest_tensor,
      {.min = 1, .text = "operator: elements of the largest tensor of an executed legal call"});
  f("cells", r.cells, about("operator, then property"));
  f("failing", r.failing,
      about("operator, property, then kind: the failing cases by the SHA-256 of their ids"));
  f("outputs", r.outputs, about("operator: what was computed, whether right or not"));
  f.derived("digest", digest_of(r), kHash);
  f("paths", r.paths, {.min = 1, .text = "operator, then kernel: how often it ran"});
  f("mutants", r.score,
      about("how many of the listed ones a budget's cases are known to kill; of none: unknown"));
  f("quarantine", r.quarantine);
  f("missing", r.missing, about("the first cases that were not answered, or did not run"));
  f.optional("ended_early", r.ended_early,
      about("what the run was doing when its deadline or a signal ended it outside of cases"));
  f("failures", r.failures);
  f("environments", r.environments);
}

std::string json_report(const Report& r) { return form::text_of(form::written(r)); }

std::string report_schema() { return form::schema<Report>("Report of lockstep check"); }

namespace {

i64 failing_of(const Report& r, const std::string& op, const std::string& property) {
  i64 n = 0;
  const auto row = r.failing.find(op);
  if (row == r.failing.end()) return n;
  const auto kinds = row->second.find(property);
  if (kinds == row->second.end()) return n;
  for (const auto& [kind, cases] : kinds->second) n = capped_sum(n, cases.calls);
  return n;
}

// Derives the members that follow from others, so that an edited report is noticed.
void settle(Report& r) {
  const Counts& c = r.counts;
  if (c.selected != c.executed + c.not_claimed + c.missing + c.quarantined ||
      c.executed != c.passed + c.failed + c.crashed + c.timed_out)
    form::wrong("/counts", "do not add up");
  const Known& k = r.known;
  if (k.failed > c.failed || k.crashed > c.crashed || k.timed_out > c.timed_out ||
      k.quarantined > c.quarantined)
    form::wrong("/known", "counts more known failures than failures");
  for (const auto& [property, c] : r.canaries)
    if (c.noticed > c.planted)
      form::wrong("/canaries/" + property, "notices more than was planted");
  if (r.score.killed > r.score.listed) form::wrong("/mutants", "are more than there are");
  if (!r.floor_judged && !r.below_floor.empty())
    form::wrong("/floor/below", "names operators where no floor was judged");
  if (r.part.number > r.part.of) form::wrong("/part", "has a number above the number of parts");
  if (r.part.of == 1 && c.selected != r.set_cases)
    form::wrong("/set_cases", "is not the number of cases that were selected");
  std::map<std::string, std::map<std::string, i64>> told;
  for (const Failure& f : r.failures) {
    i64& n = told[f.op][f.property];
    n = capped_sum(n, f.count);
  }
  for (const auto& [op, row] : r.cells)
    for (const auto& [property, cell] : row)
      if (cell.failed != told[op][property] || cell.failed > cell.judged ||
          cell.failed != failing_of(r, op, property))
        form::wrong("/cells/" + op + "/" + property, "disagrees with the failures");
  for (const Failure& f : r.failures)
    if (!r.cells.contains(f.op) || !r.cells.at(f.op).contains(f.property))
      form::wrong("/failures", "are of " + f.op + " " + f.property + ", which was not judged");
  for (const Expectation& e : r.expectations)
    if (e.matched > e.judged) form::wrong("/expectations", "match more than was judged");
  r.partial = selection_of(r).partial();
  conclude(r);
}

}  // namespace

Report read_report(const std::string& text) { return form::parsed<Report>(text, settle); }

}  // namespace lockstep::judge
