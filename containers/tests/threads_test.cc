/// Many threads share arrays, view them and write to them. ThreadSanitizer watches; without it the
/// values still tell a lost reference or a write that others saw.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "containers/tests/numbers.h"

namespace lockstep::ndarray {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 2000;

/// Runs `work(number)` in several threads at once.
template <class Work> void in_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, RetainAndRelease) {
  const NDArray shared = numbers({4}, {1, 2, 3, 4});
  in_threads([&](int) {
    for (int i = 0; i < kRounds; ++i) {
      NDArray mine = shared;
      NDArray other = mine;
      mine = std::move(other);
      EXPECT_EQ(mine.data(), shared.data());
    }
  });
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Threads, EachWriterGetsItsOwnCopy) {
  const NDArray shared = numbers({4}, {1, 2, 3, 4});
  in_threads([&](int number) {
    for (int i = 0; i < kRounds; ++i) {
      NDArray mine = shared;
      set_first(mine, number);
      EXPECT_EQ(values_of(mine), (Values{number, 2, 3, 4}));
    }
  });
  EXPECT_EQ(values_of(shared), (Values{1, 2, 3, 4}));
}

// The last holder writes in place, so all accesses by the others, even reads, must have happened
// before.
TEST(Threads, TheLastHolderWritesAfterTheOthersHaveRead) {
  for (int round = 0; round < 100; ++round) {
    NDArray given = numbers({4}, {1, 2, 3, 4});
    std::vector<NDArray> arrays(kThreads, given);
    given.reset();
    in_threads([&](int number) {
      NDArray mine = std::move(arrays[static_cast<std::size_t>(number)]);
      const Values seen = values_of(mine);
      EXPECT_EQ(seen[1], 2);
      set_first(mine, number);
      EXPECT_EQ(values_of(mine), (Values{number, 2, 3, 4}));
    });
  }
}

TEST(Threads, ViewsOutliveTheirParentInOtherThreads) {
  for (int round = 0; round < 100; ++round) {
    NDArray parent = numbers({2, 2}, {1, 2, 3, 4});
    std::vector<NDArray> columns;
    for (int number = 0; number < kThreads; ++number)
      columns.push_back(parent.view(Extents{2}, Extents{2}, number % 2 == 0 ? 0 : 4));
    parent.reset();
    in_threads([&](int number) {
      NDArray mine = std::move(columns[static_cast<std::size_t>(number)]);
      const NDArray row = mine.view(Extents{1}, Extents{1}, 8);
      const int expected = 3 + number % 2;
      EXPECT_EQ(values_of(row), Values{expected});
      set_first(mine, 7);
      EXPECT_EQ(values_of(mine), (Values{7, expected}));
      EXPECT_EQ(values_of(row), Values{expected});
    });
  }
}

// Threads keep blocks of containers for views of low rank; others are handed back at once.
TEST(Threads, ContainersMadeByOneEndInAnother) {
  const NDArray memory = numbers({1}, {7});
  for (int round = 0; round < 10; ++round) {
    std::vector<NDArray> views;
    for (int i = 0; i < 400; ++i) {
      const Extents ones = Extents::filled(i % 10, 1);
      views.push_back(memory.view(ones, ones));
    }
    EXPECT_EQ(memory.use_count(), 401);
    std::thread([&] {
      views.resize(200);
      for (NDArray& view : views) view = view.view(Extents{}, Extents{});
    }).join();
    EXPECT_EQ(memory.use_count(), 201);
    for (const NDArray& view : views) EXPECT_EQ(values_of(view), Values{7});
  }
  EXPECT_EQ(memory.use_count(), 1);
}

/// Its destructor runs after the thread's other objects are gone, and still makes and releases
/// views. Only the way in which the process ends shows whether this went wrong.
struct Outliving {
  NDArray array = numbers({2}, {1, 2});
  NDArray view = second();

  ~Outliving() {
    view.reset();
    for (int i = 0; i < 100; ++i) {
      const NDArray one = second(), another = second();
      if (values_of(one) != Values{2} || values_of(another) != Values{2}) std::_Exit(1);
    }
    if (array.use_count() != 1) std::_Exit(1);
  }
  NDArray second() const { return array.view(Extents{1}, Extents{1}, 4); }
};

TEST(Threads, AStaticArrayOutlivesTheThreadThatMadeIt) {
  static const Outliving outliving;
  // The thread ends while it keeps blocks.
  const NDArray one = outliving.second(), another = outliving.second();
  EXPECT_EQ(values_of(one), values_of(another));
  EXPECT_EQ(values_of(outliving.view), Values{2});
}

}  // namespace
}  // namespace lockstep::ndarray
