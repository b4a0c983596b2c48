#include "backends/faulty/tests/request.h"

#include <algorithm>

#include "backends/call.h"

namespace lockstep::faulty {
namespace {

// Rows (id, score, x1, y1, x2, y2): few ids and scores, and boxes that share corners.
i64 box_value(u64 seed, i64 i) {
  const u64 w = word(seed, 3, static_cast<u64>(i)), row = word(seed, 4, static_cast<u64>(i / 6));
  switch (i % 6) {
    case 0:
      return within(w, -1, 1);
    case 1:
      return within(w, -3, 3);
    case 2:
    case 3:
      return within(row >> (8 * (i % 2)), 0, 5);
    default:
      return within(row >> (8 * (i % 2)), 0, 5) + within(w, -1, 9);
  }
}

i64 value(const Request& r, int k, u64 seed, i64 i) {
  const Port& port = r.op->inputs[std::min(k, r.op->inputs.size() - 1)];
  const i64 a = max_of(r.drawn.in[k].precision);
  const u64 w = word(seed, static_cast<u64>(k), static_cast<u64>(i));
  const i64 style = within(mix(seed), 0, 4);
  if (port.hint == Hint::boxes && style > 0)
    return style == 4 ? box_value(seed, i) * (i % 6 < 2 ? 1 : 30000) : box_value(seed, i);
  if (port.hint == Hint::score && style > 0) return within(w, -3, 3);
  if (port.hint == Hint::count && style > 0) return within(w, -1, r.drawn.in[0].dim(1) + 1);
  if (port.hint == Hint::index && style > 0) return within(w, -3, 12);
  if (style == 1) return max(a - within(w, 0, 2), 0);
  if (style == 2) return -max(a - within(w, 0, 2), 0);
  if (style == 3) return w % 2 == 0 ? a : -a;
  return style == 4 ? within(w, -4, 4) : within(w, -a, a);
}

void fill(Request& r, u64 seed) {
  r.data.clear();
  for (int k = 0; k < r.drawn.in_count; ++k) {
    const Type& t = r.drawn.in[k];
    const i64 a = max_of(t.precision);
    std::vector<i32>& v = r.data.emplace_back();
    for (i64 i = 0, n = volume(t.shape); i < n; ++i)
      v.push_back(static_cast<i32>(clamp(value(r, k, seed, i), -a, a)));
  }
}

std::string text(const std::vector<TensorType>& types) {
  std::string s;
  for (const TensorType& t : types) {
    for (i64 e : t.shape) s += std::to_string(e) + " ";
    s += ": " + std::to_string(t.precision) + "; ";
  }
  return s;
}

// What `answer` says of itself, or how it fails.
template <class F>
std::string said(F answer) {
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
  Seeded draw(seed);
  Request r;
  r.op = &op;
  op.domain(draw, r.drawn);
  // Ratios of small areas are rarely a drawn percentage; these are ones they often are.
  constexpr i64 kPercents[] = {100, 58, 50, 29, 25, 20, 14};
  if (op.name == "non_max_suppression" && seed % 2 == 0)
    r.drawn.attrs[0].ints[0] = kPercents[seed / 2 % std::size(kPercents)];
  r.padded = seed % 3 == 0;
  r.constants = seed % 4 == 0;
  fill(r, seed);
  return r;
}

Request example_request(const OpInfo& op, int i) {
  const AnyExample e = op.example(i);
  Request r{&op, e.call, {}};
  for (int k = 0; k < e.call.in_count; ++k) {
    std::vector<i32>& v = r.data.emplace_back();
    for (i64 x : e.in[k].data) v.push_back(static_cast<i32>(x));
  }
  return r;
}

Request disturbed(Request r, u64 seed) {
  const u64 w = word(seed, 5, 0);
  constexpr i64 kValues[] = {-1, 0, 5000, 33, -(i64{1} << 40)};
  Type& t = r.drawn.in[w % static_cast<u64>(r.drawn.in_count)];
  switch (w / 8 % 4) {
    case 0:
      t.precision = w / 64 % 2 ? 33 : 32;
      break;
    case 1:
      ++t.shape[static_cast<int>(w / 64 % static_cast<u64>(t.rank()))];
      break;
    default:
      if (r.drawn.attr_count > 0) {
        Attr& a = r.drawn.attrs[w / 64 % static_cast<u64>(r.drawn.attr_count)];
        if (a.kind == AttrKind::integer || (a.kind == AttrKind::tuple && a.ints.size > 0))
          a.ints[0] = kValues[w / 1024 % std::size(kValues)];
      }
  }
  fill(r, seed);
  return r;
}

Observed observe(Behaviour& subject, const Request& r) {
  const client::Attributes attrs = client::attributes_of(*r.op, r.drawn.attributes());
  std::vector<Memory> in, out;
  for (int k = 0; k < r.drawn.in_count; ++k) {
    Memory& m = in.emplace_back(r.drawn.in[k], r.padded);
    const auto& values = r.data[static_cast<std::size_t>(k)];
    for (std::size_t e = 0; e < values.size(); ++e)
      m.data()[m.offset(static_cast<i64>(e))] = values[e];
  }
  const bool legal = !check(*r.op, r.drawn.attributes(), r.drawn.types()).refused();
  if (legal) {
    const Inferred y = r.op->infer(r.drawn.attributes(), r.drawn.types());
    for (int k = 0; k < y.count; ++k) out.emplace_back(y[k], r.padded);
  }
  const std::vector<ls_tensor> x = rows(in, r.constants), y = rows(out, false);
  const Call call{r.op->name, attrs.rows(), x, y};
  Observed seen;
  seen.threads = subject.reported_threads();
  seen.inferred = said([&] { return text(subject.infer(call)); });
  seen.refused = said([&] {
    const LegalCall ready = subject.prepare(call);
    std::vector<const i32*> from;
    std::vector<i32*> to;
    for (Memory& m : in) from.push_back(m.data());
    for (Memory& m : out) to.push_back(m.data());
    subject.execute(ready, from.data(), to.data());
    seen.path = subject.path();
    return std::string();
  });
  for (const Memory& m : in) seen.inputs.push_back(m.cells);
  for (const Memory& m : out) seen.outputs.push_back(m.cells);
  return seen;
}

}  // namespace lockstep::faulty
