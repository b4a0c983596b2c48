#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "bench/library.h"
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
        program_(backend, s.model, form),
        data_(graph::decode_input(graph_, s.input).data) {
    for (const int e : graph_.heads()) {
      heads_.emplace_back(static_cast<std::size_t>(volume(graph_.entry(e).type.shape)));
      places_.push_back(heads_.back().data());
    }
  }
  void run() { program_.run(data_.data(), places_); }
  std::string digest() {
    run();
    return judge::digest(graph::encode_output(
        graph_, std::vector<std::span<const i32>>(heads_.begin(), heads_.end())));
  }
  i64 elements() const {
    i64 n = 0;
    for (const std::vector<i32>& head : heads_) n += std::ssize(head);
    return n;
  }
  Program& program() { return program_; }

 private:
  const graph::Graph& graph_;
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
  const std::vector<Timing> times = measure({[&] { whole.run(); }, [&] { calls.run(); }}, effort);
  row.time = times[0];
  row.peers.push_back({.name = "call by call", .compared = row.compared, .time = times[1]});
  row.operators = operator_times(calls.program());
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
