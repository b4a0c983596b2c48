#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>

#include "bench/library.h"
#include "bench/peers/peer.h"
#include "bench/run.h"
#include "conformance/base/usage_error.h"
#include "conformance/golden/networks.h"
#include "containers/exceptions.h"
#include "reference/graph/bytes.h"
#include "reference/graph/load.h"
#include "reference/graph/run.h"
#include "runtime/program.h"

namespace lockstep::bench {
namespace {

namespace zoo = graph::zoo;
using runtime::Form, runtime::Program;
using Bytes = std::vector<std::byte>;

/// A part of a network: a block between tensors of 8 bits.
struct Part {
  const char* name;
  Shape input;
  zoo::Value (*block)(zoo::Builder& net);
};

const Part kParts[] = {
    {"resnet50.conv2_block", {1, 256, 56, 56},
        [](zoo::Builder& net) { return zoo::bottleneck(net, net.data(), 64, 1); }},
    {"resnet50.conv4_block", {1, 1024, 14, 14},
        [](zoo::Builder& net) { return zoo::bottleneck(net, net.data(), 256, 1); }},
    {"resnet50.conv4_two_blocks", {1, 1024, 14, 14},
        [](zoo::Builder& net) {
          return zoo::bottleneck(net, zoo::bottleneck(net, net.data(), 256, 1), 256, 1);
        }},
    {"mobilenetv2.block3", {1, 24, 56, 56},
        [](zoo::Builder& net) { return zoo::inverted_residual(net, net.data(), 6, 24, 1); }}};

/// Workloads whose outputs have the shape of their first input. In kLayers such calls in a row,
/// with a shift to 8 bits after each, a backend can keep what lies between them in its own layout.
constexpr const char* kLayered[] = {"resnet50.conv2_1x1a", "resnet50.conv2_3x3",
    "resnet50.conv3_3x3", "resnet50.conv4_3x3", "resnet50.conv5_3x3", "mobilenetv1.depthwise3",
    "bert_large.attention_output", "gpt2_medium.attention_output"};
constexpr int kLayers = 8;

/// The network that is timed with several images, too, and how many.
constexpr std::string_view kBatched = "resnet50";
constexpr i64 kBatch = 16;

/// A model with an input and the digest of the right output.
struct GraphSubject {
  std::string op, name;
  graph::Model model;
  Bytes input;
  std::string expected;
  std::optional<Workload> layer{};  ///< the call that it repeats
  i64 images = 1;                   ///< all the same, each with the expected output

