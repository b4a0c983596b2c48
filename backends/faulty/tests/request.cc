#include "backends/faulty/tests/request.h"

#include <algorithm>

#include "backends/call.h"

namespace lockstep::faulty {
namespace {

std::string text(const std::vector<TensorType>& types) {
  std::string s;
  for (const TensorType& t : types) {
    for (i64 e : t.shape) s += std::to_string(e) + " ";
    s += ": " + std::to_string(t.precision) + "; ";
  }
  return s;
}

// What `answer` says of itself, or how it fails.
template <class F> std::string said(F answer) {
  try {
    return answer();
  } catch (const backend::LogicError& e) {
    return "logic " + e.label;
  } catch (const backend::Unsupported&) {
    return "unsupported";
  } catch (const std::exception&) {
    return "runtime";
  }
}

std::vector<ls_tensor> rows(std::vector<Memory>& all, bool constants) {
  std::vector<client::TensorView> views;
  for (Memory& m : all) views.push_back(m.view(constants && !views.empty()));
  return client::rows_of(views);
}

}  // namespace

Memory::Memory(const Type& t, bool padded) {
  i64 n = 1;
  strides.resize(static_cast<std::size_t>(t.rank()));
  for (int d = t.rank() - 1; d >= 0; --d) {
    strides[static_cast<std::size_t>(d)] = n;
    n *= t.dim(d) + (padded ? 2 : 0);
  }
  extents.assign(t.shape.begin(), t.shape.end());
  cells.assign(static_cast<std::size_t>(n + 2 * kGuard), kPoison);
  precision = t.precision;
}

i64 Memory::offset(i64 element) const {
  i64 k = 0;
  for (std::size_t d = extents.size(); d-- > 0; element /= extents[d])
    k += element % extents[d] * strides[d];
  return k;
}

Request draw_request(const OpInfo& op, u64 seed) {
  using enum judge::Fill;
  constexpr judge::Fill kFills[] = {dense, boundary, max, dense, critical, min, alternating};
  const bool has_hints = std::any_of(
      op.inputs.begin(), op.inputs.end(), [](const Port& p) { return p.hint != Hint::any; });
  Seeded draw(seed);
  Request r{judge::draw_case(op, draw), seed % 3 == 0, seed % 4 == 0};
  r.call.fill = kFills[seed % std::size(kFills)];
  if (has_hints && r.call.fill != dense) r.call.fill = hinted;
  r.call.seed = seed;
  // The ratio of two small areas is rarely a drawn percentage; it often is one of these.
  constexpr i64 kPercents[] = {100, 58, 50, 29, 25, 20, 14};
  if (op.name == "non_max_suppression" && seed % 2 == 0)
    r.call.attrs[0].ints[0] = kPercents[seed / 2 % std::size(kPercents)];
  return r;
}

Request disturbed(Request r, u64 seed) {
  const u64 w = word(seed, 5, 0);
  constexpr i64 kValues[] = {-1, 0, 5000, 33, -(i64{1} << 40)};
  Type& t = r.call.in[w % r.call.in.size()];
  if (w / 8 % 4 == 0) t.precision = w / 64 % 2 ? 33 : 32;
  if (w / 8 % 4 == 1) ++t.shape[static_cast<int>(w / 64 % static_cast<u64>(t.rank()))];
  if (w / 8 % 4 > 1 && !r.call.attrs.empty()) {
    Attr& a = r.call.attrs[w / 64 % r.call.attrs.size()];
    if (a.kind == AttrKind::integer || (a.kind == AttrKind::tuple && a.ints.size > 0))
      a.ints[0] = kValues[w / 1024 % std::size(kValues)];
  }
  return r;
}

Observed observe(Behaviour& subject, const Request& r, i64 run) {
  const judge::Case& c = r.call;
  const client::Attributes attrs = client::attributes_of(*c.op, c.attributes());
  std::vector<Memory> in, out;
  for (const Type& t : c.in) in.emplace_back(t, r.padded);
  if (!judge::refusal(c).refused()) {
    const std::vector<judge::Tensor> values = judge::inputs_of(c);
    for (std::size_t k = 0; k < in.size(); ++k)
      for (i64 e = 0; e < std::ssize(values[k].data); ++e)
        in[k].data()[in[k].offset(e)] = values[k].data[static_cast<std::size_t>(e)];
    const Inferred y = c.op->infer(c.attributes(), c.types());
    for (int k = 0; k < y.count; ++k) out.emplace_back(y[k], r.padded);
  }
  const std::vector<ls_tensor> x = rows(in, r.constants), y = rows(out, false);
  const Call call{c.op->name, attrs.rows(), x, y};
  Observed seen;
  seen.threads = subject.reported_threads();
  seen.inferred = said([&] { return text(subject.infer(call)); });
  seen.refused = said([&] {
    const LegalCall ready = subject.prepare(call);
    std::vector<const i32*> from;
    std::vector<i32*> to;
    for (Memory& m : in) from.push_back(m.data());
    for (Memory& m : out) to.push_back(m.data());
    subject.execute_run(ready, from.data(), to.data(), run);
    seen.path = subject.path();
    return std::string();
  });
  for (const Memory& m : in) seen.inputs.push_back(m.cells);
  for (const Memory& m : out) seen.outputs.push_back(m.cells);
  return seen;
}

}  // namespace lockstep::faulty
