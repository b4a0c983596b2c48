#include "backends/cpu/graph.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "backends/cpu/conv2d.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/groups.h"
#include "backends/cpu/max_pool2d.h"
#include "backends/cpu/movement.h"
#include "backends/cpu/pack.h"
#include "backends/cpu/plans.h"
#include "backends/cpu/storage.h"
#include "spec/ops/concatenate.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"
#include "spec/ops/max_pool2d.h"

namespace lockstep::cpu {
namespace {

class GraphPlan : public Plan {
 public:
  GraphPlan(std::vector<GraphStep> steps, std::vector<Place> places, u64 arena,
      std::vector<std::vector<i32>> folded)
      : steps_(std::move(steps)),
        places_(std::move(places)),
        arena_(arena),
        folded_(std::move(folded)) {
    for (const GraphStep& s : steps_) {
      node_scratch_ = std::max(node_scratch_, s.plan->scratch_bytes());
      most_in_ = std::max(most_in_, s.in.size());
      most_out_ = std::max(most_out_, s.out.size());
    }
    pointers_ = rounded((most_in_ + most_out_) * sizeof(void*));
    name_steps();
  }
  /// Scratch memory holds the arena, the addresses of one step, and the step's own scratch memory.
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    char* const room = static_cast<char*>(scratch);
    const auto address = [&](Entry e) -> i32* {
      const Place& p = places_[e];
      if (p.kind == Place::arena) return reinterpret_cast<i32*>(room + p.at);
      i32* const begin = p.kind == Place::head
          ? out[p.number]
          : const_cast<i32*>(p.kind == Place::feed ? in[p.number] : p.data);
      return begin + p.at / sizeof(i32);
    };
    auto** const from = reinterpret_cast<const i32**>(room + arena_);
    auto** const to = reinterpret_cast<i32**>(room + arena_) + most_in_;
    for (const GraphStep& s : steps_) {
      std::transform(s.in.begin(), s.in.end(), from, address);
      std::transform(s.out.begin(), s.out.end(), to, address);
      s.plan->run(from, to, room + arena_ + pointers_);
    }
  }
  uint64_t scratch_bytes() const override { return arena_ + pointers_ + node_scratch_; }
  /// The paths of the steps, each with its number of steps.
  const char* path() const override { return path_.c_str(); }

 private:
  void name_steps() {
    std::map<std::string_view, int> counts;
    for (const GraphStep& s : steps_) ++counts[s.plan->path()];
    path_ = "graph";
    for (const auto& [path, count] : counts)
      path_.append(" ").append(path).append("*").append(std::to_string(count));
  }

  std::vector<GraphStep> steps_;
  std::vector<Place> places_;
  u64 arena_, pointers_ = 0, node_scratch_ = 0;
  std::size_t most_in_ = 0, most_out_ = 0;
  std::vector<std::vector<i32>> folded_;
  std::string path_;
};

template <class Op> bool is(const OpInfo& op) { return op.name == Op::name; }

Joins joins_of(const Isa* isa) {
  return {isa != nullptr, [isa](const backend::LegalCall& call) {
            return isa && (is<Conv2d>(*call.op) || is<Dense>(*call.op));
          }};
}

class Compiler {
 public:
  Compiler(const backend::Graph& g, const std::shared_ptr<ThreadPool>& pool, const Isa* isa)
      : graph_(g),
        grouping_(g, joins_of(isa)),
        tensors_(grouping_.tensors()),
        pool_(pool),
        isa_(isa),
        constants_(g.entries.size()),
        joins_(g.entries.size()),
        forms_(g.entries.size()),
        wholes_(g.entries.size()) {
    for (Entry e = 0; e < tensors_.size(); ++e)
      if (g.is_int8(e))
        constants_[e].narrow = static_cast<const int8_t*>(tensors_[e].dl.data);
      else if (g.is_constant(e))
        constants_[e].wide = static_cast<const i32*>(tensors_[e].dl.data);
    for (const Entry e : g.heads) widen(e);
    for (const Group& group : grouping_.groups()) {
      for (std::size_t k = 0; k < group.in.size(); ++k)
        if (!group.finish || k != Conv2d::W) widen(group.in[k]);
      if (group.is_constant) fold(group);
      if (is<Concatenate>(*group.call.op))
        for (const Entry e : group.in) ++joins_[e];
    }
    if (isa_) choose_forms();
    give_places();
    for (const Group& group : grouping_.groups())
      if (is_join(group)) join(group);
    for (const Group& group : grouping_.groups())
      if (!group.is_constant) add_steps(group);
    copy_heads();
  }

