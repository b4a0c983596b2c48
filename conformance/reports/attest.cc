#include "conformance/reports/attest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "conformance/base/form.h"
#include "conformance/reports/exhaustion.h"
#include "conformance/run/jobs.h"

namespace lockstep::judge {

using form::Like;

static void fields(auto& f, Like<JudgedFile> auto& a) {
  f("name", a.name);
  f.object("digest", [&](auto& g) { g("sha256", a.hash, {.hash = true}); });
}

namespace {

constexpr char kStatementFile[] = "statement.json", kReportFile[] = "report.json",
               kResultsFile[] = "results.txt", kValuesFile[] = "values.jsonl";
// The form of in-toto, https://github.com/in-toto/attestation.
constexpr char kStatementType[] = "https://in-toto.io/Statement/v1",
               kPredicateType[] = "urn:lockstep:conformance:1";
const std::vector<std::string> kOutcomes = {
    "passed", "failed", "crashed", "timed_out", "quarantined"};

// The part of a report that states what was judged.
struct Scope {
  i64 tier = 0;
  u64 seed = 0;
  i64 executed = 0;
  std::vector<std::string> operators, properties;
  std::map<std::string, i64> largest_tensor;  // operator, elements
  bool operator==(const Scope&) const = default;
};

struct Statement {
  std::vector<JudgedFile> subject;
  std::string verdict;
  Scope scope;
  std::string set_hash, digest, nonce, report_hash, results_hash;
  std::string values, values_hash;  // what exhaust says of its journal
};

void fields(auto& f, Like<Scope> auto& s) {
  f("tier", s.tier);
  f("seed", s.seed);
  f("executed", s.executed);
  f("operators", s.operators);
  f("properties", s.properties);
  f("largest_tensor", s.largest_tensor, {.min = 1});
}

Scope scope_of(const Report& r) {
  Scope s{r.tier, r.seed, r.counts.executed, {}, {}, r.largest_tensor};
  std::set<std::string> properties;
  for (const auto& [op, row] : r.cells) {
    if (op != "*") s.operators.push_back(op);
    for (const auto& [property, cell] : row)
      if (cell.judged > 0) properties.insert(property);
  }
  s.properties.assign(properties.begin(), properties.end());
  return s;
}

void fields(auto& f, Like<Statement> auto& s) {
  const form::Rule hash{.hash = true};
  f.constant("_type", kStatementType);
  f("subject", s.subject);
  f.constant("predicateType", kPredicateType);
  f.object("predicate", [&](auto& g) {
    g.constant("assurance", "self-declared");
    g("verdict", s.verdict);
    g("scope", s.scope);
    g("set_sha256", s.set_hash, hash);
    g("outputs_sha256", s.digest, hash);
    g("nonce", s.nonce);
    g("report_sha256", s.report_hash, hash);
    g("results_sha256", s.results_hash, hash);
    g.optional("values", s.values);
    g.optional("values_sha256", s.values_hash, hash);
  });
}

std::string results_text(const std::vector<Declared>& results) {
  std::string s;
  for (const Declared& d : results)
    s += fmt::format("{} {}{}{}\n", d.number, d.outcome, d.outputs.empty() ? "" : " ", d.outputs);
  return s;
}

std::vector<Declared> read_results(const std::string& text) {
  std::vector<Declared> all;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string at = fmt::format("line {}", ++number);
    std::istringstream words(line);
    Declared d;
    words >> d.number >> d.outcome >> d.outputs;
    if (std::find(kOutcomes.begin(), kOutcomes.end(), d.outcome) == kOutcomes.end() ||
        d.number < 0 || (!d.outputs.empty() && !is_hash(d.outputs)) ||
        results_text({d}) != line + "\n")
      form::wrong(at, "is no result of a case");
    if (d.number <= (all.empty() ? -1 : all.back().number)) form::wrong(at, "is out of order");
    all.push_back(std::move(d));
  }
  return all;
}

template <class F> auto within(const char* file, F read) {
  try {
    return read();
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("{}: {}", file, e.what()));
  }
}

const std::string& file_of(const std::map<std::string, std::string>& files, const char* name) {
  const auto at = files.find(name);
  if (at == files.end()) throw UsageError(std::string("there is no ") + name);
  return at->second;
}

}  // namespace

std::map<std::string, std::string> bundle_of(const Attestation& a) {
  const std::string report = json_report(a.report), results = results_text(a.results);
  Statement s{a.subject, a.report.verdict, scope_of(a.report), a.report.set_hash,
      digest_of(a.report), a.report.chosen.nonce, sha256(report), sha256(results), {}, {}};
  std::map<std::string, std::string> files{{kReportFile, report}, {kResultsFile, results}};
  if (!a.values.empty()) {
    s.values = exhaustion_line(read_value_journal(a.values).known);
    s.values_hash = sha256(a.values);
    files[kValuesFile] = a.values;
  }
  files[kStatementFile] = form::text_of(form::written(s));
  return files;
}

ValueJournal values_of_subject(
    const std::string& journal, const std::string& file_hash, const std::string& backend) {
  ValueJournal values = read_value_journal(journal);
  const Exhaustion& known = values.known;
  if (known.file_hash.empty() ? known.backend != backend : known.file_hash != file_hash)
    throw UsageError("it is about another backend, '" + known.backend + "'");
  return values;
}

