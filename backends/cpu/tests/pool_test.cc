// The thread pool runs every item once, whichever thread calls it, also after a fork.
#include "backends/cpu/pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <latch>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "backends/cpu/pack.h"

namespace lockstep::cpu {
namespace {

constexpr double kHeavy = 1e6;  // ns: always worth sharing

// Whether each of n items is run once.
bool runs_each_once(ThreadPool& pool, int64_t n, double item_ns) {
  std::vector<std::atomic<int>> count(static_cast<std::size_t>(n));
  pool.run(n, item_ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++count[static_cast<std::size_t>(i)];
  });
  for (const auto& c : count)
    if (c != 1) return false;
  return true;
}

std::set<std::string> threads_of_process() {
  std::set<std::string> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(task.path().filename());
  return all;
}

// How many threads were started since then. `before` may still count threads that were joined.
std::size_t threads_since(const std::set<std::string>& before) {
  std::set<std::string> all = threads_of_process();
  for (const std::string& thread : before) all.erase(thread);
  return all.size();
}

// Runs f in a child process that must end well within seconds.
template <class F> bool holds_in_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(f() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ThreadPool, RunsEveryItemOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const int64_t n : {0, 1, 2, 7, 64, 1000, 4097})
      for (const double ns : {0.0, 10.0, kHeavy})
        EXPECT_TRUE(runs_each_once(pool, n, ns)) << threads << " threads, " << n << " items";
  }
}

// Otherwise close() waits for the threads, longer on a busy machine. A thread that has worked polls
// if the caller ended the loop first; here the thread is late on purpose.
TEST(ThreadPool, ItsEndIsSeenByThreadsThatPoll) {
  EXPECT_TRUE(holds_in_child([] {
    for (int i = 0; i < 5; ++i) {
      ThreadPool pool(2, std::numeric_limits<int>::max());
      std::latch both(2);
      pool.run(2, kHeavy, [&, caller = std::this_thread::get_id()](int64_t, int64_t) {
        both.arrive_and_wait();
        if (std::this_thread::get_id() != caller)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
    }
    return true;
  }));
}

// The ranges of a loop in order; each begins where the previous one ends.
std::vector<int64_t> pieces(int threads, int64_t n, double item_ns) {
  ThreadPool pool(threads, 0);
  std::mutex mutex;
  std::map<int64_t, int64_t> ends;
  pool.run(n, item_ns, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(begin < end && ends.emplace(begin, end).second) << begin << ".." << end;
  });
  int64_t at = 0;
  std::vector<int64_t> sizes;
  for (const auto& [begin, end] : ends) {
    EXPECT_EQ(begin, at);
    sizes.push_back(end - begin);
    at = end;
  }
  EXPECT_EQ(at, n);
  return sizes;
}

TEST(ThreadPool, CutsLoopsByWhatTheyCost) {
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(pieces(2, 0, kHeavy), Sizes());
  EXPECT_EQ(pieces(2, 1, kHeavy), Sizes{1});
  EXPECT_EQ(pieces(2, 3, kHeavy), Sizes({1, 1, 1}));
  EXPECT_EQ(pieces(1, 1000, kHeavy), Sizes{1000});
  // 12 us are worth waking threads, and 1 us is worth a claim.
  EXPECT_EQ(pieces(2, 119, 100), Sizes{119});
  EXPECT_EQ(pieces(2, 120, 100), Sizes({30, 15, 11, 4, 30, 15, 11, 4}));
  EXPECT_EQ(pieces(3, 24, kHeavy), Sizes({4, 2, 1, 1, 4, 2, 1, 1, 4, 2, 1, 1}));
  EXPECT_EQ(pieces(64, 1600, kHeavy).size(), 16U * 8) << "sixteen shares at most";
  // Beyond what 32 bits count.
  EXPECT_EQ(pieces(1, int64_t{1} << 33, 1), Sizes{int64_t{1} << 33});
  EXPECT_EQ(pieces(2, int64_t{1} << 36, 1)[0], int64_t{1} << 34);
}

TEST(ThreadPool, SharesSmallLoopsWhileAThreadIsAwake) {
  for (const int polls : {0, 4000}) {
    ThreadPool pool(2, polls);
    std::latch both(2), done(2);
    std::atomic<int> ranges{0};
    const auto count = [&](int64_t, int64_t) { ++ranges; };
    const int alone = polls > 0 && std::thread::hardware_concurrency() > 1 ? 16 : 1;
    for (int i = 1; i <= alone; ++i) {
      pool.run(6, 1e3, count);
      EXPECT_EQ(ranges, i) << "no thread is worth starting yet";
    }
    pool.run(6, 1e3, count);
    EXPECT_GT(ranges, alone + 1) << "after 12 us, or 102 us, it is";
    pool.run(2, kHeavy, [&, caller = std::this_thread::get_id()](int64_t, int64_t) {
      both.arrive_and_wait();
      if (std::this_thread::get_id() == caller) {
        ranges = 0;
        pool.run(3, 1e3, count);
        EXPECT_EQ(ranges, 1) << "too small";
        pool.run(6, 1e3, count);
        EXPECT_GT(ranges, 2);
      }
      done.arrive_and_wait();
    });
  }
}

TEST(ThreadPool, ThreadsBeginWithSharesOfTheirOwn) {
  ThreadPool pool(3);
  std::map<std::thread::id, int64_t> before;
  for (int i = 0; i < 5; ++i) {
    std::latch all(3);
    std::mutex mutex;
    std::map<std::thread::id, int64_t> first;
    pool.run(300, kHeavy, [&](int64_t begin, int64_t) {
      bool is_first = false;
      {
        const std::lock_guard lock(mutex);
        is_first = first.emplace(std::this_thread::get_id(), begin).second;
      }
      if (is_first) all.arrive_and_wait();
    });
    EXPECT_EQ(first[std::this_thread::get_id()], 0);
    if (i > 0) {
      EXPECT_EQ(first, before);
    }
    before = first;
  }
}

TEST(ThreadPool, GetsItemsOfProductsThatBalance) {
  const ThreadPool one(1), two(2);
  EXPECT_EQ(outputs_of_item(20, 8, 1, 1, one), 20) << "all, though the last step is not whole";
  EXPECT_EQ(outputs_of_item(512, 64, kWeightBytes / 128, 1, one), 128);
  EXPECT_EQ(outputs_of_item(512, 64, kWeightBytes, 1, one), 64) << "a step at least";
  EXPECT_EQ(outputs_of_item(512, 64, 1, 1, two), 64);
  EXPECT_EQ(outputs_of_item(512, 64, 1, 16, two), 256) << "32 items for two threads";
  EXPECT_EQ(outputs_of_item(512, 64, 1, 32, two), 512);
}

// Otherwise both would share that processor until Linux notices.
TEST(ThreadPool, AThreadLeavesTheProcessorOfItsCaller) {
  cpu_set_t all, here;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "needs two processors";
  ThreadPool pool(2);
  CPU_ZERO(&here);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
  ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
  pid_t worker = 0;
  const auto processor_of_worker = [&, caller = std::this_thread::get_id()] {
    std::atomic<int> processor{-1};
    pool.run(2, kHeavy, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller) {
        worker = gettid();
        processor = sched_getcpu();
      }
      while (processor < 0) std::this_thread::yield();
    });
    return processor.load();
  };
  EXPECT_EQ(processor_of_worker(), sched_getcpu()) << "it may run nowhere else";
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(sched_setaffinity(worker, sizeof here, &here), 0);
    EXPECT_EQ(sched_setaffinity(worker, sizeof all, &all), 0);
    EXPECT_NE(processor_of_worker(), sched_getcpu());
  }
  sched_setaffinity(0, sizeof all, &all);
}

