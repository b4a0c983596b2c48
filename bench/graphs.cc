#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "backends/call.h"
#include "bench/library.h"
#include "bench/run.h"

namespace lockstep::bench {
namespace {

/// A part of a network: a chain of layers as they are after quantization, each with products of 8
/// bits, a bias, a shift to 8 bits again and an activation. In the calls `$0` stands for the part's
/// input and `$k` for the output of its call k; other inputs are constants.
struct Part {
  const char *name, *input;
  std::vector<std::string> calls;
};

const Part kParts[] = {
    {"resnet50.conv2_block", "1x256x56x56@8",
        {"conv2d/channels=64/kernel_size=1,1/in=$0+64x256x1x1@8+64@16",
            "cvm_right_shift/precision=8/shift_bit=9/in=$1", "relu/in=$2",
            "conv2d/channels=64/kernel_size=3,3/padding=1,1/in=$3+64x64x3x3@8+64@16",
            "cvm_right_shift/precision=8/shift_bit=10/in=$4", "relu/in=$5",
            "conv2d/channels=256/kernel_size=1,1/in=$6+256x64x1x1@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=8/in=$7", "elemwise_add/in=$8+$0",
            "cvm_clip/precision=8/in=$9", "relu/in=$10"}},
    {"resnet50.conv4_block", "1x1024x14x14@8",
        {"conv2d/channels=256/kernel_size=1,1/in=$0+256x1024x1x1@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=10/in=$1", "relu/in=$2",
            "conv2d/channels=256/kernel_size=3,3/padding=1,1/in=$3+256x256x3x3@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=11/in=$4", "relu/in=$5",
            "conv2d/channels=1024/kernel_size=1,1/in=$6+1024x256x1x1@8+1024@16",
            "cvm_right_shift/precision=8/shift_bit=9/in=$7", "elemwise_add/in=$8+$0",
            "cvm_clip/precision=8/in=$9", "relu/in=$10"}},
    {"resnet50.conv4_two_blocks", "1x1024x14x14@8",
        {"conv2d/channels=256/kernel_size=1,1/in=$0+256x1024x1x1@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=10/in=$1", "relu/in=$2",
            "conv2d/channels=256/kernel_size=3,3/padding=1,1/in=$3+256x256x3x3@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=11/in=$4", "relu/in=$5",
            "conv2d/channels=1024/kernel_size=1,1/in=$6+1024x256x1x1@8+1024@16",
            "cvm_right_shift/precision=8/shift_bit=9/in=$7", "elemwise_add/in=$8+$0",
            "cvm_clip/precision=8/in=$9", "relu/in=$10",
            "conv2d/channels=256/kernel_size=1,1/in=$11+256x1024x1x1@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=10/in=$12", "relu/in=$13",
            "conv2d/channels=256/kernel_size=3,3/padding=1,1/in=$14+256x256x3x3@8+256@16",
            "cvm_right_shift/precision=8/shift_bit=11/in=$15", "relu/in=$16",
            "conv2d/channels=1024/kernel_size=1,1/in=$17+1024x256x1x1@8+1024@16",
            "cvm_right_shift/precision=8/shift_bit=9/in=$18", "elemwise_add/in=$19+$11",
            "cvm_clip/precision=8/in=$20", "relu/in=$21"}},
    {"mobilenetv2.block3", "1x24x56x56@8",
        {"conv2d/channels=144/kernel_size=1,1/in=$0+144x24x1x1@8+144@16",
            "cvm_right_shift/precision=8/shift_bit=7/in=$1", "clip/a_min=0/a_max=96/in=$2",
            "conv2d/channels=144/kernel_size=3,3/padding=1,1/groups=144/in=$3+144x1x3x3@8+144@16",
            "cvm_right_shift/precision=8/shift_bit=6/in=$4", "clip/a_min=0/a_max=96/in=$5",
            "conv2d/channels=24/kernel_size=1,1/in=$6+24x144x1x1@8+24@16",
            "cvm_right_shift/precision=8/shift_bit=9/in=$7", "elemwise_add/in=$8+$0",
            "cvm_clip/precision=8/in=$9"}}};

/// A part with the values of its entries.
struct LayerGraph {
  struct Step {
    judge::Case call;
    std::vector<uint32_t> in;
    uint32_t out;
  };
  std::vector<Step> steps;
  std::vector<judge::Tensor> entries;  ///< the input first
  std::vector<bool> is_constant;       ///< by entry
  i64 macs = 0;

