#include "conformance/trial.h"

namespace lockstep::judge {
namespace {

using reference::LawResult;

constexpr std::size_t kCallers = 4;  // of one plan at once
constexpr u64 kShare = 4;            // what takes several calls is done to one case in so many
constexpr u64 kSalt = 11;            // of choices among cases
constexpr i64 kMostOfLaws = i64{1} << 14;  // elements of a call to which laws are put

Layout other_layout(const Case& c) {
  return c.layout != Layout::compact ? c.layout : static_cast<Layout>(1 + c.seed % (kLayouts - 1));
}

// Where all values are written out, nothing is left to chance: whoever spells a case out wants to
// see all that is wrong with it, and shrinking must not lose it.
bool spelled_out(const Case& c) { return c.fill == Fill::literal; }

// Number 0 <= k < n of a case, for choices that it does not spell out.
std::size_t choice(const Case& c, u64 which, std::size_t n) {
  return static_cast<std::size_t>(word(c.seed, kSalt, which) % n);
}

i64 elements(const std::vector<Tensor>& tensors) {
  i64 n = 0;
  for (const Tensor& t : tensors) n += volume(t.type.shape);
  return n;
}

// Puts a legal call, step by step. A step says whether the backend is still there: a case that
// kills its process is not put again, for one death is one verdict.
class Execution {
 public:
  Execution(Subject& subject, const TrialPlan& plan, Trial& t)
      : subject_(subject), plan_(plan), t_(t), case_(t.item->call), in_(inputs_of(case_)) {
    t_.expected = t_.item->what == Item::vector ? t_.item->expected : expected_of(in_);
  }
  void run() {
    constexpr bool (Execution::*kSteps[])() = {
        &Execution::base,    &Execution::repeat,   &Execution::unaligned,
        &Execution::strided, &Execution::constant, &Execution::isas,
        &Execution::threads, &Execution::callers,  &Execution::laws};
    for (const auto step : kSteps) {
      if (!(this->*step)()) return;
      if (case_.fill == Fill::range) break;
    }
    if (case_.fill == Fill::range || !plan_.infer || !subject_.can_infer()) return;
    ++t_.calls;
    t_.inferred = subject_.infer(case_);
  }

 private:
  std::vector<Tensor> expected_of(const std::vector<Tensor>& in) const {
    return reference::outputs(*case_.op, case_.attributes(), in);
  }
  // Other values of the same types.
  const std::vector<Tensor>& others() {
    if (other_.empty()) {
      Case c = case_;
      c.fill = Fill::dense;
      c.seed = ~c.seed;
      other_ = inputs_of(c);
    }
    return other_;
  }
  Answer ask(const Run& run) {
    ++t_.calls;
    return subject_.execute(case_, in_, t_.types, run);
  }
  bool weighted() const { return t_.watched && case_.in.size() > 1; }

  bool base() {
    t_.base = ask({.poison = kPoison});
    return !t_.base.gone();
  }
  bool repeat() {
    if (!plan_.repeat) return true;
    t_.repeat = ask({.poison = kOtherPoison, .base = Base::begin});
    t_.repeated = true;
    return !t_.repeat.gone();
  }
  bool unaligned() {
    if (!plan_.alignment || !t_.watched) return true;
    t_.unaligned = ask({.poison = kPoison, .base = Base::unaligned});
    return !t_.unaligned->gone();
  }
  bool strided() {
    if (!plan_.layouts || !t_.watched || !t_.manifest->strided) return true;
    t_.strided = ask({.layout = other_layout(case_), .poison = kPoison});
    return !t_.strided->gone();
  }
  bool constant() {
    if (!plan_.constants || !weighted()) return true;
    // Packing reads constants by their strides, too.
    const bool strided = t_.manifest->strided && case_.seed % 2 == 0;
    t_.constant = ask({.layout = strided ? other_layout(case_) : Layout::compact,
                       .poison = kPoison,
                       .constants = true});
    return !t_.constant->gone();
  }
  bool isas() {
    for (const Forced& isa : plan_.isas) {
      // Kernels treat constants apart, each on its own instruction set.
      const bool constants = weighted() && case_.seed % 2 == 1;
      t_.isas.emplace_back(isa,
                           ask({.poison = kPoison, .config = isa.config, .constants = constants}));
      if (t_.isas.back().second.gone()) return false;
    }
    return true;
  }
  bool threads() {
    const std::size_t n = plan_.threads.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (!spelled_out(case_) && k != choice(case_, 0, n)) continue;
      const Forced& count = plan_.threads[k];
      t_.threads.emplace_back(count, ask({.poison = kPoison, .config = count.config}));
      if (t_.threads.back().second.gone()) return false;
    }
    return true;
  }
  bool chosen(u64 which) const { return spelled_out(case_) || choice(case_, which, kShare) == 0; }

  // Every second caller brings other values: what they share wrongly would be the same values
  // otherwise.
  bool callers() {
    if (!plan_.concurrent || !t_.watched || !chosen(1)) return true;
    std::vector<std::vector<Tensor>> in;
    for (std::size_t k = 0; k < kCallers; ++k) in.push_back(k % 2 == 0 ? in_ : others());
    t_.callers = subject_.execute_at_once(case_, in, t_.types, {.poison = kPoison});
    t_.calls += static_cast<int>(t_.callers.size());
    if (t_.callers.empty()) return true;
    t_.expected_other = expected_of(others());
    return !t_.callers[0].gone();
  }

