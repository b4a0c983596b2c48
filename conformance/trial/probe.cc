#include "conformance/trial/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/cases/malformed_graph.h"
#include "conformance/jsonl/lines.h"
#include "conformance/trial/poison.h"
#include "conformance/trial/property.h"

namespace lockstep::judge {
namespace {

using reference::LawResult;

constexpr u64 kShare = 4;                   // one case in 4 gets the checks that take several calls
constexpr u64 kSalt = 11;                   // of the choice of these cases
constexpr i64 kMostOfLaws = i64{1} << 14;   // elements of a call to which laws are put
constexpr int kRunsOfGraph = 3;             // the first may leave something for the next
constexpr i64 kMostOfReuse = i64{1} << 10;  // elements of a call whose plan runs many times

About kind_of(Item::What what) {
  constexpr About kKinds[] = {kLegal, kIllegal, kVectors, kTyped};
  return kKinds[what];
}

std::string spelling_text(const AttrTexts& attrs) {
  std::string s;
  for (const auto& [name, text] : attrs) s += (s.empty() ? "" : ", ") + name + "=" + quote(text);
  return s.empty() ? "no attributes" : s;
}

// Notes an answer whose outputs have other sizes than it says.
void check_sizes(Answer& a, const Inferred& types) {
  for (int k = 0; a.ok() && k < std::ssize(a.out); ++k) {
    const std::size_t n = a.out[static_cast<std::size_t>(k)].size();
    if (std::cmp_equal(n, volume(types[k].shape))) continue;
    a.kind = AnswerKind::protocol;
    a.message = "output " + std::to_string(k) + " has " + std::to_string(n) +
        " elements instead of " + std::to_string(volume(types[k].shape));
  }
}

}  // namespace

Probe::Probe(const Subject& subject, const Item& item, const TrialPlan& plan, Trial& trial)
    : t_(trial),
      plan_(plan),
      case_(item.call),
      infers_(subject.can_infer()),
      compiles_(subject.can_compile()),
      reads_int8_(subject.reads_int8()),
      takes_text_(subject.takes_text()),
      large_(item.runs() && is_large(item.call)) {
  t_.item = &item;
  t_.manifest = &subject.manifest();
  t_.watched = subject.shares_memory();
  if (item.what == Item::illegal) return;
  t_.types = case_.op->infer(case_.attributes(), case_.types());
  if (item.what == Item::typed) return;
  in_ = inputs_of(case_);
  t_.expected = item.what == Item::vector ? item.expected : expected_of(in_);
}

void Probe::ask_all() {
  const Item& item = *t_.item;
  if (item.texts && !takes_text_) return;
  if (item.what == Item::illegal) {
    Question q = question(Question::refuse);
    if (item.texts) q.texts = &*item.texts;
    pending_.push_back({q, [&](Answers a) { t_.refusal = std::move(a[0]); }});
  }
  if (item.texts) return;
  if (item.runs()) run({&in_}, {.poison = kPoison}, [&](Answers a) { t_.base = std::move(a[0]); });
  if (item.runs() && case_.fill == Fill::range) return;
  for (const TrialPlan::Way& way : plan_.ways)
    if (way.property->is_about(kind_of(item.what))) {
      way_ = &way;
      way.property->ask(*this);
    }
}

std::vector<Question> Probe::questions(std::size_t trial) const {
  std::vector<Question> all;
  for (const Pending& p : pending_) {
    all.push_back(p.question);
    all.back().trial = trial;
    all.back().id = t_.item->id;
  }
  return all;
}

void Probe::take(std::vector<Answers> answers) {
  const std::vector<Pending> asked = std::exchange(pending_, {});
  bool gone = false;
  for (std::size_t k = 0; k < asked.size(); ++k) {
    t_.calls += static_cast<int>(answers[k].size());
    const CallGraph* const g = asked[k].question.graph;
    for (const Answer& a : answers[k]) gone = gone || (a.gone() && !(g && g->one_by_one));
    if (!answers[k].empty()) asked[k].take(std::move(answers[k]));
  }
  if (gone) pending_.clear();  // one end of the process decides the verdict of a case
}

void Probe::finish() {
  std::erase_if(t_.seen, [](const Observation& o) { return !o.answer && !o.law; });
}

Layout Probe::other_layout() const {
  return case_.layout != Layout::compact ? case_.layout
                                         : static_cast<Layout>(1 + case_.seed % (kLayouts - 1));
}

std::size_t Probe::choice(u64 which, std::size_t n) const {
  return static_cast<std::size_t>(word(case_.seed, kSalt, which) % n);
}

bool Probe::chosen(u64 which) const { return spelled_out() || choice(which, kShare) == 0; }

void Probe::ask(const Run& run, std::string when) {
  const std::size_t at = note(std::move(when));
  t_.seen[at].again = run.runs > 1;
  this->run({&in_}, run, [this, at](Answers a) { t_.seen[at].answer = std::move(a[0]); });
}

void Probe::ask(const Run& run, const Forced& forced) {
  ask(run, "with " + forced.option + "=" + forced.value);
  t_.seen.back().forced = forced;
}

void Probe::ask_at_once(std::size_t callers) {
  std::vector<const std::vector<Tensor>*> in;
  const std::size_t first = t_.seen.size();
  for (std::size_t k = 0; k < callers; ++k) {
    in.push_back(k % 2 == 0 ? &in_ : &others());
    const std::size_t at =
        note("to caller " + std::to_string(k + 1) + " of " + std::to_string(callers) + " at once");
    if (k % 2 != 0) t_.seen[at].right = &Trial::expected_other;
  }
  t_.expected_other = expected_of(others());
  run(in, {.poison = kPoison}, [this, first](Answers a) {
    for (std::size_t k = 0; k < a.size(); ++k) t_.seen[first + k].answer = std::move(a[k]);
  });
}

void Probe::ask_in_turns(int runs) {
  // Inputs of equal types may share memory, so they get equal values.
  shared_ = others();
  for (std::size_t k = 0; k < shared_.size(); ++k)
    shared_[k] = *std::find_if(
        shared_.begin(), shared_.end(), [&](const Tensor& t) { return t.type == shared_[k].type; });
  const std::size_t first = t_.seen.size();
  const std::string when = fmt::format("in the last of {} runs of one plan", runs);
  note(when + ", other values and another plan in between");
  t_.seen[note(when + ", with other values, equal inputs sharing memory")].right =
      &Trial::expected_shared;
  t_.expected_shared = expected_of(shared_);
  const auto take = [this, first](Answers a) {
    for (std::size_t k = 0; k < a.size(); ++k) t_.seen[first + k].answer = std::move(a[k]);
  };
  run({&in_, &shared_}, {.poison = kPoison, .runs = runs}, take, another_call());
}

void Probe::ask_graph() {
  const std::size_t at = note({});
  t_.seen[at].right = &Trial::expected_heads;
  ways_ = ways_to_run();
  if (!ways_.empty()) ask_graph(at, graph());
}

// The options to force on a graph, one after another. Most graphs get none or one; a network gets
// every instruction set, since each treats images between calls in its own way; in shrinking a
// graph gets all, so as not to lose the one with which it failed.
std::vector<Forced> Probe::options_to_force(bool shrinks) {
  const std::vector<Forced>& all = forced();
  if (all.empty()) return std::vector<Forced>(1);
  const Forced& one = all[choice(9, all.size())];
  if (!graph().has_network && !shrinks) return {choice(10, 2) == 0 ? Forced{} : one};
  std::vector<Forced> some{one};
  for (const Forced& f : all)
    if (shrinks || f.option == "isa") some.push_back(f);
  some.emplace_back();
  return some;
}

// Constants are int8 with every second option; in shrinking each option has both. Few graphs run
// compiled and call by call.
std::vector<Probe::WayToRun> Probe::ways_to_run() {
  constexpr std::size_t kFew = 8;
  const bool shrinks = spelled_out() && t_.item->what != Item::vector;
  std::vector<WayToRun> ways;
  const bool answers =
      std::none_of(graph().nodes.begin(), graph().nodes.end(), [&](const CallGraph::Node& n) {
        return plan_.silent.unanswered.contains(n.op->name) ||
            plan_.silent.unasked.contains(n.op->name);
      });
  if (answers && (!compiles_ || shrinks || choice(12, kFew) == 0))
    ways.push_back({{}, false, true});
  if (!compiles_) return ways;
  bool int8 = choice(11, 2) == 0;
  for (const Forced& f : options_to_force(shrinks)) {
    ways.push_back({f, reads_int8_ && int8});
    int8 = !int8;
    if (shrinks && reads_int8_) ways.push_back({f, int8});
  }
  return ways;
}

void Probe::ask_malformed() {
  if (!compiles_) return;
  if (t_.item->what == Item::illegal) {
    ask_malformed(graph_of_call(case_), "a graph of the call alone", t_.item->label);
    return;
  }
  for (std::size_t k = 0; k < kGraphMistakes.size(); ++k) {
    const GraphMistake& mistake = kGraphMistakes[k];
    if (!spelled_out() && k != choice(8, kGraphMistakes.size())) continue;
    if (std::optional<CallGraph> g = malformed(graph(), mistake))
      ask_malformed(std::move(*g), "a graph in which " + std::string(mistake.what), mistake.label);
  }
}

void Probe::ask_malformed(CallGraph g, std::string when, string_view label) {
  const std::size_t at = note(std::move(when));
  t_.seen[at].when += ", " + graph_text(g);
  t_.seen[at].refused_with = label;
  const GraphAsked& q = graphs_.emplace_back(GraphAsked{std::move(g), {}});
  pending_.push_back({{.what = Question::refuse, .call = &case_, .graph = &q.graph},
      [this, at](Answers a) { t_.seen[at].answer = std::move(a[0]); }});
}

const CallGraph& Probe::graph() {
  if (graph_) return *graph_;
  graph_ = graph_around(case_, in_, t_.expected, [this](const Case& c) { return may_surround(c); });
  return *graph_;
}

// Whether the graphs of this plan may have a call beside the case's.
bool Probe::may_surround(const Case& c) const {
  const auto& ops = plan_.graph_operators;
  return (ops.empty() || ops.contains(c.op->name)) && t_.manifest->claims_call(c);
}

void Probe::ask_graph(std::size_t at, const CallGraph& g) {
  GraphAsked& q = graphs_.emplace_back(GraphAsked{g, {}});
  q.graph.int8_constants = ways_.back().int8_constants;
  q.graph.one_by_one = ways_.back().one_by_one;
  if (q.graph.one_by_one) drop_copies(q.graph);
  q.in.assign(g.entries.begin(), g.entries.begin() + g.given);
  Run run = filled({.layout = ways_.back().one_by_one ? Layout::compact : case_.layout,
      .poison = kPoison,
      .config = ways_.back().forced.config,
      .runs = kRunsOfGraph});
  run.poison = drawn_poison(run.poison);
  pending_.push_back({{.call = &case_, .callers = {&q.in}, .graph = &q.graph, .run = run},
      [this, at, &q](Answers a) { settle_graph(at, q.graph, std::move(a[0])); }});
}

// Graphs to try instead of a wrong one, the first one last. Each hang takes long, so after a few a
// graph stays as large as it is.
void Probe::try_smaller(const CallGraph& g, bool hangs) {
  constexpr int kMostHangs = 4;
  smaller_.clear();
  if (hangs && g.one_by_one && hangs_ == 0) smaller_ = calls_alone(g);
  if (!hangs || hangs_ < kMostHangs)
    for (CallGraph& smaller : smaller_graphs(g)) smaller_.push_back(std::move(smaller));
  std::reverse(smaller_.begin(), smaller_.end());
  hangs_ += hangs;
}

// Notes the one call of a graph that runs call by call and is wrong.
void Probe::note_wrong_call(const CallGraph& g, const Answer& a) {
  const CallGraph::Node& n = g.nodes[0];
  if (a.takes_long()) {
    t_.hung = n.op->name;
    return;
  }
  Case c{.op = n.op, .attrs = n.attrs, .fill = Fill::literal};
  std::vector<Tensor> right;
  for (const int e : n.in) {
    const Tensor& t = g.entries[static_cast<std::size_t>(e)];
    c.in.push_back(t.type);
    c.data.emplace_back(t.data.begin(), t.data.end());
  }
  for (const int head : g.heads) right.push_back(g.entries[static_cast<std::size_t>(head)]);
  const std::optional<Finding> f = difference(right, a);
  t_.wrong_calls.push_back(
      {std::string(n.op->name), case_id(c), f ? f->text : "an earlier run of it was not right"});
}

// Notes the answer to a graph. If it is wrong, a smaller graph with a wrong answer takes its place;
// if it is right, the graph is put in the next way. A call that is wrong by itself says nothing
// about graphs that run call by call.
void Probe::settle_graph(std::size_t at, const CallGraph& g, Answer a) {
  std::vector<Tensor> right;
  for (const int head : g.heads) right.push_back(g.entries[static_cast<std::size_t>(head)]);
  name_poison(a, right, kPoison);
  const bool is_wrong = difference(right, a).has_value() || a.changed_run > 0,
             is_first = !t_.seen[at].answer;
  if (is_wrong && g.one_by_one && g.nodes.size() == 1) {
    note_wrong_call(g, a);
    t_.seen[at].answer.reset();
    return;
  }
  if (is_first || is_wrong) {
    const WayToRun way = ways_.back();
    const Forced& f = way.forced;
    t_.seen[at].when = std::string(way.one_by_one ? "call by call" : "compiled") +
        (f.option.empty() ? "" : " with " + f.option + "=" + f.value) + ": " + graph_text(g);
    t_.graph = g;
    t_.expected_heads = std::move(right);
    if (is_wrong) {
      try_smaller(g, a.takes_long());
      ways_ = {way};
    }
    t_.seen[at].answer = std::move(a);
  }
  if (ways_.size() > 1) {
    ways_.pop_back();
    return ask_graph(at, graph());
  }
  if (smaller_.empty()) return;
  const CallGraph next = std::move(smaller_.back());
  smaller_.pop_back();
  ask_graph(at, next);
}

void Probe::ask_spelled(std::size_t way) {
  if (!takes_text_ || !manifest().reads_text || case_.op->attrs.size() == 0) return;
  const AttrTexts& texts = spelled_.emplace_back(spelled(case_, way));
  const std::size_t at = note("with " + spelling_text(texts));
  run(
      {&in_}, {.poison = kPoison}, [this, at](Answers a) { t_.seen[at].answer = std::move(a[0]); },
      nullptr, &texts);
}

void Probe::infer() {
  if (infers_)
    pending_.push_back(
        {question(Question::infer), [&](Answers a) { t_.inferred = std::move(a[0]); }});
}

bool Probe::small() const { return elements(in_) + elements(t_.expected) <= kMostOfReuse; }

bool Probe::has_equal_inputs() const {
  for (auto t = case_.in.begin(); t != case_.in.end(); ++t)
    if (std::find(case_.in.begin(), t, *t) != t) return true;
  return false;
}

bool Probe::repeated() const { return t_.item->what == Item::legal && is_repeated(case_); }

bool Probe::too_large_for_laws() const {
  return elements(in_) + elements(t_.expected) > kMostOfLaws;
}

void Probe::ask_law(int i) {
  pursue({i, note("in the law " + std::string(case_.op->laws[i].label))});
}

// Tests a law with the answers so far. If the law makes one more call, asks for that first.
void Probe::pursue(LawAsked law) {
  Seeded draw(word(case_.seed, kSalt + 1, static_cast<u64>(law.number)));
  std::size_t made = 0;
  bool waits = false;
  const auto respond = [&](Attributes attrs,
                           const std::vector<Tensor>& in) -> std::optional<std::vector<Tensor>> {
    if (made < law.answers.size()) return law.answers[made++];
    if (!waits) {
      const std::size_t before = pending_.size();
      ask_for(law, attrs, in);
      waits = pending_.size() > before;
    }
    return std::nullopt;
  };
  LawResult result =
      try_law(*case_.op, law.number, case_.attributes(), in_, others(), draw, respond);
  if (!waits && result.kind != LawResult::silent)
    t_.seen[law.observation].law = {&case_.op->laws[law.number], std::move(result)};
}

// Asks for a call of a law, unless the backend does not claim it.
void Probe::ask_for(const LawAsked& law, Attributes attrs, const std::vector<Tensor>& in) {
  Case call{case_.op, {attrs.begin(), attrs.end()}, {}, Fill::literal, case_.seed, {}, {}};
  for (const Tensor& t : in) call.in.push_back(t.type);
  if (!t_.manifest->claims_call(call)) return;
  const Inferred types = case_.op->infer(attrs, call.types());
  const LawCall& made = law_calls_.emplace_back(LawCall{std::move(call), in, types});
  pending_.push_back({{.call = &made.call,
                          .callers = {&made.in},
                          .out = types,
                          .run = filled({.poison = kPoison})},
      [this, law, &made](Answers a) { take_for(law, made, std::move(a[0])); }});
}

void Probe::take_for(LawAsked law, const LawCall& call, Answer a) {
  check_sizes(a, call.types);
  if (!a.ok()) {
    Observation& o = t_.seen[law.observation];
    o.law = {&case_.op->laws[law.number], {}};
    o.answer = std::move(a);
    return;
  }
  std::vector<Tensor>& out = law.answers.emplace_back();
  for (std::size_t k = 0; k < a.out.size(); ++k)
    out.push_back({call.types[static_cast<int>(k)], std::move(a.out[k])});
  pursue(std::move(law));
}

void Probe::run(const std::vector<const std::vector<Tensor>*>& callers, const Run& run,
    std::function<void(Answers)> take, const Case* between, const AttrTexts* texts) {
  Question q{.call = &case_,
      .texts = texts,
      .callers = callers,
      .between = between,
      .out = t_.types,
      .run = filled(run)};
  q.run.poison = drawn_poison(run.poison);
  const auto tell = [this, callers, run, take = std::move(take)](Answers all) {
    for (std::size_t k = 0; k < all.size(); ++k)
      name_poison(all[k],
          callers[k] == &in_           ? t_.expected
              : callers[k] == &shared_ ? t_.expected_shared
                                       : t_.expected_other,
          run.poison);
    take(std::move(all));
  };
  pending_.push_back({std::move(q), tell});
}

// The bytes beside tensors follow from the case, so that wrong results are the same in each run.
Run Probe::filled(Run run) const {
  run.filler =
      static_cast<i32>(word(case_.seed, kSalt + 2, static_cast<std::uint32_t>(run.poison)));
  return run;
}

// Makes room for an observation. @return its place
std::size_t Probe::note(std::string when) {
  t_.seen.push_back({way_->property, std::move(when), {}, {}, {}, {}});
  return t_.seen.size() - 1;
}

// A claimed call of the operator with other types or attributes; nullptr if no draw gives one.
const Case* Probe::another_call() {
  constexpr u64 kDraws = 16;
  for (u64 k = 0; k < kDraws && !between_; ++k) {
    Seeded draw(word(case_.seed, kSalt + 3, k));
    Case c = draw_case(*case_.op, draw);
    const bool other = c.in != case_.in || c.attrs != case_.attrs;
    if (other && t_.manifest->claims_call(c)) between_ = std::move(c);
  }
  return between_ ? &*between_ : nullptr;
}

// Inputs of the same types with other values.
const std::vector<Tensor>& Probe::others() {
  if (other_.empty()) {
    Case c = case_;
    c.fill = Fill::dense;
    c.seed = ~c.seed;
    other_ = inputs_of(c);
  }
  return other_;
}

std::vector<Tensor> Probe::expected_of(const std::vector<Tensor>& in) const {
  return reference::outputs(*case_.op, case_.attributes(), in);
}

}  // namespace lockstep::judge
