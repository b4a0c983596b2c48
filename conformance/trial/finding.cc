#include "conformance/trial/finding.h"

#include <fmt/format.h>

#include "spec/text.h"

namespace lockstep::judge {
namespace {

struct Wrong {
  std::size_t output = 0;
  i64 first = 0, count = 0;
};

// Whether the wrong elements are exactly those for which `inside` holds.
template <class F> bool exactly(const Tensor& want, const std::vector<i32>& got, F inside) {
  Index y = Index::filled(want.type.rank(), 0);
  for (std::size_t k = 0; k < got.size(); ++k) {
    if ((got[k] != want.data[k]) != inside(y)) return false;
    next(y, want.type.shape);
  }
  return true;
}

// Describes where the wrong elements are, in terms that a kernel's author recognises.
std::string pattern(const Tensor& want, const std::vector<i32>& got, i64 wrong) {
  if (wrong == std::ssize(got)) return got.size() > 1 ? "every element" : "";
  const Shape& s = want.type.shape;
  for (int d = s.size - 1; d >= 0; --d) {
    if (exactly(want, got, [&](const Index& y) { return y[d] == s[d] - 1; }))
      return fmt::format("exactly the last index of axis {}", d);
    if (exactly(want, got, [&](const Index& y) { return y[d] == 0; }))
      return fmt::format("exactly index 0 of axis {}", d);
    for (i64 m : {4, 8, 16, 32, 64})
      if (s[d] > m && exactly(want, got, [&](const Index& y) { return y[d] >= s[d] / m * m; }))
        return fmt::format("exactly the tail of axis {} after multiples of {}", d, m);
    // A single wrong element has no period.
    for (i64 m : {2, 4, 8, 16})
      for (i64 r = 0; wrong > 1 && s[d] > m && r < m; ++r)
        if (exactly(want, got, [&](const Index& y) { return y[d] % m == r; }))
          return fmt::format("exactly where index {} mod {} = {}", d, m, r);
  }
  return "";
}

// The first wrong elements, and what all of them have in common.
Finding found(const Wrong& w, const Tensor& want, const std::vector<i32>& got) {
  Finding f;
  f.hint = pattern(want, got, w.count);
  for (auto k = static_cast<std::size_t>(w.first); k < got.size(); ++k) {
    if (got[k] == want.data[k]) continue;
    if (f.elements.size() == kElements) break;
    const Index at = unravel(static_cast<i64>(k), want.type.shape);
    f.elements.push_back(
        {static_cast<i64>(w.output), {at.begin(), at.end()}, want.data[k], got[k]});
  }
  const Element& first = f.elements[0];
  f.text = fmt::format(
      "output {} at [{}]: expected {} (0x{:08x}), got {} (0x{:08x}); {} of {} elements differ{}",
      first.output, fmt::join(first.index, ","), first.expected,
      static_cast<std::uint32_t>(first.expected), first.got, static_cast<std::uint32_t>(first.got),
      w.count, got.size(), f.hint.empty() ? "" : ": " + f.hint);
  return f;
}

// How the types that an adapter states differ from the expected ones; nothing if it states none.
std::optional<Finding> other_types(const std::vector<Tensor>& expected, const Answer& got) {
  if (got.types.empty()) return std::nullopt;
  if (got.types.size() != expected.size())
    return Finding{fmt::format("{} types, {} expected", got.types.size(), expected.size()), {}};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Type& t = expected[k].type;
    const TensorType want{
        {t.shape.begin(), t.shape.end()}, got.types[k].precision == 0 ? 0 : t.precision};
    if (!(got.types[k] == want))
      return Finding{fmt::format("output {}: expected {}, got {}", k, type_text(want),
                         type_text(got.types[k])),
          {}};
  }
  return std::nullopt;
}

}  // namespace

std::string type_text(const TensorType& t) {
  const std::string shape = shape_text(t.shape);
  return t.precision == 0 ? shape : fmt::format("{} of precision {}", shape, t.precision);
}

std::string answer_text(const Answer& a) {
  std::string text(name_of(a.kind));
  if (!a.label.empty()) text += " " + a.label;
  if (!a.message.empty()) text += ": " + a.message;
  return text;
}

std::optional<Finding> difference(const std::vector<Tensor>& expected, const Answer& got) {
  if (!got.ok())
    return Finding{(got.gone() ? "" : "answered ") + answer_text(got), got.kind, {}, {}, got.label};
  if (std::optional<Finding> f = other_types(expected, got)) return f;
  if (got.out.size() != expected.size())
    return Finding{fmt::format("{} outputs, {} expected", got.out.size(), expected.size()), {}};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (got.out[k].size() != expected[k].data.size())
      return Finding{fmt::format("output {} has {} elements, {} expected", k, got.out[k].size(),
                         expected[k].data.size()),
          {}};
    if (got.out[k] == expected[k].data) continue;
    Wrong w{k, -1, 0};
    for (std::size_t i = 0; i < got.out[k].size(); ++i)
      if (got.out[k][i] != expected[k].data[i]) {
        if (w.count++ == 0) w.first = static_cast<i64>(i);
      }
    return found(w, expected[k], got.out[k]);
  }
  return std::nullopt;
}

}  // namespace lockstep::judge
