#include "conformance/cases/call_graph.h"

#include <algorithm>

#include "conformance/base/text.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr u64 kSalt = 17;
constexpr i64 kMostElements = 512;  // of an entry
constexpr i64 kMostCalls = 8;       // beside the case's own

i64 elements(const std::vector<Tensor>& tensors) {
  i64 n = 0;
  for (const Tensor& t : tensors) n += volume(t.type.shape);
  return n;
}

Tensor drawn_values(const Type& type, Draw& draw) {
  Tensor t{type, {}};
  const i64 most = max_of(type.precision);
  for (i64 k = volume(type.shape); k > 0; --k)
    t.data.push_back(static_cast<i32>(draw(-most, most)));
  return t;
}

// Builds a graph from its inputs on. Constants are collected apart, and get their numbers last.
class Builder {
 public:
  Builder(const Case& c, const std::function<bool(const Case&)>& claimed)
      : case_(c), claimed_(claimed), draw_(word(c.seed, kSalt, hash_of_name(c.op->name))) {}

  CallGraph build(const std::vector<Tensor>& in, const std::vector<Tensor>& out) {
    std::vector<int> inputs;
    const bool has_constants = draw_.coin(), is_made = draw_.coin();
    for (std::size_t k = 0; k < in.size(); ++k)
      inputs.push_back(k == 0 && is_made ? negated(in[0]) : given(in[k], k > 0 && has_constants));
    results_.push_back(append({case_.op, case_.attrs, inputs, {}}, out));
    const i64 calls = draw_(0, kMostCalls);
    for (i64 tries = 2 * calls; tries > 0 && std::ssize(g_.nodes) < calls; --tries) try_call();
    choose_heads();
    return numbered();
  }

 private:
  static u64 hash_of_name(string_view name) {
    u64 h = 0;
    for (const char c : name) h = word(h, kSalt, static_cast<u64>(c));
    return h;
  }
  int add(Tensor t) {
    g_.entries.push_back(std::move(t));
    return static_cast<int>(g_.entries.size()) - 1;
  }
  int given(const Tensor& t, bool constant) {
    const int e = add(t);
    (constant ? constants_ : feeds_).push_back(e);
    return e;
  }
  // The same values as the result of a call.
  int negated(Tensor t) {
    Case c{.op = find_operator("negative"), .in = {t.type}};
    if (!claimed_(c)) return given(t, false);
    const Tensor right = t;
    for (i32& v : t.data) v = -v;
    const int feed = given(t, false);
    return append({c.op, {}, {feed}, {}}, {right});
  }
  // @return the entry of its first output
  int append(CallGraph::Node n, const std::vector<Tensor>& out) {
    for (const Tensor& t : out) n.out.push_back(add(t));
    g_.nodes.push_back(std::move(n));
    return g_.nodes.back().out[0];
  }

  // Appends a call of any operator that reads an entry, if the call that its domain draws is legal
  // with that entry's type.
  void try_call() {
    const auto& all = operators();
    const OpInfo& op = *all[static_cast<std::size_t>(draw_(0, std::ssize(all) - 1))];
    Case c = draw_case(op, draw_);
    const bool reads_many = draw_.coin();
    std::vector<int> inputs;
    std::vector<Tensor> in;
    for (std::size_t k = 0; k < c.in.size(); ++k) {
      const bool reads = k == 0 || reads_many;
      inputs.push_back(reads ? drawn_entry() : -1);
      in.push_back(reads ? g_.entries[static_cast<std::size_t>(inputs[k])] : Tensor{c.in[k], {}});
      c.in[k] = in[k].type;
    }
    if (refusal(c).refused() || !claimed_(c)) return;
    const Inferred types = op.infer(c.attributes(), c.types());
    for (int k = 0; k < types.count; ++k)
      if (volume(types[k].shape) > kMostElements) return;
    if (elements(in) > kMostCalls * kMostElements) return;
    for (std::size_t k = 0; k < in.size(); ++k)
      if (inputs[k] < 0) {
        in[k] = drawn_values(c.in[k], draw_);
        inputs[k] = given(in[k], true);
      }
    results_.push_back(
        append({&op, c.attrs, inputs, {}}, reference::outputs(op, c.attributes(), in)));
  }

  // Recent results rather than older entries.
  int drawn_entry() {
    return draw_(0, 2) > 0 ? results_.back()
                           : static_cast<int>(draw_(0, std::ssize(g_.entries) - 1));
  }

  // The last result, and sometimes an earlier one.
  void choose_heads() {
    g_.heads = {results_.back()};
    const int other = results_[static_cast<std::size_t>(draw_(0, std::ssize(results_) - 1))];
    if (draw_.coin() && other != g_.heads[0]) g_.heads.push_back(other);
  }

  // Feeds first, then constants, then results in their order.
  CallGraph numbered() {
    std::vector<int> order = feeds_;
    order.insert(order.end(), constants_.begin(), constants_.end());
    const std::size_t count = order.size();
    for (int e = 0; e < std::ssize(g_.entries); ++e)
      if (std::find(order.begin(), order.begin() + std::ptrdiff_t(count), e) ==
          order.begin() + std::ptrdiff_t(count))
        order.push_back(e);
    std::vector<int> now(order.size());
    CallGraph g{std::move(g_.nodes), {}, static_cast<int>(feeds_.size()), static_cast<int>(count),
        g_.heads};
    for (std::size_t k = 0; k < order.size(); ++k) {
      now[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
      g.entries.push_back(std::move(g_.entries[static_cast<std::size_t>(order[k])]));
    }
    const auto renumber = [&](std::vector<int>& all) {
      for (int& e : all) e = now[static_cast<std::size_t>(e)];
    };
    for (CallGraph::Node& n : g.nodes) {
      renumber(n.in);
      renumber(n.out);
    }
    renumber(g.heads);
    return g;
  }

  const Case& case_;
  const std::function<bool(const Case&)>& claimed_;
  Seeded draw_;
  CallGraph g_;
  std::vector<int> feeds_, constants_, results_;
};

}  // namespace

CallGraph graph_around(const Case& c, const std::vector<Tensor>& in, const std::vector<Tensor>& out,
    const std::function<bool(const Case&)>& claimed) {
  return Builder(c, claimed).build(in, out);
}

std::string graph_text(const CallGraph& g) {
  const auto names = [](const std::vector<int>& entries) {
    std::string s;
    for (const int e : entries) s += (s.empty() ? "e" : ", e") + std::to_string(e);
    return s;
  };
  std::string s;
  for (const CallGraph::Node& n : g.nodes)
    s += names(n.out) + " = " + operator_text(*n.op, n.attrs) + "(" + names(n.in) + "); ";
  return s + (g.heads.size() == 1 ? "head " : "heads ") + names(g.heads);
}

}  // namespace lockstep::judge