  std::unique_ptr<Plan> plan() {
    const u64 arena = storage_.place(steps_);
    std::vector<Place> places = storage_.places();
    for (Place& p : places)
      if (p.kind == Place::constant) p.data = constants_[p.number].wide;
    return std::make_unique<GraphPlan>(
        std::move(steps_), std::move(places), arena, std::move(folded_));
  }

 private:
  /// Gives a constant of int8 its values as int32, too.
  void widen(Entry e) {
    Constant& c = constants_[e];
    if (!c.narrow) return;
    const i64 n = volume(backend::type_of(tensors_[e]).shape);
    c = {folded_.emplace_back(std::vector<i32>(c.narrow, c.narrow + n)).data()};
  }

  /// Computes a call of constants now; its results become constants.
  void fold(const Group& g) {
    for (const Entry e : g.out)
      constants_[e].wide = folded_.emplace_back(std::vector<i32>(grouping_.extent(e))).data();
    const GraphStep s = call_step(g);
    std::vector<const i32*> in;
    std::vector<i32*> out;
    for (const Entry e : g.in) in.push_back(constants_[e].wide);
    for (const Entry e : g.out) out.push_back(const_cast<i32*>(constants_[e].wide));
    std::vector<std::max_align_t> scratch(s.plan->scratch_bytes() / sizeof(std::max_align_t) + 8);
    void* aligned = scratch.data();
    std::size_t room = scratch.size() * sizeof(std::max_align_t);
    s.plan->run(in.data(), out.data(), std::align(64, 1, aligned, room));
  }

  /// Lays a result out as cells, or as pixels, where all groups that write or read it can use them.
  void choose_forms() {
    const std::vector<std::vector<const Group*>> users = grouping_.users();
    choose_cells(users);
    if (best_dot(*isa_).pixels) choose_pixels(users);
  }
  void choose_cells(const std::vector<std::vector<const Group*>>& users) {
    std::vector<bool> can = grouping_.inner_results([&](const Group& g, Entry e) {
      forms_[e] = Form::cells;
      const bool it_can = can_use_cells(g, e);
      forms_[e] = Form::rows;
      return it_can;
    });
    // A group without a product only hands cells on: it reads and writes nothing else, or no cells.
    Entries without;
    for (Entry e = 0; e < tensors_.size(); ++e)
      if (!can[e]) without.push_back(e);
    while (!without.empty()) {
      const Entry lacking = without.back();
      without.pop_back();
      for (const Group* g : users[lacking])
        for (const Entries& all : {g->in, g->out})
          for (const Entry e : all)
            if (!g->finish && can[e]) can[e] = false, without.push_back(e);
    }
    for (Entry e = 0; e < tensors_.size(); ++e)
      if (can[e]) forms_[e] = Form::cells;
    for (const Group& g : grouping_.groups())
      if (is_join(g))
        for (const Entry e : g.in) wholes_[e] = g.out[0];
  }
  // If a group cannot use some pixels, all that it writes and reads lies as cells or, for matrices,
  // as rows.
  void choose_pixels(const std::vector<std::vector<const Group*>>& users) {
    const std::vector<bool> is_matrix = grouping_.inner_results([](const Group& g, Entry e) {
      return g.finish && is<Dense>(*g.call.op) && !g.has_parameter(e);
    });
    std::vector<const Group*> asked;
    for (Entry e = 0; e < tensors_.size(); ++e)
      if ((forms_[e] == Form::cells || is_matrix[e]) &&
          tensors_[e].dl.shape[1] % kPixelChannels == 0) {
        forms_[e] = Form::pixels;
        asked.insert(asked.end(), users[e].begin(), users[e].end());
      }
    while (!asked.empty()) {
      const Group& g = *asked.back();
      asked.pop_back();
      if (can_use_pixels(g)) continue;
      for (const Entries& all : {g.in, g.out})
        for (const Entry e : all)
          if (forms_[e] == Form::pixels) {
            forms_[e] = is_matrix[e] ? Form::rows : Form::cells;
            asked.insert(asked.end(), users[e].begin(), users[e].end());
          }
    }
  }
  bool can_use_pixels(const Group& g) const {
    const auto has_pixels = [&](Entry e) { return forms_[e] == Form::pixels; };
    if (std::none_of(g.in.begin(), g.in.end(), has_pixels) && !has_pixels(g.out[0])) return true;
    if (is<MaxPool2d>(*g.call.op)) return has_pixels(g.in[0]) && has_pixels(g.out[0]);
    return g.finish && pixel_conv2d_serves(fused(g), best_dot(*isa_));
  }
  bool has_form(Entry e) const { return forms_[e] != Form::rows; }
  /// Whether a group can write or read an entry that has cells.
  bool can_use_cells(const Group& g, Entry e) const {
    const Shape image = backend::type_of(tensors_[e]).shape;
    // The planes of tiny images are mostly padding.
    if (image.size != 4 || plane_words(image) > image[2] * image[3] * best_dot(*isa_).terms * 2)
      return false;
    if (is<MaxPool2d>(*g.call.op)) return cell_pooling(arguments(g)) != nullptr;
    if (is<Concatenate>(*g.call.op)) return can_join(g);
    if (!g.finish || !is<Conv2d>(*g.call.op)) return false;
    return !g.has_parameter(e) && conv2d_serves(fused(g));
  }
  /// Whether a concatenation's inputs are whole planes that can lie in its output from the start.
  bool can_join(const Group& g) const {
    const Shape& y = g.call.out[0].shape;
    if (y.size != 4 || wrap(from_attributes<Concatenate>(g.call.attributes()).axis, 4) != 1)
      return false;
    for (std::size_t k = 0; k < g.in.size(); ++k)
      if (joins_[g.in[k]] > 1 || g.call.in[k].dim(1) % best_dot(*isa_).terms != 0) return false;
    return true;
  }
  bool is_join(const Group& g) const { return has_form(g.out[0]) && is<Concatenate>(*g.call.op); }
  void join(const Group& g) {
    u64 words = 0;
    for (std::size_t k = 0; k < g.in.size(); ++k) {
      storage_.lay(g.in[k], g.out[0], words * sizeof(i32));
      const Shape& x = g.call.in[k].shape;
      words += static_cast<u64>(x[1] / best_dot(*isa_).terms * plane_words(x));
    }
  }

