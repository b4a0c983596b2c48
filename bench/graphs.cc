#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "bench/library.h"
#include "bench/run.h"
#include "conformance/base/read_file.h"
#include "conformance/golden/networks.h"
#include "conformance/subjects/loaded_model.h"
#include "containers/exceptions.h"
#include "reference/graph/bytes.h"
#include "reference/graph/run.h"

namespace lockstep::bench {
namespace {

namespace zoo = graph::zoo;
using judge::LoadedModel;
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

/// A model with an input and the digest of the right output.
struct GraphSubject {
  std::string op, name;
  graph::Model model;
  Bytes input;
  std::string expected;

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

GraphSubject subject_of(const zoo::Architecture& a) {
  const judge::NetworkDigests record = judge::recorded_networks();
  const judge::NetworkDigest* digest = record.find(a.name, a.size);
  return {"network", std::string(a.name), zoo::make(a, zoo::kSeed, a.size).model(),
      digest ? digest->output : ""};
}

GraphSubject subject_of(const std::string& directory) {
  try {
    graph::Parameters tensors = zoo::tensors_of(params::read_file(directory + "/params").tensors);
    graph::Graph graph(judge::read_file(directory + "/symbol.json"));
    return {"network", std::filesystem::path(directory + "/.").parent_path().filename().string(),
        graph::Model(std::move(graph), std::move(tensors))};
  } catch (const utils::ValueVerifyFatal& e) {
    throw judge::UsageError("'" + directory + "' holds no model: " + e.what());
  }
}

i64 head_elements(const graph::Graph& g) {
  i64 n = 0;
  for (const int e : g.heads()) n += volume(g.entry(e).type.shape);
  return n;
}

/// The fastest of some runs of each call, summed by operator.
std::vector<OperatorTime> operator_times(LoadedModel& loaded) {
  constexpr int kRuns = 3;
  std::vector<double> fastest(loaded.calls(), 1e18);
  for (int run = 0; run < kRuns; ++run)
    for (std::size_t k = 0; k < loaded.calls(); ++k) {
      const auto begin = std::chrono::steady_clock::now();
      loaded.run_call(k);
      const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - begin;
      fastest[k] = std::min(fastest[k], ns.count());
    }
  std::map<std::string, double> sums;
  for (std::size_t k = 0; k < loaded.calls(); ++k) sums[loaded.op(k)] += fastest[k];
  std::vector<OperatorTime> times;
  for (const auto& [op, ns] : sums) times.push_back({op, ns});
  std::stable_sort(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return times;
}

/// Whether one way to run gives the right output. The calls may write over the memory of the input.
bool right(LoadedModel& loaded, void (LoadedModel::*way)(), const GraphSubject& s) {
  const graph::Graph& g = s.model.graph();
  loaded.write(graph::decode_input(g, s.input));
  (loaded.*way)();
  return judge::digest(graph::encode_output(g, loaded.heads())) == s.expected;
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
  LoadedModel loaded(opened.library.backend, s.model);
  loaded.compile();
  for (const auto way : {&LoadedModel::run_compiled, &LoadedModel::run_calls})
    if (!right(loaded, way, s)) {
      row.trouble = fmt::format("WRONG, not timed: another output than expected{}",
          way == &LoadedModel::run_calls ? ", call by call" : "");
      row.failed = true;
      return row;
    }
  row.compared = head_elements(g);
  row.scratch_bytes = static_cast<i64>(loaded.scratch_bytes());
  const std::vector<Timing> times =
      measure({[&] { loaded.run_compiled(); }, [&] { loaded.run_calls(); }}, effort);
  row.time = times[0];
  row.peers.push_back({.name = "call by call", .compared = row.compared, .time = times[1]});
  row.operators = operator_times(loaded);
  return row;
}

template <class From> void run_from(
    const From& from, const std::string& id, const BenchmarkOptions& wishes, const Take& take) {
  wishes.announce(id);
  const GraphSubject subject = subject_of(from);
  for (const Opened& b : open_all(wishes)) take(run_graph(subject, b, wishes.effort));
}

}  // namespace

void run_graphs(const BenchmarkOptions& wishes, const Take& take) {
  for (const Part& p : kParts)
    if (wishes.want("graph", p.name)) run_from(p, std::string("graph/") + p.name, wishes, take);
  for (const zoo::Architecture& a : zoo::architectures())
    if (wishes.want("network", std::string(a.name)))
      run_from(a, "network/" + std::string(a.name), wishes, take);
  for (const std::string& directory : wishes.models) run_from(directory, directory, wishes, take);
}

}  // namespace lockstep::bench