  uint32_t add(judge::Tensor t, bool constant) {
    entries.push_back(std::move(t));
    is_constant.push_back(constant);
    return static_cast<uint32_t>(entries.size()) - 1;
  }
};

std::string type_text(const Type& t) {
  return fmt::format("{}@{}", fmt::join(t.shape.begin(), t.shape.end(), "x"), t.precision);
}

/// Adds one call of a part; `results` are the entries that `$0`, `$1` ... stand for.
void add_call(LayerGraph& g, const std::string& call, std::vector<uint32_t>& results) {
  constexpr string_view kInputs = "/in=";
  const std::size_t at = call.find(kInputs) + kInputs.size();
  std::string id = call.substr(0, at), plus;
  std::vector<std::optional<uint32_t>> given;
  std::istringstream inputs(call.substr(at));
  for (std::string input; std::getline(inputs, input, '+');) {
    given.emplace_back();
    if (input[0] == '$') given.back() = results.at(std::stoul(input.substr(1)));
    id += plus + (given.back() ? type_text(g.entries[*given.back()].type) : input);
    plus = "+";
  }
  LayerGraph::Step s{judge::parse_case(id + "/fill=dense:1"), {}, 0};
  if (const Refusal r = judge::refusal(s.call); r.refused())
    throw std::logic_error("the layer " + id + " is refused: " + r.label());
  std::vector<judge::Tensor> in = judge::inputs_of(s.call);
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (given[k]) in[k] = g.entries[*given[k]];
    s.in.push_back(given[k] ? *given[k] : g.add(in[k], true));
  }
  std::vector<judge::Tensor> out = reference::outputs(*s.call.op, s.call.attributes(), in);
  if (s.call.op->name == "conv2d")
    g.macs += volume(out[0].type.shape) * volume(in[1].type.shape) / in[1].type.dim(0);
  s.out = g.add(std::move(out[0]), false);
  results.push_back(s.out);
  g.steps.push_back(std::move(s));
}

LayerGraph graph_of(const Part& part) {
  LayerGraph g;
  const judge::Case input =
      judge::parse_case("relu/in=" + std::string(part.input) + "/fill=dense:2");
  std::vector<uint32_t> results{g.add(judge::inputs_of(input)[0], false)};
  for (const std::string& call : part.calls) add_call(g, call, results);
  return g;
}

client::Attributes attributes_of(const judge::Case& c) {
  return client::attributes_of(*c.op, c.attributes());
}

/// A part on a backend: compiled, and call by call.
class PreparedGraph {
 public:
  PreparedGraph(const client::Backend& backend, const LayerGraph& g)
      : last_(g.steps.back().out), stream_(backend.stream().value()) {
    for (std::size_t e = 0; e < g.entries.size(); ++e) {
      const Type& t = g.entries[e].type;
      entries_.push_back(backend.tensor({t.shape.begin(), t.shape.end()}, t.precision).value());
      if (e == 0 || g.is_constant[e]) entries_[e].write(g.entries[e].data).check();
    }
    client::Graph graph{{}, {}, {0}, {last_}};
    for (std::size_t e = 0; e < g.entries.size(); ++e)
      graph.entries.push_back(g.is_constant[e] ? entries_[e].constant() : entries_[e].view());
    for (const LayerGraph::Step& s : g.steps) {
      graph.nodes.push_back({std::string(s.call.op->name), attributes_of(s.call), s.in, {s.out}});
      Call call{{}, {}, entries_[s.out].data()};
      client::Call one{std::string(s.call.op->name), attributes_of(s.call), {}, {}};
      for (const uint32_t e : s.in) {
        one.in.push_back(graph.entries[e]);
        call.in.push_back(entries_[e].data());
      }
      one.out.push_back(entries_[s.out].view());
      call.plan = add(backend.prepare(one).value());
      calls_.push_back(std::move(call));
    }
    compiled_ = add(backend.compile(graph).value());
    uint64_t bytes = 0;
    for (const client::Plan& p : plans_) bytes = std::max(bytes, p.scratch_bytes());
    scratch_.emplace(backend.allocate(bytes).value());
  }

