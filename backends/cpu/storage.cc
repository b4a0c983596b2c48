#include "backends/cpu/storage.h"

#include <algorithm>

namespace lockstep::cpu {

Entry Storage::add(const Place& place, u64 bytes) {
  const auto e = static_cast<Entry>(place_.size());
  place_.push_back(place);
  bytes_.push_back(bytes);
  part_.push_back({e, 0});
  return e;
}

// Shortens the ways that it goes, so that long chains of parts stay cheap.
Storage::Part Storage::outermost(Entry e) {
  Part p{e, 0};
  while (part_[p.whole].whole != p.whole) p = {part_[p.whole].whole, p.at + part_[p.whole].at};
  u64 at = p.at;
  while (part_[e].whole != p.whole) {
    const Part next = part_[e];
    part_[e] = {p.whole, at};
    at -= next.at;
    e = next.whole;
  }
  return p;
}

bool Storage::can_lie_elsewhere(Entry e) {
  const Entry whole = outermost(e).whole;
  return place_[whole].kind == Place::arena && bytes_[whole] == bytes_[e];
}

bool Storage::lay(Entry part, Entry whole, u64 at) {
  const Part in = outermost(whole);
  const Entry moved = outermost(part).whole;
  if (!can_lie_elsewhere(part) || moved == in.whole) return false;
  part_[moved] = {in.whole, in.at + at};
  return true;
}

bool Storage::lay(const Entries& parts, Entry whole, const std::vector<u64>& at) {
  Entries moved;
  for (const Entry e : parts) {
    if (!can_lie_elsewhere(e)) return false;
    moved.push_back(outermost(e).whole);
  }
  moved.push_back(outermost(whole).whole);
  std::sort(moved.begin(), moved.end());
  if (std::adjacent_find(moved.begin(), moved.end()) != moved.end()) return false;
  for (std::size_t k = 0; k < parts.size(); ++k) lay(parts[k], whole, at[k]);
  return true;
}

void Storage::note_lives(const std::vector<GraphStep>& steps) {
  life_.assign(place_.size(), {steps.size(), 0});
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (const Entries& all : {steps[k].out, steps[k].in})
      for (const Entry e : all) {
        Life& life = life_[outermost(e).whole];
        life.first = std::min(life.first, k);
        life.last = k;
      }
}

void Storage::work_in_place(const GraphStep& step, std::size_t number) {
  const auto can_write_over = [&](Entry whole) {
    for (std::size_t k = 0; k < step.in.size(); ++k)
      if (outermost(step.in[k]).whole == whole && !step.plan->works_in_place(k)) return false;
    return true;
  };
  const Entry y = step.out[0];
  for (const Entry x : step.in) {
    const Entry whole = outermost(x).whole;
    const Life life = life_[whole];
    if (life.last != number || bytes_[x] != bytes_[y] || !can_write_over(whole)) continue;
    if (!lay(x, y, 0)) continue;
    std::size_t& first = life_[outermost(y).whole].first;
    first = std::min(first, life.first);
    return;
  }
}

u64 Storage::place(const std::vector<GraphStep>& steps) {
  note_lives(steps);
  std::vector<bool> is_written(place_.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Entries& out = steps[k].out;
    if (out.size() == 1 && !is_written[out[0]]) work_in_place(steps[k], k);
    for (const Entry e : out) is_written[e] = true;
  }
  Entries placed;
  for (Entry e = 0; e < place_.size(); ++e)
    if (place_[e].kind == Place::arena && part_[e].whole == e && life_[e].first < steps.size())
      placed.push_back(e);
  std::stable_sort(placed.begin(), placed.end(),
      [&](Entry a, Entry b) { return life_[a].first < life_[b].first; });
  Arena arena;
  for (const Entry e : placed) place_[e].at = arena.place(bytes_[e], life_[e].first, life_[e].last);
  return arena.bytes();
}

std::vector<Place> Storage::places() {
  std::vector<Place> all;
  for (Entry e = 0; e < place_.size(); ++e) {
    const Part p = outermost(e);
    Place& place = all.emplace_back(place_[p.whole]);
    place.at += p.at;
  }
  return all;
}

}  // namespace lockstep::cpu
