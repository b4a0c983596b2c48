#include "reference/laws.h"

#include <algorithm>

#include "spec/text.h"

namespace lockstep::reference {
namespace {

// One side of an equation has a shape or precision that no tensor has, or got no answer.
struct Silence {};

// The law's own text is wrong: it names a tensor that does not exist, or makes an illegal call.
struct BrokenLaw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::vector<Attr> attributes_of(const OpInfo& op, GivenAttributes given) {
  std::vector<Attr> values;
  for (const AttrInfo& f : op.attrs) values.push_back(f.fallback);
  for (const Given& g : given) {
    int i = 0;
    while (i < op.attrs.size() && op.attrs[i].name != g.name) ++i;
    if (i == op.attrs.size())
      throw BrokenLaw(std::string(op.name) + " has no attribute " + std::string(g.name));
    values[static_cast<std::size_t>(i)] = {op.attrs[i].kind, false, g.value};
  }
  return values;
}

// The call of a law and every term made of it.
class Bench : public Machine {
 public:
  Bench(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in,
      const std::vector<Tensor>& other, Draw& draw, const Respondent& respondent)
      : op_(op),
        attrs_(attrs),
        draw_(draw),
        respondent_(respondent),
        inputs_(static_cast<int>(in.size())) {
    terms_.insert(terms_.end(), in.begin(), in.end());
    terms_.insert(terms_.end(), other.begin(), other.end());
  }

  int inputs() const override { return inputs_; }
  Term input(int k) override { return {k}; }
  Term other(int k) override { return {inputs_ + k}; }
  int outputs() override {
    if (outputs_.empty()) outputs_ = responded(attrs_, {terms_.begin(), others()});
    return static_cast<int>(outputs_.size());
  }
  Term output(int k) override {
    outputs();
    return outputs_.at(static_cast<std::size_t>(k));
  }
  Term again(const Terms& in, int output) override { return again(attrs_, in, output); }
  Term again(Attributes attrs, const Terms& in, int output) override {
    return responded(attrs, tensors(in)).at(static_cast<std::size_t>(output));
  }
  Term call(string_view name, const Terms& in, GivenAttributes given, int output) override {
    const OpInfo* op = find_operator(name);
    if (!op) throw BrokenLaw("no operator " + std::string(name));
    const std::vector<Attr> attrs = attributes_of(*op, given);
    return evaluated(*op, {attrs.data(), static_cast<int>(attrs.size())}, tensors(in))
        .at(static_cast<std::size_t>(output));
  }

  Type type(Term t) const override { return of(t).type; }
  Term series(const Type& t, i64 first, i64 step) override {
    return tensor(t, [&](i64 k) { return first + k * step; });
  }
  Term drawn(const Type& t, i64 lo, i64 hi) override {
    return tensor(t, [&](i64) { return draw_(lo, hi); });
  }
  std::pair<Term, Term> split(Term x) override {
    const Tensor whole = of(x);
    const auto v = [&](i64 k) { return i64{whole.data[static_cast<std::size_t>(k)]}; };
    const Term one = tensor(whole.type, [&](i64 k) { return draw_(min(0, v(k)), max(0, v(k))); });
    const std::vector<i32> taken = of(one).data;
    const Term rest =
        tensor(whole.type, [&](i64 k) { return v(k) - taken[static_cast<std::size_t>(k)]; });
    return {one, rest};
  }
  i64 draw(i64 lo, i64 hi) override { return draw_(lo, hi); }

  const Tensor& of(Term t) const { return terms_.at(static_cast<std::size_t>(t.number)); }
  /// Whether the law made a call of its own operator, whoever answered it.
  bool asked() const { return asked_; }