  void run_compiled() { run(compiled_, {entries_[0].data()}, entries_[last_].data()); }
  void run_calls() {
    for (const Call& c : calls_) run(c.plan, c.in, c.out);
  }
  /// The elements of the output that differ after one way to run.
  i64 different(void (PreparedGraph::*way)(), const judge::Tensor& right) {
    std::vector<i32> got(right.data.size(), INT32_MIN);
    entries_[last_].write(got).check();
    (this->*way)();
    entries_[last_].read(got).check();
    i64 wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != right.data[i];
    return wrong;
  }

 private:
  struct Call {
    std::size_t plan;
    std::vector<const void*> in;
    void* out;
  };
  std::size_t add(client::Plan plan) {
    plans_.push_back(std::move(plan));
    return plans_.size() - 1;
  }
  void run(std::size_t plan, const std::vector<const void*>& in, void* out) {
    plans_[plan].execute(in, {&out, 1}, scratch_->data(), stream_.handle()).check();
    stream_.wait().check();
  }

  std::vector<client::DeviceTensor> entries_;
  uint32_t last_;
  client::Stream stream_;
  std::vector<client::Plan> plans_;
  std::vector<Call> calls_;
  std::size_t compiled_ = 0;
  std::optional<client::Memory> scratch_;
};

Measurement run_graph(
    const Part& part, const LayerGraph& g, const Opened& opened, const Effort& effort) {
  Measurement row{.op = "graph",
      .workload = part.name,
      .call = fmt::format("{} calls from {}", g.steps.size(), part.input),
      .backend = opened.name,
      .isa = opened.isa,
      .path = "compiled",
      .threads = opened.threads,
      .unit = "mac",
      .units = g.macs};
  if (!opened.library.backend.library().has_compile()) {
    row.trouble = "not offered: the backend does not compile graphs";
    return row;
  }
  PreparedGraph prepared(opened.library.backend, g);
  const judge::Tensor& right = g.entries[g.steps.back().out];
  for (const auto way : {&PreparedGraph::run_compiled, &PreparedGraph::run_calls})
    if (const i64 wrong = prepared.different(way, right)) {
      row.trouble = fmt::format("WRONG, not timed: {} of {} elements differ{}", wrong,
          right.data.size(), way == &PreparedGraph::run_calls ? ", call by call" : "");
      row.failed = true;
      return row;
    }
  row.compared = static_cast<i64>(right.data.size());
  const std::vector<Timing> times =
      measure({[&] { prepared.run_compiled(); }, [&] { prepared.run_calls(); }}, effort);
  row.time = times[0];
  row.peers.push_back({.name = "call by call", .compared = row.compared, .time = times[1]});
  return row;
}

}  // namespace

void run_graphs(const BenchmarkOptions& wishes, const Take& take) {
  for (const Part& part : kParts) {
    if (!wishes.want("graph", part.name)) continue;
    wishes.announce(std::string("graph/") + part.name);
    const LayerGraph g = graph_of(part);
    for (const Opened& b : open_all(wishes)) take(run_graph(part, g, b, wishes.effort));
  }
}

}  // namespace lockstep::bench