  void add_steps(const Group& g) {
    if (g.finish)
      add_product(g);
    else if (has_form(g.out[0]) && is<MaxPool2d>(*g.call.op))
      steps_.push_back(
          {forms_[g.out[0]] == Form::pixels ? pixel_pooling(fused(g)) : cell_pooling(fused(g)),
              g.in, g.out});
    else if (has_form(g.out[0]))
      return;  // the inputs already lie in the output
    else if (g.stages.size() > 1)
      steps_.push_back({chain_of(g), g.in, g.out});
    else if (!can_stay(g))
      steps_.push_back(call_step(g));
  }

  /// Lets the inputs and the output of a call that only moves elements share memory.
  /// @return whether they do, so that nothing is left to move
  bool can_stay(const Group& g) {
    const Portions portions = portions_of(g.call);
    const auto stays = [](const Portion& p) { return cpu::can_stay(p); };
    if (portions.empty() || !std::all_of(portions.begin(), portions.end(), stays)) return false;
    const auto bytes = [](i64 elements) { return static_cast<u64>(elements) * sizeof(i32); };
    const Entry y = g.out[0];
    Entries in;
    std::vector<u64> at;
    for (const Portion& p : portions) {
      const Entry x = in.emplace_back(g.in[static_cast<std::size_t>(p.input)]);
      at.push_back(bytes(p.to));
      if (portions.size() == 1 && storage_.lay(y, x, bytes(p.from))) return true;
      if (p.loops.volume() != volume(backend::type_of(tensors_[x]).shape)) return false;
    }
    return storage_.lay(in, y, at);
  }

  Arguments arguments(const Group& g) const {
    Arguments a{g.call, {}, pool_, isa_};
    for (std::size_t k = 0; k < g.call.in.size(); ++k) a.constants.push_back(constants_[g.in[k]]);
    return a;
  }
  GraphStep call_step(const Group& g) const { return {plan_of(arguments(g)), g.in, g.out}; }
  std::unique_ptr<Plan> chain_of(const Group& g) const {
    return chain_plan(
        g.stages, g.inputs, backend::view_of<Out>(tensors_[g.out[0]]), pool_, *isa_, "chain");
  }

  template <class V> V view_of(Entry e) const {
    V v = backend::view_of<V>(tensors_[e]);
    if (forms_[e] == Form::cells) lay_out_cells(v, best_dot(*isa_).terms);
    if (forms_[e] == Form::pixels && v.rank() == 2) become_image(v);
    if (forms_[e] == Form::pixels) lay_out_pixels(v);
    if (wholes_[e]) v.stride[0] = view_of<V>(*wholes_[e]).stride[0];
    return v;
  }

