#include <fmt/format.h>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

constexpr const char* kColumns =
    "{:<48} {:<8} {:<10} {:<24} {:>3} {:>10} {:>11} {:>6} {:>15} {:>11} {:>7}  {:<56} {:>11} "
    "{:>6}\n";

// The spread of the repetitions in percent of their median.
std::string spread_text(const Timing& t) {
  return fmt::format("{:.0f}%", 100 * (t.max_ns - t.min_ns) / t.median_ns);
}

std::string peer_text(const PeerTime& p) {
  std::string s = p.title();
  if (!p.implementation.empty()) s += " (" + p.implementation + ")";
  if (p.different > 0) s += fmt::format(", INEXACT {} of {}", p.different, p.compared);
  return s;
}

std::string alone_text(const Measurement& r) {
  if (r.peak_bytes == 0) return "no peer";
  return fmt::format("no peer; memory at most {} MiB", r.peak_bytes >> 20);
}

std::string continuation(const PeerTime& p, const Measurement& r) {
  if (!p.trouble.empty()) return fmt::format("{:<48}   {}: {}\n", "", p.title(), p.trouble);
  return fmt::format(kColumns, "", "", "", "", "", "", "", "", "", "", "", peer_text(p),
      time_text(p.time.median_ns), fmt::format("{:.2f}", p.time.median_ns / r.time.median_ns));
}

// The memory of a compiled graph, and what its operators take where it runs call by call.
std::string graph_text(const Measurement& r) {
  if (r.operators.empty()) return "";
  double all = 0;
  for (const OperatorTime& o : r.operators) all += o.ns;
  std::string s = fmt::format("{:<48}   {} of scratch", "", work_text("byte", r.scratch_bytes)),
              separator = "; ";
  for (const OperatorTime& o : r.operators) {
    if (o.ns < all / 100) break;
    s += fmt::format("{}{} {:.0f}%", separator, o.op, 100 * o.ns / all);
    separator = ", ";
  }
  return s + "\n";
}

}  // namespace

std::string Measurement::key() const {
  return fmt::format(
      "{} {} {} {}", id(), backend.empty() ? "-" : backend, isa.empty() ? "-" : isa, threads);
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

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

std::string work_text(const std::string& unit, i64 units) {
  const auto n = static_cast<double>(units);
  if (unit == "mac") return fmt::format("{:.2f} MMAC", n / 1e6);
  if (unit == "byte") return fmt::format("{:.2f} MB", n / 1e6);
  return "";
}

std::string rate_text(const Measurement& r) {
  const double per_ns = static_cast<double>(r.units) / r.time.median_ns;
  if (r.unit == "mac") return fmt::format("{:.2f} GMAC/s", per_ns);
  if (r.unit == "byte") return fmt::format("{:.2f} GB/s", per_ns);
  if (r.unit == "build") return "";
  return fmt::format("{:.0f} {}s/s", per_ns * 1e9, r.unit);
}

std::string percent_text(double part) { return fmt::format("{:.1f}%", 100 * part); }

std::string table_head() {
  return fmt::format(kColumns, "workload", "backend", "isa", "kernel", "thr", "work", "ours",
      "spread", "rate", "limit", "of it", "peer", "peer", "ratio");
}

std::string table_row(const Measurement& r) {
  if (!r.trouble.empty())
    return fmt::format("{:<48} {:<8} {:<10} {:<24} {:>3} {}\n", r.id(), r.backend, r.isa, r.path,
        r.threads, r.trouble);
  const bool beside = !r.peers.empty() && r.peers[0].trouble.empty(), bound = !r.limit.empty();
  const PeerTime first = beside ? r.peers[0] : PeerTime{};
  std::string s = fmt::format(kColumns, r.id(), r.backend, r.isa, r.path, r.threads,
      work_text(r.unit, r.units), time_text(r.time.median_ns), spread_text(r.time), rate_text(r),
      bound ? time_text(r.limit_ns) : "", bound ? percent_text(r.limit_ns / r.time.median_ns) : "",
      beside ? peer_text(first) : alone_text(r), beside ? time_text(first.time.median_ns) : "",
      beside ? fmt::format("{:.2f}", first.time.median_ns / r.time.median_ns) : "");
  for (std::size_t k = beside ? 1 : 0; k < r.peers.size(); ++k) s += continuation(r.peers[k], r);
  return s + graph_text(r);
}

std::string table_means(const std::vector<Mean>& means) {
  constexpr const char* kMeans = "{:<14} {:<8} {:<10} {:>3} {:>4}  {:<32} {:>7}\n";
  if (means.empty()) return "";
  std::string s =
      fmt::format("\nGeometric means of the ratios, and of the parts of the limits:\n") +
      fmt::format(kMeans, "family", "backend", "isa", "thr", "rows", "against", "mean");
  for (const Mean& m : means)
    s += fmt::format(kMeans, m.family, m.backend, m.isa, m.threads, m.rows, m.against,
        m.against == "limit" ? percent_text(m.ratio) : fmt::format("{:.2f}", m.ratio));
  return s;
}

std::string table_title(const Results& r) {
  return fmt::format("{}, {}, {} processors, load {:.1f}, compiler {}, {}\n", r.date, r.processor,
      r.processors, r.load, r.compiler, r.peer_libraries);
}

}  // namespace lockstep::bench
