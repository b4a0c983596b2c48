// Threads that call something at the same moment.
#include "conformance/host/team.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lockstep::judge {
namespace {

TEST(Team, CallsEachNumberOnceInEveryRoundWhileAllAreThere) {
  Team team;
  std::vector<int> calls(8);
  int rounds = 0;
  for (int n : {1, 2, 8, 3, 8, 1, 4})
    for (int again = 0; again < 50; ++again, rounds += n) {
      std::atomic<int> inside{0};
      team.at_once(n, [&](int k) {
        ++calls[static_cast<std::size_t>(k)];
        for (++inside; inside < n;) std::this_thread::yield();
      });
      ASSERT_EQ(inside, n);
    }
  EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), rounds);
  EXPECT_EQ(calls, (std::vector<int>{350, 250, 200, 150, 100, 100, 100, 100}));
}

}  // namespace
}  // namespace lockstep::judge
