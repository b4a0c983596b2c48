#include "conformance/trial.h"

namespace lockstep::judge {
namespace {

Layout other_layout(const Case& c) {
  return c.layout != Layout::compact ? c.layout : static_cast<Layout>(1 + c.seed % (kLayouts - 1));
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
  for (const auto& [isa, a] : forced) all.emplace_back("with isa=" + isa, &a);
  return all;
}

Trial perform(Subject& subject, const Item& item, const TrialPlan& wanted) {
  Trial t;
  const Case& c = item.call;
  const TrialPlan once{false, false, false, false, false, {}};
  const TrialPlan& plan = c.fill == Fill::range ? once : wanted;
  t.item = &item;
  t.manifest = &subject.manifest();
  t.watched = subject.shares_memory();
  if (item.what == Item::illegal) {
    t.refusal = subject.refuse(c);
    t.calls = 1;
    if (plan.infer && subject.can_infer() && !t.refusal->gone()) {
      t.inferred = subject.infer(c);
      ++t.calls;
    }
    return t;
  }
  t.types = c.op->infer(c.attributes(), c.types());
  if (item.what == Item::typed) {
    t.inferred = subject.infer(c);
    t.calls = 1;
    return t;
  }
  const std::vector<Tensor> in = inputs_of(c);
  t.expected =
      item.what == Item::vector ? item.expected : reference::outputs(*c.op, c.attributes(), in);
  const auto ask = [&](const Run& run) {
    ++t.calls;
    return subject.execute(c, in, t.types, run);
  };
  const bool weighted = subject.shares_memory() && c.in.size() > 1;
  t.base = ask({.poison = kPoison});
  // A case that kills its process is not put again: one death is one verdict.
  if (t.base.gone()) return t;
  if (plan.repeat) {
    t.repeat = ask({.poison = kOtherPoison, .base = Base::begin});
    t.repeated = true;
    if (t.repeat.gone()) return t;
  }
  if (plan.alignment && subject.shares_memory()) {
    t.unaligned = ask({.poison = kPoison, .base = Base::unaligned});
    if (t.unaligned->gone()) return t;
  }
  if (plan.layouts && subject.shares_memory() && t.manifest->strided) {
    t.strided = ask({.layout = other_layout(c), .poison = kPoison});
    if (t.strided->gone()) return t;
  }
  if (plan.constants && weighted) {
    // Packing reads constants by their strides, too.
    const bool strided = t.manifest->strided && c.seed % 2 == 0;
    t.constant = ask({.layout = strided ? other_layout(c) : Layout::compact,
                      .poison = kPoison,
                      .constants = true});
    if (t.constant->gone()) return t;
  }
  for (const IsaConfig& isa : plan.isas) {
    // Kernels treat constants apart, each on its own instruction set.
    const bool constants = weighted && c.seed % 2 == 1;
    t.forced.emplace_back(isa.isa,
                          ask({.poison = kPoison, .config = isa.config, .constants = constants}));
    if (t.forced.back().second.gone()) return t;
  }
  if (plan.infer && subject.can_infer()) {
    ++t.calls;
    t.inferred = subject.infer(c);
  }
  return t;
}

}  // namespace lockstep::judge