  /// A group's call, its tensors as they are laid out; a product writes the result of its chain.
  Arguments fused(const Group& g) const {
    Arguments a = arguments(g);
    Out& sums = a.call.out[0];
    const int precision = sums.precision;
    sums = view_of<Out>(g.out[0]);
    sums.precision = precision;
    a.call.in[0] = view_of<View>(g.in[0]);
    a.fusion.reads = forms_[g.in[0]];
    a.fusion.writes = forms_[g.out[0]];
    if (!g.stages.empty()) a.fusion.finish = g.finish->finish();
    for (const Entry e : g.added()) {
      a.fusion.added = view_of<View>(e);
      a.fusion.adds = forms_[e];
    }
    return a;
  }

  /// Adds one step if tiles can finish their sums, else two, of which the second works in place.
  void add_product(const Group& g) {
    Arguments a = fused(g);
    if (auto plan = tuned_plan_of(a)) return steps_.push_back({std::move(plan), g.in, g.out});
    if (a.fusion.uses(Form::cells) || a.fusion.uses(Form::pixels))
      throw std::logic_error("a product does not serve the form that its design announced");
    widen(g.in[Conv2d::W]);
    a.constants[Conv2d::W] = constants_[g.in[Conv2d::W]];
    a.fusion = {};
    if (g.stages.empty()) return steps_.push_back({plan_of(a), g.in, g.out});
    const Entries added = g.added();
    Group rest = g;
    rest.in.resize(g.call.in.size());
    steps_.push_back({plan_of(a), rest.in, g.out});
    rest.inputs[0].view = backend::view_of<View>(tensors_[g.out[0]]);
    for (int& operand : rest.stages[0].operand) operand = std::max(operand, 1);
    rest.in = g.out;
    rest.in.insert(rest.in.end(), added.begin(), added.end());
    steps_.push_back({chain_of(rest), rest.in, g.out});
  }

  /// Gives a place to what the caller of execute() gives, and to constants; the rest lies in the
  /// arena.
  void give_places() {
    std::vector<Place> places(tensors_.size(), {Place::arena});
    for (std::size_t k = graph_.heads.size(); k-- > 0;) places[graph_.heads[k]] = {Place::head, k};
    for (std::size_t k = 0; k < graph_.feeds.size(); ++k)
      places[graph_.feeds[k]] = {Place::feed, k};
    for (Entry e = 0; e < tensors_.size(); ++e)
      storage_.add(constants_[e] ? Place{Place::constant, e} : places[e], bytes_of(e));
  }

  /// Copies each head that is also a feed, a constant or an earlier head.
  void copy_heads() {
    std::vector<bool> has_head(tensors_.size());
    for (const Entry e : graph_.feeds) has_head[e] = true;
    for (std::size_t k = 0; k < graph_.heads.size(); ++k) {
      const Entry e = graph_.heads[k];
      if (has_head[e] || constants_[e]) {
        const Entry target = storage_.add({Place::head, k}, bytes_of(e));
        steps_.push_back(
            {copy_plan(backend::view_of<View>(tensors_[e]),
                 backend::view_of<Out>(graph_.entries[e]), pool_, isa_ ? *isa_ : *isas().data()),
                {e}, {target}});
      }
      has_head[e] = true;
    }
  }

  u64 bytes_of(Entry e) const {
    const Shape shape = backend::type_of(tensors_[e]).shape;
    const auto pixels = view_of<View>(e);
    const auto words = forms_[e] == Form::cells
        ? static_cast<u64>(cell_words(shape, best_dot(*isa_).terms))
        : forms_[e] == Form::pixels ? static_cast<u64>(pixels.dim(0) * pixels.stride[0])
                                    : grouping_.extent(e);
    return words * sizeof(i32);
  }

  const backend::Graph& graph_;
  const Grouping grouping_;
  const std::vector<ls_tensor>& tensors_;
  std::shared_ptr<ThreadPool> pool_;
  const Isa* isa_;
  std::vector<Constant> constants_;           // the data of those entries that are constant
  std::vector<int> joins_;                    // how many inputs of concatenations an entry is
  std::vector<Form> forms_;                   // of the entries
  std::vector<std::optional<Entry>> wholes_;  // of the images that begin as cells of another one
  std::vector<std::vector<i32>> folded_;
  std::vector<GraphStep> steps_;
  Storage storage_;
};

}  // namespace

std::unique_ptr<Plan> graph_plan(
    const backend::Graph& graph, const std::shared_ptr<ThreadPool>& pool, const Isa* isa) {
  return Compiler(graph, pool, isa).plan();
}

}  // namespace lockstep::cpu