TEST(ThreadPool, SharesHeavyLoopsAndKeepsLightOnes) {
  ThreadPool pool(3);
  std::mutex mutex;
  std::vector<std::thread::id> seen;
  std::condition_variable changed;
  // Each of the first three items waits until three threads hold one.
  pool.run(3, kHeavy, [&](int64_t, int64_t) {
    std::unique_lock lock(mutex);
    seen.push_back(std::this_thread::get_id());
    changed.notify_all();
    changed.wait(lock, [&] { return seen.size() == 3; });
  });
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  pool.run(100, 1, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
  });
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> good{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) good += runs_each_once(pool, 100 + i, kHeavy);
    });
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(good, 200);
}

TEST(ThreadPool, RunsLoopsInsideLoops) {
  ThreadPool pool(3);
  std::atomic<int> good{0};
  pool.run(20, kHeavy, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) good += runs_each_once(pool, 30, kHeavy);
  });
  EXPECT_EQ(good, 20);
}

TEST(ThreadPool, HandsAnExceptionToTheCaller) {
  ThreadPool pool(3);
  for (int i = 0; i < 20; ++i)
    EXPECT_THROW(pool.run(100, kHeavy,
                     [](int64_t begin, int64_t) {
                       if (begin >= 50) throw std::runtime_error("item");
                     }),
        std::runtime_error);
  EXPECT_TRUE(runs_each_once(pool, 100, kHeavy));
}

TEST(ThreadPool, StartsNoThreadBeforeItsFirstLoop) {
  std::thread([] {}).join();  // with the first one a sanitizer starts its own
  const std::set<std::string> before = threads_of_process();
  ThreadPool pool(4);
  EXPECT_EQ(threads_since(before), 0U);
  EXPECT_TRUE(runs_each_once(pool, 1000, 1));
  EXPECT_EQ(threads_since(before), 0U) << "a light loop needs none";
  EXPECT_TRUE(runs_each_once(pool, 1000, kHeavy));
  EXPECT_EQ(threads_since(before), 3U);
}

TEST(ThreadPool, StartsItsThreadsInAForkedProcess) {
  ThreadPool pool(3);
  EXPECT_TRUE(holds_in_child([&] { return runs_each_once(pool, 1000, kHeavy); }));
  EXPECT_TRUE(runs_each_once(pool, 1000, kHeavy));
}

TEST(ThreadPool, WorksWithoutThreadsInAForkOfAProcessThatHasThem) {
  auto pool = std::make_unique<ThreadPool>(3);
  EXPECT_TRUE(runs_each_once(*pool, 1000, kHeavy));
  EXPECT_TRUE(holds_in_child([&] {
    const bool is_good = runs_each_once(*pool, 1000, kHeavy);
    pool.reset();
    return is_good;
  }));
  EXPECT_TRUE(runs_each_once(*pool, 1000, kHeavy));
}

}  // namespace
}  // namespace lockstep::cpu