Attestation read_bundle(const std::map<std::string, std::string>& files) {
  const std::string &report = file_of(files, kReportFile), &results = file_of(files, kResultsFile);
  const auto s = within(
      kStatementFile, [&] { return form::parsed<Statement>(file_of(files, kStatementFile)); });
  if (s.subject.empty()) throw UsageError("statement.json: /subject names no file");
  if (sha256(report) != s.report_hash)
    throw UsageError("report.json is not the one that statement.json names");
  if (sha256(results) != s.results_hash)
    throw UsageError("results.txt is not the one that statement.json names");
  Attestation a{s.subject, within(kReportFile, [&] { return read_report(report); }),
      within(kResultsFile, [&] { return read_results(results); }), {}};
  const Report& r = a.report;
  for (const auto& [what, stated, reported] :
      {std::tuple{"verdict", s.verdict, r.verdict}, {"case set", s.set_hash, r.set_hash},
          {"digest", s.digest, digest_of(r)}, {"nonce", s.nonce, r.chosen.nonce}})
    if (stated != reported)
      throw UsageError(fmt::format("statement.json and report.json differ in the {}", what));
  if (!(s.scope == scope_of(r)))
    throw UsageError("statement.json and report.json differ in what was judged");
  const auto is_judged = [&](const JudgedFile& f) { return f.hash == r.file_hash; };
  if (!r.file_hash.empty() && std::none_of(a.subject.begin(), a.subject.end(), is_judged))
    throw UsageError("statement.json is about another file than report.json");
  if (s.values_hash.empty()) return a;
  a.values = file_of(files, kValuesFile);
  if (sha256(a.values) != s.values_hash)
    throw UsageError("values.jsonl is not the one that statement.json names");
  const ValueJournal values =
      within(kValuesFile, [&] { return values_of_subject(a.values, r.file_hash, r.backend); });
  if (exhaustion_line(values.known) != s.values)
    throw UsageError("statement.json and values.jsonl differ in what was put");
  return a;
}

std::function<void(i64, const ItemResult&)> recorder(std::vector<Declared>& results) {
  return [&results](i64 number, const ItemResult& r) {
    results.push_back({number, kOutcomes[static_cast<std::size_t>(r.outcome)], r.outputs});
  };
}

std::vector<std::string> contradictions(const Attestation& a, const std::vector<Item>& items) {
  const Report& r = a.report;
  if (set_hash(items) != r.set_hash)
    return {"this program derives another case set from the tier, seed and nonce of the report"};
  if (order_hash(items) != r.order_hash)
    return {
        "this program orders the cases differently, so that its results are numbered differently"};
  std::map<std::string, i64> outcomes;
  std::map<std::string, Outputs> outputs;
  for (const Declared& d : a.results) {
    if (d.number >= std::ssize(items))
      return {fmt::format("there is a result of case {}, the set has {}", d.number, items.size())};
    ++outcomes[d.outcome];
    if (!d.outputs.empty())
      outputs[std::string(items[static_cast<std::size_t>(d.number)].call.op->name)].add(d.outputs);
  }
  std::vector<std::string> found;
  const Counts& c = r.counts;
  for (const auto& [word, n] : {std::pair{"passed", c.passed}, {"failed", c.failed},
           {"crashed", c.crashed}, {"timed_out", c.timed_out}, {"quarantined", c.quarantined}})
    if (outcomes[word] != n)
      found.push_back(
          fmt::format("the report counts {} {}, the results {}", n, word, outcomes[word]));
  for (const auto& [op, sum] : r.outputs)
    if (!(outputs[op] == sum))
      found.push_back("the outputs of " + op + " are not those of the results");
  if (outputs.size() != r.outputs.size())
    found.emplace_back("the results and the report name different operators");
  return found;
}

std::vector<Declared> sample(const Attestation& a, i64 count, u64 seed) {
  std::vector<Declared> all;
  for (const Declared& d : a.results)
    if (d.outcome == "passed" || d.outcome == "failed") all.push_back(d);
  const auto place = [&](const Declared& d) { return word(seed, 11, static_cast<u64>(d.number)); };
  std::sort(all.begin(), all.end(),
      [&](const Declared& x, const Declared& y) { return place(x) < place(y); });
  all.resize(static_cast<std::size_t>(std::min<i64>(count, std::ssize(all))));
  std::sort(all.begin(), all.end(),
      [](const Declared& x, const Declared& y) { return x.number < y.number; });
  return all;
}

std::vector<std::string> refutations(const std::vector<Declared>& declared,
    const std::vector<Declared>& again, const std::vector<Item>& items) {
  std::vector<std::string> found;
  for (std::size_t k = 0; k < declared.size(); ++k) {
    const Declared& d = declared[k];
    const std::string& id = items[static_cast<std::size_t>(d.number)].id;
    if (k >= again.size() || again[k].number != d.number)
      found.push_back(id + ": declared " + d.outcome + ", was not run again");
    else if (again[k].outcome != d.outcome)
      found.push_back(id + ": declared " + d.outcome + ", this time " + again[k].outcome);
    else if (again[k].outputs != d.outputs)
      found.push_back(id + ": other outputs than declared");
  }
  return found;
}

i64 put_again(const ValueJournal& declared, Subject& subject, i64 count, u64 seed,
    std::vector<std::string>& found) {
  std::vector<const RangeResult*> judged;
  for (const std::optional<RangeResult>& r : declared.results)
    if (r && !r->not_claimed) judged.push_back(&*r);
  count = std::min<i64>(count, std::ssize(judged));
  for (i64 k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    std::swap(judged[at], judged[at + word(seed, 12, at) % (judged.size() - at)]);
    const RangeResult &was = *judged[at], now = judge_range(subject, declared.plan, was.n);
    if (now.digest != was.digest || now.wrong != was.wrong)
      found.push_back(fmt::format("range {} of the values: declared {} wrong, this time {}{}",
          was.n, was.wrong, now.wrong, now.digest == was.digest ? "" : ", with other outputs"));
  }
  return count;
}

}  // namespace lockstep::judge