  /// Asks the reference, unless the digest is on record.
  GraphSubject(std::string of, std::string is, graph::Model m, std::string recorded = {})
      : op(std::move(of)),
        name(std::move(is)),
        model(std::move(m)),
        input(zoo::seeded_input(model.graph(), zoo::kSeed)),
        expected(std::move(recorded)) {
    if (!expected.empty()) return;
    graph::ReferenceEngine engine;
    expected = judge::digest(graph::Runner(model, engine).run(input));
  }
};

GraphSubject subject_of(const Part& part) {
  zoo::Builder net(zoo::kSeed, part.input);
  const zoo::Value y = part.block(net);
  return {"graph", part.name, std::move(net).finish({y}, "").model()};
}

GraphSubject subject_of(const Workload& layer) {
  const Types types = layer.call.types();
  const Type &x = types[0], &w = types[1];
  zoo::Builder net(zoo::kSeed, x.shape);
  zoo::Value y = net.data();
  for (int k = 0; k < kLayers; ++k)
    y = x.shape.size == 4 ? net.conv(y, w.dim(0), w.dim(2), {.groups = x.dim(1) / w.dim(1)})
                          : net.dense(y, w.dim(0));
  GraphSubject subject("graph", "layers." + layer.name, std::move(net).finish({y}, "").model());
  subject.layer = layer;
  return subject;
}

GraphSubject subject_of(const zoo::Architecture& a) {
  const judge::NetworkDigests record = judge::recorded_networks();
  const judge::NetworkDigest* digest = record.find(a.name, a.size);
  return {"network", std::string(a.name), zoo::make(a, zoo::kSeed, a.size).model(),
      digest ? digest->output : ""};
}

/// The same network for several copies of its image.
GraphSubject batch_of(GraphSubject one, const zoo::Architecture& a, i64 images) {
  GraphSubject all("network", fmt::format("{}_n{}", a.name, images),
      zoo::make(a, zoo::kSeed, a.size, images).model(), one.expected);
  all.input.clear();
  for (i64 k = 0; k < images; ++k)
    all.input.insert(all.input.end(), one.input.begin(), one.input.end());
  all.images = images;
  return all;
}

GraphSubject subject_of(const std::string& directory) {
  try {
    return {"network", std::filesystem::path(directory + "/.").parent_path().filename().string(),
        graph::load_model(directory)};
  } catch (const utils::ValueVerifyFatal& e) {
    throw judge::UsageError("'" + directory + "' holds no model: " + e.what());
  }
}

/// A program with the memory that it reads and writes.
class Runnable {
 public:
  Runnable(const client::Backend& backend, const GraphSubject& s, Form form)
      : graph_(s.model.graph()),
        images_(s.images),
        program_(backend, s.model, form),
        data_(graph::decode_input(graph_, s.input).data) {
    for (const int e : graph_.heads()) {
      heads_.emplace_back(static_cast<std::size_t>(volume(graph_.entry(e).type.shape)));
      places_.push_back(heads_.back().data());
    }
  }
  /// The digest of each image's output; empty where the outputs of images differ.
  std::string digest() {
    program_.run(data_.data(), places_);
    Bytes out = graph::encode_output(
        graph_, std::vector<std::span<const i32>>(heads_.begin(), heads_.end()));
    const std::size_t one = out.size() / static_cast<std::size_t>(images_);
    if (!std::equal(out.begin() + static_cast<std::ptrdiff_t>(one), out.end(), out.begin()))
      return {};
    out.resize(one);
    return judge::digest(out);
  }
  i64 elements() const {
    i64 n = 0;
    for (const std::vector<i32>& head : heads_) n += std::ssize(head);
    return n;
  }
  Program& program() { return program_; }

