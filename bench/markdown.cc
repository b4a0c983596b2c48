#include <fmt/format.h>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

std::string cells(const std::vector<std::string>& texts) {
  std::string line = "|";
  for (const std::string& t : texts) line += " " + t + " |";
  return line + "\n";
}

std::string head(const std::vector<std::string>& titles) {
  return cells(titles) + cells(std::vector<std::string>(titles.size(), "---"));
}

std::string means_table(const std::vector<Mean>& means) {
  std::string s =
      head({"family", "backend", "isa", "threads", "against", "rows", "geometric mean"});
  for (const Mean& m : means)
    s += cells(
        {m.family, m.backend, m.isa, std::to_string(m.threads), m.against, std::to_string(m.rows),
            m.against == "limit" ? percent_text(m.ratio) : fmt::format("{:.2f}", m.ratio)});
  return s;
}

// The times and the ratios of all peers.
std::string peers_text(const Measurement& r) {
  std::string s;
  for (const PeerTime& p : r.peers) {
    if (!p.trouble.empty()) continue;
    s += fmt::format("{}{} {}: {:.2f}{}", s.empty() ? "" : "; ", p.title(),
        time_text(p.time.median_ns), p.time.median_ns / r.time.median_ns,
        p.different > 0 ? " (inexact)" : "");
  }
  return s;
}

}  // namespace

std::string markdown_of(const Results& results) {
  std::string s = table_title(results) + "\n" + means_table(means_of(results.rows)) + "\n" +
      head({"workload", "isa", "threads", "work", "predicted by the limit", "ours", "rate",
          "% of limit", "kernel", "peers: ratio"});
  for (const Measurement& r : results.rows) {
    if (r.family.empty() && r.op != "network" && r.op != "graph") continue;
    if (!r.trouble.empty()) {
      s += cells({r.id(), r.isa, std::to_string(r.threads), r.trouble});
      continue;
    }
    const bool bound = !r.limit.empty();
    s += cells({r.id(), r.isa, std::to_string(r.threads), work_text(r.unit, r.units),
        bound ? time_text(r.limit_ns) : "", time_text(r.time.median_ns), rate_text(r),
        bound ? percent_text(r.limit_ns / r.time.median_ns) : "", r.path, peers_text(r)});
  }
  return s;
}

}  // namespace lockstep::bench
