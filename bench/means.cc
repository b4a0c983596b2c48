#include <algorithm>
#include <cmath>
#include <map>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

constexpr const char* kLimit = "limit";

// The logarithms of the ratios that one mean is made of.
struct Sum {
  Mean mean;
  double logarithms = 0;
};

void add(std::vector<Sum>& sums, const Measurement& r, const std::string& against, double ns) {
  const auto same = [&](const Sum& s) {
    return s.mean.family == r.family && s.mean.backend == r.backend && s.mean.isa == r.isa &&
        s.mean.threads == r.threads && s.mean.against == against;
  };
  auto at = std::find_if(sums.begin(), sums.end(), same);
  if (at == sums.end())
    at = sums.insert(at, Sum{.mean = {r.family, r.backend, r.isa, r.threads, against}});
  ++at->mean.rows;
  at->logarithms += std::log(ns / r.time.median_ns);
}

// The fastest peer of a layout whose results are right; nullptr if there is none.
const PeerTime* fastest_exact(const Measurement& r, const std::string& layout) {
  const PeerTime* best = nullptr;
  for (const PeerTime& p : r.peers)
    if (p.layout == layout && p.trouble.empty() && p.different == 0 &&
        (!best || p.time.median_ns < best->time.median_ns))
      best = &p;
  return best;
}

void add_row(std::vector<Sum>& sums, const Measurement& r) {
  if (r.family.empty() || !r.trouble.empty()) return;
  bool limited = !r.limit.empty();
  std::map<std::string, int> layouts;
  for (const PeerTime& p : r.peers) {
    ++layouts[p.layout];
    limited = limited && p.title() != r.limit;
    if (p.trouble.empty()) add(sums, r, p.title(), p.time.median_ns);
  }
  for (const auto& [layout, peers] : layouts)
    if (const PeerTime* best = peers > 1 ? fastest_exact(r, layout) : nullptr)
      add(sums, r, "the fastest exact " + layout, best->time.median_ns);
  if (limited) add(sums, r, kLimit, r.limit_ns);
}

}  // namespace

std::vector<Mean> means_of(const std::vector<Measurement>& rows) {
  std::vector<Sum> sums;
  for (const Measurement& r : rows) add_row(sums, r);
  std::stable_sort(sums.begin(), sums.end(),
      [](const Sum& a, const Sum& b) { return a.mean.family < b.mean.family; });
  std::vector<Mean> means;
  for (Sum& s : sums) {
    s.mean.ratio = std::exp(s.logarithms / s.mean.rows);
    means.push_back(std::move(s.mean));
  }
  return means;
}

}  // namespace lockstep::bench