 private:
  const graph::Graph& graph_;
  i64 images_;
  Program program_;
  std::vector<i32> data_;
  std::vector<std::vector<i32>> heads_;
  std::vector<i32*> places_;
};

/// The fastest of some runs of each call, summed by operator.
std::vector<OperatorTime> operator_times(Program& calls) {
  constexpr int kRuns = 3;
  std::vector<double> fastest(calls.calls(), 1e18);
  for (int run = 0; run < kRuns; ++run)
    for (std::size_t k = 0; k < calls.calls(); ++k) {
      const auto begin = std::chrono::steady_clock::now();
      calls.run_call(k);
      const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - begin;
      fastest[k] = std::min(fastest[k], ns.count());
    }
  std::map<std::string, double> sums;
  for (std::size_t k = 0; k < calls.calls(); ++k) sums[calls.op(k)] += fastest[k];
  std::vector<OperatorTime> times;
  for (const auto& [op, ns] : sums) times.push_back({op, ns});
  std::stable_sort(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return times;
}

/// Peers that repeat the layer's call as often as the graph does, in layouts of their own.
std::vector<Peer> layer_peers(const GraphSubject& s, const std::string& device, int threads) {
  std::vector<Peer> peers;
  if (!s.layer) return peers;
  const std::vector<judge::Tensor> in = judge::inputs_of(s.layer->call);
  const std::vector<judge::Tensor> out =
      reference::outputs(*s.layer->call.op, s.layer->call.attributes(), in);
  for (const PeerModule* m : peer_modules()) {
    if (m->device != device) continue;
    for (Peer& p : module_peers(*m, *s.layer, in, out[0], threads)) {
      if (p.layout.rfind("own layout", 0) != 0) continue;
      if (p.trouble.empty())
        p.call = [once = std::move(p.call), start = std::move(p.start)] {
          for (int k = 1; k < kLayers; ++k) (start ? start : once)();
          once();
        };
      peers.push_back(std::move(p));
    }
  }
  return peers;
}

Measurement run_graph(const GraphSubject& s, const Opened& opened, const Effort& effort) {
  const graph::Graph& g = s.model.graph();
  const Shape& input = g.entry(g.data()).type.shape;
  Measurement row{.op = s.op,
      .workload = s.name,
      .call = fmt::format("{} nodes from {}", g.nodes().size(), fmt::join(input, "x")),
      .backend = opened.name,
      .isa = opened.isa,
      .path = "compiled",
      .threads = opened.threads,
      .unit = "mac",
      .units = zoo::multiply_adds(g)};
  if (!opened.library.backend.library().has_compile()) {
    row.trouble = "not offered: the backend does not compile graphs";
    return row;
  }
  Runnable whole(opened.library.backend, s, Form::whole);
  Runnable calls(opened.library.backend, s, Form::calls);
  for (Runnable* way : {&whole, &calls})
    if (way->digest() != s.expected) {
      row.trouble = fmt::format("WRONG, not timed: another output than expected{}",
          way == &calls ? ", call by call" : "");
      row.failed = true;
      return row;
    }
  row.compared = whole.elements();
  row.scratch_bytes = static_cast<i64>(whole.program().scratch_bytes());
  std::vector<Peer> peers = layer_peers(s, opened.library.device(), opened.threads);
  peers.insert(peers.begin(), Peer{{.name = "call by call", .compared = row.compared}});
  peers[0].call = [&] { calls.program().repeat(); };
  time_beside(
      row, [&] { whole.program().repeat(); }, peers, {}, effort);
  row.operators = operator_times(calls.program());
  return row;
}

template <class Make> void run_made(
    const Make& make, const std::string& id, const BenchmarkOptions& wishes, const Take& take) {
  if (wishes.over()) {
    const std::size_t slash = std::min(id.find('/'), id.size() - 1);
    for (const std::string& backend : wishes.backends)
      take({.op = id.substr(0, slash),
          .workload = id.substr(slash + 1),
          .backend = backend,
          .unit = "mac",
          .trouble = kOver});
    return;
  }
  wishes.announce(id);
  const GraphSubject subject = make();
  for (const Opened& b : open_all(wishes)) take(run_graph(subject, b, wishes.effort));
}

}  // namespace

void run_graphs(const BenchmarkOptions& wishes, const Take& take) {
  for (const zoo::Architecture& a : zoo::architectures())
    if (wishes.want("network", std::string(a.name)))
      run_made([&] { return subject_of(a); }, "network/" + std::string(a.name), wishes, take);
  const zoo::Architecture& batched = *zoo::find_architecture(kBatched);
  if (const std::string name = fmt::format("{}_n{}", kBatched, kBatch);
      wishes.want("network", name))
    run_made([&] { return batch_of(subject_of(batched), batched, kBatch); }, "network/" + name,
        wishes, take);
  for (const std::string& directory : wishes.models)
    run_made([&] { return subject_of(directory); }, directory, wishes, take);
  // The reference takes seconds for some parts, so all are prepared at once, before one is timed.
  const auto how = wishes.over() ? std::launch::deferred : std::launch::async;
  std::vector<std::pair<std::string, std::future<GraphSubject>>> parts;
  const auto prepare = [&](const auto& from, const std::string& name) {
    if (wishes.want("graph", name))
      parts.emplace_back(name, std::async(how, [from] { return subject_of(from); }));
  };
  for (const Part& p : kParts) prepare(p, p.name);
  for (const char* op : {"conv2d", "dense"})
    for (const Workload& w : workloads(*find_operator(op)))
      if (std::ranges::find(kLayered, w.name) != std::end(kLayered)) prepare(w, "layers." + w.name);
  if (how == std::launch::async)
    for (const auto& part : parts) part.second.wait();
  for (auto& part : parts)
    run_made([&] { return part.second.get(); }, "graph/" + part.first, wishes, take);
}

}  // namespace lockstep::bench
