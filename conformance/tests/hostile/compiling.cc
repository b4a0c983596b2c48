/// @file
/// The reference, whose compiled graphs have wrong results of `abs`; and with `--set keeps=shape`
/// or `keeps=name` also where what compile() was given no longer stands there.
#include "backends/manifest.h"
#include "backends/reference/plan.h"

namespace lockstep::backend {
namespace {

class WrongGraph : public Plan {
 public:
  WrongGraph(const Graph& g, const std::string& keeps)
      : constants_(g.entries.size()),
        feeds_(g.feeds.begin(), g.feeds.end()),
        heads_(g.heads.begin(), g.heads.end()) {
    for (const ls_node& n : g.nodes) {
      const auto in = Graph::inputs(n), out = Graph::outputs(n);
      std::vector<ls_tensor> x, y;
      for (const uint32_t e : in) x.push_back(g.entries[e]);
      for (const uint32_t e : out) y.push_back(g.entries[e]);
      steps_.push_back({SpecificationPlan({n.op, {n.attrs, n.n_attrs}, x, y}),
          {in.begin(), in.end()}, {out.begin(), out.end()}, string_view(n.op) == "abs"});
    }
    for (uint32_t e = 0; e < g.entries.size(); ++e) {
      constants_[e].resize(cells_of(g.entries[e]));
      if (g.is_constant(e))
        std::copy_n(static_cast<const int32_t*>(g.entries[e].dl.data), constants_[e].size(),
            constants_[e].begin());
    }
    copy_heads(g);
    if (keeps == "shape") given_shape_ = g.entries[0].dl.shape, extent_ = *given_shape_;
    if (keeps == "name") given_name_ = g.nodes[0].op, name_ = given_name_;
  }
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    compute(in, out);
    out[0][0] ^=
        (given_shape_ && *given_shape_ != extent_) || (given_name_ && name_ != given_name_);
  }
  const char* path() const override { return "specification"; }

 private:
  // Appends a copy for each head that is also a feed, a constant or an earlier head.
  void copy_heads(const Graph& g) {
    static constexpr int64_t kAxis = 0;
    const ls_attr axis{"axis", LS_INT, 1, &kAxis, nullptr};
    std::vector<uint32_t> placed = feeds_;
    for (uint32_t& head : heads_) {
      const uint32_t e = head;
      const bool has_place =
          g.is_constant(e) || std::find(placed.begin(), placed.end(), e) != placed.end();
      placed.push_back(e);
      if (!has_place) continue;
      head = static_cast<uint32_t>(constants_.size());
      constants_.emplace_back(cells_of(g.entries[e]));
      const ls_tensor& t = g.entries[e];
      steps_.push_back(
          {SpecificationPlan({"concatenate", {&axis, 1}, {&t, 1}, {&t, 1}}), {e}, {head}, false});
    }
  }
  void compute(const int32_t* const* in, int32_t* const* out) const {
    std::vector<std::vector<int32_t>> memory = constants_;
    std::vector<const int32_t*> read(memory.size());
    std::vector<int32_t*> written(memory.size());
    for (std::size_t e = 0; e < memory.size(); ++e) read[e] = written[e] = memory[e].data();
    for (std::size_t k = 0; k < feeds_.size(); ++k) read[feeds_[k]] = in[k];
    for (std::size_t k = 0; k < heads_.size(); ++k) read[heads_[k]] = written[heads_[k]] = out[k];
    for (const Step& s : steps_) {
      std::vector<const int32_t*> x;
      std::vector<int32_t*> y;
      for (const uint32_t e : s.in) x.push_back(read[e]);
      for (const uint32_t e : s.out) y.push_back(written[e]);
      s.plan.run(x.data(), y.data(), nullptr);
      if (s.is_wrong) y[0][0] ^= 1;
    }
  }

  struct Step {
    SpecificationPlan plan;
    std::vector<uint32_t> in, out;
    bool is_wrong;
  };
  static std::size_t cells_of(const ls_tensor& t) {
    int64_t last = 0;
    for (int d = 0; d < t.dl.ndim; ++d) last += (t.dl.shape[d] - 1) * t.dl.strides[d];
    return static_cast<std::size_t>(last) + 1;
  }

  std::vector<Step> steps_;
  std::vector<std::vector<int32_t>> constants_;  // of other entries: room for their values
  std::vector<uint32_t> feeds_, heads_;
  const int64_t* given_shape_ = nullptr;
  const char* given_name_ = nullptr;
  int64_t extent_ = 0;
  std::string name_;
};

class Compiling {
 public:
  static const char* manifest() {
    static const std::string text =
        manifest_of("compiling", {{"*", "specification", "portable", true}}, Claims{}, {"keeps"});
    return text.c_str();
  }
  explicit Compiling(const Options& options) {
    refuse_options(options, {"keeps"});
    if (const auto k = options.find("keeps"); k != options.end()) keeps_ = k->second;
  }
  std::unique_ptr<Plan> prepare(const Call& call) const {
    return std::make_unique<SpecificationPlan>(call);
  }
  std::unique_ptr<Plan> compile(const Graph& graph) const {
    return std::make_unique<WrongGraph>(graph, keeps_);
  }

 private:
  std::string keeps_;
};

}  // namespace
}  // namespace lockstep::backend

const ls_api* lockstep_backend_v1() {
  return lockstep::backend::table<lockstep::backend::Compiling>();
}
