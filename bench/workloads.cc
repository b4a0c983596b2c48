#include "bench/workloads.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace lockstep::bench {
namespace {

constexpr u64 kDraws = 64;

using judge::Case;

i64 largest_volume(const Case& c) {
  i64 most = 0;
  for (const Type& t : c.in) most = max(most, volume(t.shape));
  const Inferred out = c.op->infer(c.attributes(), c.types());
  for (int k = 0; k < out.count; ++k) most = max(most, volume(out[k].shape));
  return most;
}

// An operator with `eval` may need quadratic time, so its workload is smaller.
i64 wanted_volume(const OpInfo& op) { return op.pointwise ? kDrawnVolume : kDrawnVolume >> 7; }

bool grown(const Case& c) { return largest_volume(c) >= wanted_volume(*c.op); }

// Which extents, and which integers of attributes, are doubled together.
enum class Together { alone, same_axis, same_axis_from_the_back, equal_values };

bool joins(Together how, const Type& chosen, int d, const Type& t, int e) {
  if (t.dim(e) != chosen.dim(d)) return false;
  if (how == Together::same_axis) return e == d;
  if (how == Together::same_axis_from_the_back) return t.rank() - e == chosen.rank() - d;
  return how == Together::equal_values;
}

Case doubled(const Case& c, std::size_t k, int d, Together how) {
  Case big = c;
  const i64 n = c.in[k].dim(d);
  for (std::size_t j = 0; j < c.in.size(); ++j)
    for (int e = 0; e < c.in[j].rank(); ++e)
      if ((j == k && e == d) || joins(how, c.in[k], d, c.in[j], e)) big.in[j].shape[e] = 2 * n;
  if (how != Together::equal_values) return big;
  for (Attr& a : big.attrs)
    if (a.kind == AttrKind::integer || a.kind == AttrKind::tuple)
      for (int i = 0; i < a.ints.size; ++i)
        if (a.ints[i] == n) a.ints[i] = 2 * n;
  return big;
}

bool usable(const Case& c) {
  return !judge::refusal(c).refused() && largest_volume(c) <= 4 * wanted_volume(*c.op);
}

// Doubles one extent and as few others as a legal call requires.
bool grow(Case& c, std::size_t k, int d) {
  for (Together how : {Together::alone, Together::same_axis, Together::same_axis_from_the_back,
           Together::equal_values})
    if (Case big = doubled(c, k, d, how); usable(big)) {
      c = std::move(big);
      return true;
    }
  return false;
}

// Doubles extents in turn, so that all of them grow.
void grow(Case& c) {
  for (bool any = true; any && !grown(c);) {
    any = false;
    for (std::size_t k = 0; k < c.in.size(); ++k)
      for (int d = 0; d < c.in[k].rank() && !grown(c); ++d) any = grow(c, k, d) || any;
  }
}

// Whether the outputs vary, since a constant output hides mistakes.
bool varies(const Case& c) {
  const auto out = reference::outputs(*c.op, c.attributes(), judge::inputs_of(c));
  return std::all_of(out.begin(), out.end(), [](const reference::Tensor& t) {
    return std::adjacent_find(t.data.begin(), t.data.end(), std::not_equal_to<>()) != t.data.end();
  });
}

constexpr std::string_view kMatrix = "matrix";

Workload named_workload(const Named& n) {
  const bool filled = n.call.find("/fill=") != std::string::npos;
  Workload w{n.name, judge::parse_case(n.call + (filled ? "" : "/fill=dense:1"))};
  if (n.tiny)
    w.unit = Unit::calls;
  else if (family_of(*w.call.op) == kMatrix)
    w.unit = Unit::macs;
  if (const Refusal r = judge::refusal(w.call); r.refused())
    throw std::logic_error("the workload " + w.id() + " is refused: " + r.label());
  return w;
}

// The rest of a line as words.
template <class T> std::vector<T> rest_of(std::istringstream& line) {
  return {std::istream_iterator<T>(line), std::istream_iterator<T>()};
}

// Reads one line into the table; false if it has no meaning.
bool read_line(std::istringstream& line, WorkloadTable& table) {
  std::string first, second;
  line >> first >> second;
  if (second.empty()) return false;
  if (first == "family") {
    const auto ops = rest_of<std::string>(line);
    for (const std::string& op : ops)
      if (!table.families.emplace(op, second).second) return false;
    return !ops.empty();
  }
  if (first == "partly") {
    const auto inputs = rest_of<std::size_t>(line);
    return line.eof() && table.partly.emplace(second, inputs).second;
  }
  const auto words = rest_of<std::string>(line);
  table.calls.push_back({first, second, !words.empty()});
  return second.find("/in=") != std::string::npos &&
      (words.empty() || words == std::vector<std::string>{"calls"});
}

}  // namespace

WorkloadTable parse_workloads(const std::string& text) {
  WorkloadTable table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    if (!read_line(words, table)) throw std::logic_error("workloads.txt: what is '" + line + "'?");
  }
  return table;
}

const WorkloadTable& workload_table() {
  static const WorkloadTable table = parse_workloads(kWorkloadsText);
  return table;
}

std::string family_of(const OpInfo& op) {
  const auto& families = workload_table().families;
  const auto at = families.find(op.name);
  return at == families.end() ? "other" : at->second;
}

std::string family_of(const Workload& w) {
  if (w.unit == Unit::calls) return "";
  return w.call.layout == judge::Layout::compact ? family_of(*w.call.op) : "layouts";
}

i64 Workload::units() const {
  if (unit == Unit::calls) return 1;
  if (unit == Unit::bytes) return bytes();
  // Each output element uses one row of the weights.
  const Shape& weights = call.in[1].shape;
  return volume(outputs()[0].shape) * (volume(weights) / weights[0]);
}

i64 Workload::bytes() const {
  i64 written = 0, read = 0;
  const Inferred out = outputs();
  for (int k = 0; k < out.count; ++k) written += volume(out[k].shape);
  const auto& partly = workload_table().partly;
  if (const auto whole = partly.find(call.op->name); whole != partly.end()) {
    read = written;
    for (std::size_t k : whole->second) read += volume(call.in[k].shape);
  } else {
    for (const Type& t : call.in) read += volume(t.shape);
  }
  return (read + written) * static_cast<i64>(sizeof(i32));
}

Workload drawn_workload(const OpInfo& op) {
  for (u64 seed = 1; seed <= kDraws; ++seed) {
    Seeded draw(seed);
    Case c = judge::draw_case(op, draw);
    c.fill = judge::Fill::hinted;
    c.seed = seed;
    if (!varies(c)) continue;
    grow(c);
    if (grown(c)) return {"drawn", std::move(c), Unit::bytes};
  }
  throw std::logic_error("no draw of " + std::string(op.name) + " grows to " +
      std::to_string(wanted_volume(op)) + " elements");
}

std::vector<Workload> workloads(const OpInfo& op) {
  std::vector<Workload> all;
  for (const Named& n : workload_table().calls)
    if (n.call.substr(0, n.call.find('/')) == op.name) all.push_back(named_workload(n));
  if (all.empty()) all.push_back(drawn_workload(op));
  return all;
}

}  // namespace lockstep::bench
