/// @file
/// The ways to open the backend, and calls that the tests judge in each of them.
#pragma once
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/plans.h"
#include "backends/cpu/tests/subject.h"

namespace lockstep::cpu {

/// One way to open the backend: an instruction set, or no tuned kernel at all.
struct Mode {
  std::string isa;  ///< "" for the generic kernels
  const char* threads;
  client::Options options() const {
    if (isa.empty()) return {{"tuned", "0"}, {"threads", threads}};
    return {{"isa", isa}, {"threads", threads}};
  }
  /// The kernel that serves ordinary calls of an operator.
  std::string path(std::string_view op) const {
    if (isa.empty()) return "generic";
    const auto serving = candidates(tuned_kernels(), op, *find_isa(isa));
    return serving.empty() ? "generic" : serving[0]->name;
  }
};

inline std::string name_of(const Mode& m) {
  return (m.isa.empty() ? "generic" : m.isa) + "_" + m.threads;
}

inline void PrintTo(const Mode& m, std::ostream* os) { *os << name_of(m); }

/// Those with tuned kernels, and so many threads.
inline std::vector<Mode> tuned_modes(std::initializer_list<const char*> threads) {
  std::vector<Mode> all;
  for (const Isa& isa : isas())
    if (isa.runnable)
      for (const char* n : threads) all.push_back({std::string(isa.name), n});
  return all;
}

inline std::vector<Mode> modes() {
  std::vector<Mode> all = tuned_modes({"1", "3"});
  all.insert(all.begin(), {{"", "1"}, {"", "3"}});
  return all;
}

/// How many of n seeds a long test draws: a quarter where LOCKSTEP_EMULATED says it is emulated.
inline uint64_t seeds(uint64_t n) { return std::getenv("LOCKSTEP_EMULATED") ? n / 4 : n; }

/// Tests that run in each mode.
class InEachMode : public testing::TestWithParam<Mode> {
 protected:
  const client::Backend backend = open_backend(GetParam().options()).value();

  /// Judges this many calls, each drawn from a seed of its own.
  template <class DrawCall>
  void judge_drawn(int calls, const std::string& path, DrawCall drawn, int executions = 1) const {
    for (int seed = 0; seed < calls && !HasFailure(); ++seed) {
      Seeded draw(static_cast<uint64_t>(seed) << 32);
      SCOPED_TRACE("seed " + std::to_string(seed));
      EXPECT_EQ(judge(backend, drawn(draw), draw, executions), path);
    }
  }
};

}  // namespace lockstep::cpu
