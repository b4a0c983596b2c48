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

std::vector<Peer> peers_of(const Subject& s, const std::shared_ptr<Team>& team, bool on_host) {
  if (!on_host || s.workload.unit == Unit::calls) return {};
  if (s.workload.unit == Unit::bytes) return {copy_peer(s.workload, team)};
  return onednn_peers(s.workload, s.in, s.expected[0], team->size());
}

// A probe as a contender: all threads run it for about a millisecond.
struct BestProbe {
  const Probe* probe = best_int8_probe();
  long long rounds = probe ? rounds_of_a_millisecond(*probe) : 0;
  double macs(int threads) const {
    return static_cast<double>(probe->macs_per_round) * static_cast<double>(rounds) * threads;
  }
};

void time_together(Measurement& row, const Subject& s, const Prepared& prepared,
    const std::vector<Peer>& peers, const std::shared_ptr<Team>& team, const Effort& effort) {
  static const BestProbe limit;
  const bool bounded = s.workload.unit == Unit::macs && limit.probe;
  std::vector<Contender> contenders{[&] { prepared.execute(); }};
  for (const Peer& p : peers)
    if (p.trouble.empty()) contenders.push_back(p.call);
  if (bounded)
    contenders.push_back([&] { team->run([](int) { limit.probe->run(limit.rounds); }); });
  const std::vector<Timing> times = measure(contenders, effort);
  row.time = times[0];
  std::size_t next = 1;
  for (const Peer& p : peers) {
    row.peers.push_back(p);
    if (p.trouble.empty()) row.peers.back().time = times[next++];
  }
  if (bounded) {
    row.limit = limit.probe->instructions;
    row.limit_ns =
        times[next].median_ns * static_cast<double>(row.units) / limit.macs(team->size());
  } else if (s.workload.unit == Unit::bytes && !row.peers.empty()) {
    row.limit = row.peers[0].name;
    row.limit_ns = row.peers[0].time.median_ns;
  }
}

// A backend and the number of threads with which it was opened.
struct Opened {
  std::string name;
  int threads;
  Library library;
};

Measurement run_one(const Subject& s, const Opened& opened, const Effort& effort) {
  Measurement row{.op = std::string(s.workload.call.op->name),
      .workload = s.workload.name,
      .call = case_id(s.workload.call),
      .backend = opened.name,
      .threads = opened.threads,
      .unit = kUnits[static_cast<int>(s.workload.unit)],
      .units = s.workload.units()};
  try {
    const client::Backend& backend = opened.library.backend;
    Prepared prepared(backend, s.workload, s.in);
    row.path = prepared.path();
    verify(row, s, prepared);
    if (row.failed) return row;
    const auto team = std::make_shared<Team>(opened.threads);
    time_together(
        row, s, prepared, peers_of(s, team, !backend.library().has_device()), team, effort);
  } catch (const NotOffered& e) {
    row.trouble = std::string("not offered: ") + e.what();
  } catch (const std::runtime_error& e) {
    row.trouble = std::string("FAILED, not timed: ") + e.what();
    row.failed = true;
  }
  return row;
}

std::vector<Opened> open_all(const BenchmarkOptions& wishes) {
  std::vector<Opened> all;
  for (const std::string& name : wishes.backends) {
    // Only an open backend says which options it has.
    Library plain = open_library(name, wishes.set);
    if (!plain.manifest.has_option("threads")) {
      all.push_back({name, 1, std::move(plain)});
      continue;
    }
    for (int threads : wishes.threads) {
      judge::Options set = wishes.set;
      set["threads"] = std::to_string(threads);
      all.push_back({name, threads, open_library(name, set)});
    }
  }
  return all;
}

}  // namespace

bool BenchmarkOptions::want(const std::string& op, const std::string& workload) const {
  return filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const auto& f) {
    return judge::glob(f, op) || judge::glob(f, op + "/" + workload);
  });
}

void run_operators(const BenchmarkOptions& wishes, const Take& take) {
  const std::vector<Opened> backends = open_all(wishes);
  for (const OpInfo* op : operators())
    for (Workload& w : workloads(*op)) {
      if (!wishes.want(std::string(op->name), w.name)) continue;
      wishes.announce(w.id());
      const Subject subject(std::move(w));
      for (const Opened& b : backends) take(run_one(subject, b, wishes.effort));
    }
}

}  // namespace lockstep::bench