 private:
  std::vector<Tensor>::iterator others() { return terms_.begin() + inputs_; }
  std::vector<Tensor> tensors(const Terms& in) const {
    std::vector<Tensor> t;
    for (Term x : in) t.push_back(of(x));
    return t;
  }
  Term keep(Tensor t) {
    terms_.push_back(std::move(t));
    return {static_cast<int>(terms_.size()) - 1};
  }
  template <class F> Term tensor(const Type& t, F value) {
    Tensor made{t, {}};
    for (i64 k = 0; k < volume(t.shape); ++k) made.data.push_back(static_cast<i32>(value(k)));
    return keep(std::move(made));
  }
  std::vector<Term> kept(std::vector<Tensor> tensors) {
    std::vector<Term> terms;
    for (Tensor& t : tensors) terms.push_back(keep(std::move(t)));
    return terms;
  }
  [[noreturn]] static void refused(
      const OpInfo& op, const std::string& label, const std::string& message) {
    const std::string own = std::string(op.name) + ".";
    if (label == own + "shape" || label == own + "precision") throw Silence();
    throw BrokenLaw(label + ": " + message);
  }
  std::vector<Term> evaluated(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) {
    Outcome y = evaluate(op, attrs, in);
    if (y.status != Status::ok) refused(op, y.label, y.message);
    return kept(std::move(y.out));
  }
  // The same, answered by the respondent, which may be wrong: a value outside its precision must
  // not reach another call, which would then be illegal.
  std::vector<Term> responded(Attributes attrs, const std::vector<Tensor>& in) {
    asked_ = true;
    if (!respondent_) return evaluated(op_, attrs, in);
    std::vector<Type> types;
    for (const Tensor& t : in) types.push_back(t.type);
    const Refusal r = check(op_, attrs, {types.data(), static_cast<int>(types.size())});
    if (r.refused()) refused(op_, r.label(), "the law's call is illegal");
    std::optional<std::vector<Tensor>> y = respondent_(attrs, in);
    if (!y) throw Silence();
    for (const Tensor& t : *y)
      for (i32 v : t.data)
        if (magnitude(v) > max_of(t.type.precision))
          throw BrokenLaw("a result is " + std::to_string(v) + ", outside its precision " +
              std::to_string(t.type.precision));
    return kept(std::move(*y));
  }

  const OpInfo& op_;
  Attributes attrs_;
  Draw& draw_;
  const Respondent& respondent_;
  int inputs_;
  std::vector<Tensor> terms_;  // inputs, other values for them, then whatever was made
  std::vector<Term> outputs_;
  bool asked_ = false;
};

// How two tensors differ; empty if they do not.
std::string difference(const Tensor& a, const Tensor& b) {
  if (!(a.type.shape == b.type.shape))
    return "the left side has the shape " + shape_text(a.type.shape) + ", the right side " +
        shape_text(b.type.shape);
  const auto at = std::mismatch(a.data.begin(), a.data.end(), b.data.begin());
  if (at.first == a.data.end()) return {};
  return "element " + std::to_string(at.first - a.data.begin()) + " is " +
      std::to_string(*at.first) + " on the left side, " + std::to_string(*at.second) +
      " on the right side";
}

bool varies(const Tensor& t) {
  return std::any_of(t.data.begin(), t.data.end(), [&](i32 v) { return v != t.data[0]; });
}

}  // namespace

LawResult try_law(const OpInfo& op, int i, Attributes attrs, const std::vector<Tensor>& in,
    const std::vector<Tensor>& other, Draw& draw, const Respondent& respondent) {
  LawResult r;
  if (std::ssize(in) > kMaxDrawn) return r;  // more than Terms hold
  try {
    Bench bench(op, attrs, in, other, draw, respondent);
    const Claim claim = op.claim(i, attrs, bench);
    for (int k = 0; k < claim.left.count; ++k) {
      const Tensor &left = bench.of(claim.left.item[k]), &right = bench.of(claim.right.item[k]);
      r.message = difference(left, right);
      if (!r.message.empty()) return {LawResult::broken, false, r.message};
      r.kind = LawResult::holds;
      r.informative |= varies(left);
    }
    // An equation among calls of other operators says nothing of the respondent.
    return bench.asked() ? r : LawResult{};
  } catch (const Silence&) {
    return {};
  } catch (const BrokenLaw& e) {
    return {LawResult::broken, false, e.what()};
  }
}

}  // namespace lockstep::reference
