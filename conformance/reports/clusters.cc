// Groups failures that seem to have one cause.
#include <algorithm>
#include <bit>
#include <cctype>

#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

i64 clamped(i64 v, i64 bits) {
  const i64 most = (i64{1} << (bits - 1)) - 1;
  return std::clamp(v, -most - 1, most);
}

i64 wrapped(i64 v, int bits) {
  const i64 modulus = i64{1} << bits, r = ((v % modulus) + modulus) % modulus;
  return r >= modulus / 2 ? r - modulus : r;
}

// Rounds to `bits` significant bits, ties to even, as floating-point types do.
i64 rounded(i64 v, int bits) {
  const auto magnitude = static_cast<u64>(v < 0 ? -v : v);
  const int drop = static_cast<int>(std::bit_width(magnitude)) - bits;
  if (drop <= 0) return v;
  const u64 half = u64{1} << (drop - 1), rest = magnitude & (2 * half - 1);
  u64 kept = magnitude >> drop;
  kept += rest > half || (rest == half && (kept & 1) != 0);
  const auto back = static_cast<i64>(kept << drop);
  return v < 0 ? -back : back;
}

// A way in which a wrong value may come from the right one.
struct Relation {
  const char* words;
  bool (*holds)(i64 want, i64 got);
};

constexpr Relation kRelations[] = {
    {"off by one", [](i64 want, i64 got) { return got == want + 1 || got == want - 1; }},
    {"0 instead of a value", [](i64, i64 got) { return got == 0; }},
    {"the sign is wrong", [](i64 want, i64 got) { return got == -want; }},
    {"kept in 8 bits", [](i64 want, i64 got) { return got == wrapped(want, 8); }},
    {"clamped to 8 bits", [](i64 want, i64 got) { return got == clamped(want, 8); }},
    {"kept in 16 bits", [](i64 want, i64 got) { return got == wrapped(want, 16); }},
    {"clamped to 16 bits", [](i64 want, i64 got) { return got == clamped(want, 16); }},
    {"rounded as bfloat16", [](i64 want, i64 got) { return got == rounded(want, 8); }},
    {"rounded as float16", [](i64 want, i64 got) { return got == rounded(want, 11); }},
    {"rounded as float32", [](i64 want, i64 got) { return got == rounded(want, 24); }},
};

std::string relation(const std::vector<Element>& elements) {
  for (const Relation& r : kRelations)
    if (std::all_of(elements.begin(), elements.end(),
            [&](const Element& e) { return r.holds(e.expected, e.got); }))
      return r.words;
  return "";
}

// A text without its numbers, which differ from case to case.
std::string without_numbers(const std::string& text) {
  std::string s;
  for (char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      if (!s.ends_with('#')) s += '#';
    } else {
      s += c;
    }
  }
  return s;
}

std::string symptom(const Failure& f) {
  if (f.elements.empty()) return without_numbers(f.text);
  const std::string how = relation(f.elements);
  if (how.empty() && f.hint.empty()) return f.op + " computes other values";
  return how + (how.empty() || f.hint.empty() ? "" : "; ") + f.hint;
}

}  // namespace

std::vector<Cluster> clusters(const Report& r) {
  std::vector<Cluster> all;
  for (const Failure& f : r.failures) {
    const std::string s = symptom(f);
    auto at =
        std::find_if(all.begin(), all.end(), [&](const Cluster& c) { return c.symptom == s; });
    if (at == all.end()) at = all.insert(all.end(), {s, {}, 0});
    at->failures.push_back(&f);
    at->count = capped_sum(at->count, f.count);
  }
  std::stable_sort(
      all.begin(), all.end(), [](const Cluster& a, const Cluster& b) { return a.count > b.count; });
  return all;
}

}  // namespace lockstep::judge
