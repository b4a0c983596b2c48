#include "bench/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/library.h"
#include "bench/peers/peer.h"
#include "conformance/base/text.h"
#include "conformance/selection/select.h"

namespace lockstep::bench {
namespace {

using judge::Tensor;

constexpr const char* kUnits[] = {"byte", "mac", "call"};

// A workload with its values and the right outputs.
struct Subject {
  Workload workload;
  std::vector<Tensor> in, expected;

  explicit Subject(Workload w)
      : workload(std::move(w)),
        in(judge::inputs_of(workload.call)),
        expected(reference::outputs(*workload.call.op, workload.call.attributes(), in)) {}
};

// How an output differs from the right one; nothing if it does not.
std::optional<std::string> difference(
    const Subject& s, std::size_t k, const std::vector<i32>& got, const std::string& backend) {
  const std::vector<i32>& right = s.expected[k].data;
  const auto first = std::mismatch(right.begin(), right.end(), got.begin());
  if (first.first == right.end()) return std::nullopt;
  i64 wrong = 0;
  for (std::size_t i = 0; i < right.size(); ++i) wrong += right[i] != got[i];
  return fmt::format(
      "WRONG, not timed: output {}: {} of {} elements differ, the first at {}: expected {}, got {}"
      " (lockstep repro {} '{}')",
      k, wrong, right.size(), first.first - right.begin(), *first.first, *first.second, backend,
      case_id(s.workload.call));
}

// Runs once and compares every output. Notes the number of compared elements or the difference.
void verify(Measurement& row, const Subject& s, Prepared& prepared) {
  const std::vector<std::vector<i32>> out = prepared.fresh_outputs();
  for (std::size_t k = 0; k < out.size() && !row.failed; ++k) {
    row.compared += static_cast<i64>(out[k].size());
    if (const auto wrong = difference(s, k, out[k], row.backend)) {
      row.trouble = *wrong;
      row.failed = true;
    }
  }
}

// The peers of a call on the host, whose `device` is empty, or on a device.
std::vector<Peer> peers_of(
    const Subject& s, const std::shared_ptr<Team>& team, const std::string& device) {
  std::vector<Peer> peers;
  if (s.workload.unit == Unit::calls) return peers;
  if (s.workload.unit == Unit::bytes && device.empty())
    return {copy_peer(s.workload.bytes(), team)};
  if (s.workload.unit == Unit::bytes) return device_copy(device, s.workload.bytes());
  for (const PeerModule* m : peer_modules())
    if (m->device == device)
      for (Peer& p : module_peers(*m, s.workload, s.in, s.expected[0], team->size()))
        peers.push_back(std::move(p));
  return peers;
}

// What bounds a product besides its peers. Other calls have a copy, their first peer, as the limit.
std::vector<Bound> bounds_of(const Measurement& row, const Subject& s,
    const std::shared_ptr<Team>& team, const std::string& device) {
  if (s.workload.unit != Unit::macs) return {};
  if (!device.empty()) return device_bounds(device, row.units, row.bytes);
  const Probe* probe = int8_probe(row.isa);
  if (!probe) return {};
  const long long rounds = rounds_of_a_millisecond(*probe);
  return {
      {probe->instructions, macs_of(*probe, rounds, team->size()) / static_cast<double>(row.units),
          [=] { team->run([&](int) { probe->run(rounds); }); }}};
}

void time_together(Measurement& row, const Subject& s, const Prepared& prepared,
    const std::shared_ptr<Team>& team, const std::string& device, const Effort& effort) {
  const std::vector<Bound> bounds = bounds_of(row, s, team, device);
  std::vector<Contender> others;
  for (const Bound& b : bounds) others.push_back(b.call);
  // XNNPACK's threads spin for some milliseconds after a call.
  Effort calm = effort;
  if (!bounds.empty() && team->size() > 1) calm.pause_s = std::min(0.02, effort.repetition_s);
  const std::vector<Timing> times = time_beside(
      row, [&] { prepared.execute(); }, peers_of(s, team, device), others, calm);
  // The bound that takes longest is the limit.
  for (std::size_t k = 0; k < bounds.size(); ++k)
    if (const double ns = times[k].median_ns / bounds[k].share; ns > row.limit_ns)
      row.limit = bounds[k].name, row.limit_ns = ns;
  if (s.workload.unit == Unit::bytes && !row.peers.empty()) {
    row.limit = row.peers[0].name;
    row.limit_ns = row.peers[0].time.median_ns;
  }
}

Measurement row_of(const Workload& w, const Opened& opened) {
  return {.op = std::string(w.call.op->name),
      .workload = w.name,
      .family = family_of(w),
      .call = case_id(w.call),
      .backend = opened.name,
      .isa = opened.isa,
      .threads = opened.threads,
      .unit = kUnits[static_cast<int>(w.unit)],
      .units = w.units(),
      .bytes = w.bytes()};
}

Measurement run_one(const Subject& s, const Opened& opened, const Effort& effort) {
  Measurement row = row_of(s.workload, opened);
  try {
    const client::Backend& backend = opened.library.backend;
    Prepared prepared(backend, s.workload, s.in);
    row.path = prepared.path();
    verify(row, s, prepared);
    if (row.failed) return row;
    const auto team = std::make_shared<Team>(opened.threads);
    time_together(row, s, prepared, team, opened.library.device(), effort);
  } catch (const NotOffered& e) {
    row.trouble = std::string("not offered: ") + e.what();
  } catch (const std::runtime_error& e) {
    row.trouble = std::string("FAILED, not timed: ") + e.what();
    row.failed = true;
  }
  return row;
}

// The instruction sets with which to open a backend; an empty one leaves the choice to it.
std::vector<std::string> isas_of(const judge::Manifest& m, const BenchmarkOptions& wishes) {
  const auto set = wishes.set.find("isa");
  if (!m.has_option("isa")) return {""};
  if (wishes.isas.empty()) return {set == wishes.set.end() ? "" : set->second};
  if (wishes.isas != std::vector<std::string>{"all"}) return wishes.isas;
  std::vector<std::string> all;
  for (const judge::KernelInfo& k : m.kernels)
    if (k.runnable && std::find(all.begin(), all.end(), k.isa) == all.end()) all.push_back(k.isa);
  return all;
}

}  // namespace

std::vector<Opened> open_all(const BenchmarkOptions& wishes) {
  std::vector<Opened> all;
  for (const std::string& name : wishes.backends) {
    // Only an open backend says which options it has.
    const judge::Manifest manifest = open_library(name, wishes.set).manifest;
    const bool counted = manifest.has_option("threads");
    for (const std::string& isa : isas_of(manifest, wishes))
      for (int threads : counted ? wishes.threads : std::vector<int>{1}) {
        judge::Options set = wishes.set;
        if (counted) set["threads"] = std::to_string(threads);
        if (!isa.empty()) set["isa"] = isa;
        all.push_back({name, isa, threads, open_library(name, set)});
      }
  }
  return all;
}

bool BenchmarkOptions::want(const std::string& op, const std::string& workload) const {
  if (filters.empty()) return models.empty();
  return std::any_of(
      filters.begin(), filters.end(), [&](const auto& f) { return names(f, op, workload); });
}

bool BenchmarkOptions::names(
    const std::string& filter, const std::string& op, const std::string& workload) {
  return judge::glob(filter, op) || judge::glob(filter, workload) ||
      judge::glob(filter, op + "/" + workload);
}

void run_operators(const BenchmarkOptions& wishes, const Take& take) {
  const std::vector<Opened> backends = open_all(wishes);
  for (const OpInfo* op : operators())
    for (Workload& w : workloads(*op)) {
      if (!wishes.want(std::string(op->name), w.name)) continue;
      if (wishes.over()) {
        for (const Opened& b : backends) {
          Measurement row = row_of(w, b);
          row.trouble = kOver;
          take(std::move(row));
        }
        continue;
      }
      wishes.announce(w.id());
      const Subject subject(std::move(w));
      for (const Opened& b : backends) take(run_one(subject, b, wishes.effort));
    }
}

}  // namespace lockstep::bench