  bool laws() {
    const Span<LawInfo> all = case_.op->laws;
    if (elements(in_) + elements(t_.expected) > kMostOfLaws) return true;
    const bool some = plan_.laws && chosen(2);
    const std::size_t one = choice(case_, 3, static_cast<std::size_t>(max(all.size(), 1)));
    for (int i = 0; i < all.size(); ++i) {
      const bool batch = all[i].label == law::batchwise<0>.label;
      const bool wanted = batch
                              ? plan_.batch && chosen(4)
                              : some && (spelled_out(case_) || static_cast<std::size_t>(i) == one);
      if (wanted && !put_law(i, batch ? t_.batch : t_.laws)) return false;
    }
    return true;
  }
  bool put_law(int i, std::vector<LawTrial>& tried) {
    LawTrial l{&case_.op->laws[i], {}, {}};
    Seeded draw(word(case_.seed, kSalt + 1, static_cast<u64>(i)));
    const auto respond = [&](Attributes attrs, const std::vector<Tensor>& in) {
      return responded(attrs, in, l);
    };
    l.result = try_law(*case_.op, i, case_.attributes(), in_, others(), draw, respond);
    const bool gone = l.failure && l.failure->gone();
    if (l.failure || l.result.kind != LawResult::silent) tried.push_back(std::move(l));
    return !gone;
  }
  // The backend's outputs for a call that a law makes, unless it is none that the backend claims.
  std::optional<std::vector<Tensor>> responded(Attributes attrs, const std::vector<Tensor>& in,
                                               LawTrial& l) {
    Case call{case_.op, {attrs.begin(), attrs.end()}, {}, Fill::literal, case_.seed, {}, {}};
    for (const Tensor& t : in) call.in.push_back(t.type);
    if (!t_.manifest->claims_call(call)) return std::nullopt;
    const Inferred types = case_.op->infer(attrs, call.types());
    ++t_.calls;
    Answer a = subject_.execute(call, in, types, {.poison = kPoison});
    std::vector<Tensor> out;
    for (std::size_t k = 0; a.ok() && k < a.out.size(); ++k) {
      const Type& type = types[static_cast<int>(k)];
      if (std::ssize(a.out[k]) != volume(type.shape)) {
        a.kind = Answer::Kind::protocol;
        a.message = "output " + std::to_string(k) + " has " + std::to_string(a.out[k].size()) +
                    " elements instead of " + std::to_string(volume(type.shape));
      }
      out.push_back({type, std::move(a.out[k])});
    }
    if (a.ok()) return out;
    l.failure = std::move(a);
    return std::nullopt;
  }

  Subject& subject_;
  const TrialPlan& plan_;
  Trial& t_;
  const Case& case_;
  std::vector<Tensor> in_, other_;
};

void refuse(Subject& subject, const TrialPlan& plan, Trial& t) {
  t.refusal = subject.refuse(t.item->call);
  t.calls = 1;
  if (!plan.infer || !subject.can_infer() || t.refusal->gone()) return;
  t.inferred = subject.infer(t.item->call);
  ++t.calls;
}

}  // namespace

string_view name_of(Answer::Kind k) {
  constexpr string_view kNames[] = {"ok",      "logic_error", "runtime_error", "unsupported",
                                    "crashed", "timed_out",   "protocol"};
  return kNames[static_cast<int>(k)];
}

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text;
}

std::vector<std::pair<std::string, const Answer*>> Trial::answers() const {
  std::vector<std::pair<std::string, const Answer*>> all;
  if (!item->runs()) return all;
  all.emplace_back("", &base);
  if (repeated) all.emplace_back("the second time", &repeat);
  if (unaligned) all.emplace_back("with unaligned tensors", &*unaligned);
  if (strided) all.emplace_back("in another layout", &*strided);
  if (constant) all.emplace_back("with constants", &*constant);
  for (const auto* forced : {&isas, &threads})
    for (const auto& [f, a] : *forced) all.emplace_back("with " + f.option + "=" + f.value, &a);
  for (std::size_t k = 0; k < callers.size(); ++k)
    all.emplace_back(
        "to caller " + std::to_string(k + 1) + " of " + std::to_string(callers.size()) + " at once",
        &callers[k]);
  for (const auto* tried : {&batch, &laws})
    for (const LawTrial& l : *tried)
      if (l.failure) all.emplace_back("in the law " + std::string(l.law->label), &*l.failure);
  return all;
}

Trial perform(Subject& subject, const Item& item, const TrialPlan& plan) {
  Trial t;
  t.item = &item;
  t.manifest = &subject.manifest();
  t.watched = subject.shares_memory();
  subject.about(item.id);
  if (item.what == Item::illegal) {
    refuse(subject, plan, t);
    return t;
  }
  t.types = item.call.op->infer(item.call.attributes(), item.call.types());
  if (item.what == Item::typed) {
    t.inferred = subject.infer(item.call);
    t.calls = 1;
  } else {
    Execution(subject, plan, t).run();
  }
  return t;
}

}  // namespace lockstep::judge
