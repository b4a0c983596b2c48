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

bool is_large(const Case& c) {
  constexpr i64 kNotLarge = i64{1} << 17;
  return elements_of(c) > kNotLarge;
}

Item::What what_of(const Case& c, i64 most) {
  if (refusal(c).refused()) return Item::illegal;
  return elements_of(c) > most ? Item::typed : Item::legal;
}

}  // namespace lockstep::judge
