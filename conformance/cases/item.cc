#include "conformance/cases/item.h"

namespace lockstep::judge {

i64 elements_of(const Case& c) {
  i64 n = 0;
  for (const Type& t : c.in) n += volume(t.shape);
  if (refusal(c).refused()) return n;
  const Inferred y = c.op->infer(c.attributes(), c.types());
  for (int k = 0; k < y.count; ++k) n += volume(y[k].shape);
  return n;
}

bool is_large(const Case& c) { return elements_of(c) > kNotLarge; }

bool is_repeated(const Case& c) {
  constexpr i64 kMostElements = kNotLarge / 4 * 5, kMostWork = i64{1} << 22;
  const i64 all = elements_of(c);
  if (all <= kNotLarge || all > kMostElements) return false;
  // An operator that is defined as a whole compares the rows of a batch with each other.
  const i64 of_element = c.op->pointwise ? c.op->gas(c.attributes(), c.types()) : c.in[0].dim(1);
  return of_element * all <= kMostWork;
}

Item::What what_of(const Case& c, i64 most) {
  if (refusal(c).refused()) return Item::illegal;
  return elements_of(c) > most ? Item::typed : Item::legal;
}

}  // namespace lockstep::judge
