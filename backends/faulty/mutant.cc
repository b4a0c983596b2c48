#include "backends/faulty/mutant.h"

namespace lockstep::faulty {
namespace {

template <class Checked, class V> std::vector<Checked> checked(const std::vector<V>& views) {
  std::vector<Checked> all;
  for (const V& v : views) {
    Checked c(v, v.data);
    std::copy(std::begin(v.stride), std::end(v.stride), std::begin(c.stride));
    c.compact = v.compact;
    all.push_back(c);
  }
  return all;
}

void run(void (*evaluate)(Attributes, In, Results), const LegalCall& call, const i32* const* in,
    i32* const* out) {
  const auto x = checked<CheckedView>(backend::bound(call.in, in));
  const auto y = checked<CheckedOut>(backend::bound(call.out, out));
  evaluate(call.attributes(), {x.data(), static_cast<int>(x.size())},
      {y.data(), static_cast<int>(y.size())});
}

class WrongValues : public Behaviour {
 public:
  explicit WrongValues(const Mutant& m) : mutant_(m) {}
  void execute(const LegalCall& call, const i32* const* in, i32* const* out) const override {
    run(call.op->name == mutant_.op ? mutant_.evaluate : call.op->evaluate, call, in, out);
  }

 private:
  const Mutant mutant_;
};

}  // namespace

void Behaviour::execute(const LegalCall& call, const i32* const* in, i32* const* out) const {
  run(call.op->evaluate, call, in, out);
}

std::unique_ptr<Behaviour> Mutant::behaviour() const {
  return make ? make() : std::make_unique<WrongValues>(*this);
}

const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> m;
    for (Span<Mutant> family : {unary_mutants(), pair_mutants(), reduce_mutants(), nn_mutants(),
             xform_mutants(), index_mutants(), detect_mutants(), infer_mutants(),
             contract_mutants(), scale_mutants(), way_mutants()})
      m.insert(m.end(), family.begin(), family.end());
    return m;
  }();
  return all;
}

const Mutant* find_mutant(string_view name) {
  for (const Mutant& m : mutants())
    if (m.name == name) return &m;
  return nullptr;
}

}  // namespace lockstep::faulty
