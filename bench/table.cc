#include <fmt/format.h>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

constexpr const char* kColumns =
    "{:<44} {:<10} {:<20} {:>3} {:>11} {:>6} {:>15}  {:<48} {:>11} {:>6} {:>7}\n";

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

// The spread of the repetitions in percent of their median.
std::string spread_text(const Timing& t) {
  return fmt::format("{:.0f}%", 100 * (t.max_ns - t.min_ns) / t.median_ns);
}

std::string rate_text(const Measurement& r) {
  const double per_ns = static_cast<double>(r.units) / r.time.median_ns;
  if (r.unit == "mac") return fmt::format("{:.2f} GMAC/s", per_ns);
  if (r.unit == "byte") return fmt::format("{:.2f} GB/s", per_ns);
  if (r.unit == "build") return "";
  return fmt::format("{:.0f} {}s/s", per_ns * 1e9, r.unit);
}

std::string peer_text(const PeerTime& p) {
  std::string s = p.name;
  if (!p.implementation.empty()) s += " (" + p.implementation + ")";
  if (p.different > 0) s += fmt::format(", INEXACT {} of {}", p.different, p.compared);
  return s;
}

std::string alone_text(const Measurement& r) {
  if (r.peak_bytes == 0) return "no peer";
  return fmt::format("no peer; memory at most {} MiB", r.peak_bytes >> 20);
}

std::string continuation(const PeerTime& p, const Measurement& r) {
  if (!p.trouble.empty()) return fmt::format("{:<44}   {}\n", "", p.trouble);
  return fmt::format(kColumns, "", "", "", "", "", "", "", peer_text(p),
      time_text(p.time.median_ns), fmt::format("{:.2f}", p.time.median_ns / r.time.median_ns), "");
}

}  // namespace

std::string Measurement::key() const {
  return fmt::format("{} {} {}", id(), backend.empty() ? "-" : backend, threads);
}

bool Measurement::fails() const {
  bool any = failed;
  for (const PeerTime& p : peers) any = any || !p.trouble.empty();
  return any;
}

bool Results::fails() const {
  bool failed = false, timed = false;
  for (const Measurement& r : rows) {
    failed = failed || r.fails();
    timed = timed || r.trouble.empty();
  }
  return failed || !timed;
}

std::string table_head() {
  return fmt::format(kColumns, "workload", "backend", "path", "thr", "ours", "spread", "rate",
      "peer", "peer", "ratio", "limit");
}

std::string table_row(const Measurement& r) {
  if (!r.trouble.empty())
    return fmt::format(
        "{:<44} {:<10} {:<20} {:>3} {}\n", r.id(), r.backend, r.path, r.threads, r.trouble);
  const bool beside = !r.peers.empty() && r.peers[0].trouble.empty();
  const PeerTime first = beside ? r.peers[0] : PeerTime{};
  std::string s = fmt::format(kColumns, r.id(), r.backend, r.path, r.threads,
      time_text(r.time.median_ns), spread_text(r.time), rate_text(r),
      beside ? peer_text(first) : alone_text(r), beside ? time_text(first.time.median_ns) : "",
      beside ? fmt::format("{:.2f}", first.time.median_ns / r.time.median_ns) : "",
      r.limit.empty() ? "" : fmt::format("{:.1f}%", 100 * r.limit_ns / r.time.median_ns));
  for (std::size_t k = beside ? 1 : 0; k < r.peers.size(); ++k) s += continuation(r.peers[k], r);
  return s;
}

std::string table_title(const Results& r) {
  return fmt::format("{}, {}, {} processors, load {:.1f}, compiler {}, {}\n", r.date, r.processor,
      r.processors, r.load, r.compiler, r.peer_library);
}

}  // namespace lockstep::bench
