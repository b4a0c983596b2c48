/// What the recycling pool hands out, keeps and gives back.
#include "containers/memory/pool.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "containers/instrumented.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

TEST(Pool, BlocksAreAlignedAndHoldWhatWasAskedFor) {
  BlockPool pool(kPlenty);
  for (const std::size_t bytes : {1, 63, 64, 65, 100, 4096, 4097, 1 << 20}) {
    std::byte* block = pool.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % BlockPool::kAlignment, 0u) << bytes;
    std::memset(block, 0x5A, bytes);
    pool.release(block, bytes);
  }
}

TEST(Pool, NoBytesAreNoBlock) {
  BlockPool pool(kPlenty);
  EXPECT_EQ(pool.allocate(0), nullptr);
  pool.release(nullptr, 0);
  EXPECT_EQ(pool.statistics(), PoolStatistics());
}

TEST(Pool, SizeClassesWasteAtMostAFifth) {
  std::size_t last = 0;
  const auto examine = [&](std::size_t bytes) {
    const std::size_t block = BlockPool::block_bytes(bytes);
    EXPECT_GE(block, bytes);
    EXPECT_GE(block, last) << "a larger request got a smaller block: " << bytes;
    if (bytes > 64) {
      EXPECT_LE(5 * (block - bytes), block) << bytes;
    }
    EXPECT_EQ(BlockPool::block_bytes(block), block) << "a block does not serve for its own size";
    last = block;
  };
  for (std::size_t bytes = 1; bytes < 5000; ++bytes) examine(bytes);
  for (std::size_t power = 8192; power <= BlockPool::kBlockBytesMax; power *= 2) {
    for (const std::size_t bytes : {power / 4 * 3 + 1, power - 1, power}) examine(bytes);
  }
}

TEST(Pool, ABlockServesAgainForASizeOfItsClass) {
  BlockPool pool(kPlenty);
  std::byte* first = pool.allocate(1000);
  pool.release(first, 1000);
  EXPECT_EQ(pool.statistics().kept_bytes, BlockPool::block_bytes(1000));
  EXPECT_EQ(pool.allocate(1020), first);
  EXPECT_EQ(pool.statistics(),
      (PoolStatistics{.used_bytes = BlockPool::block_bytes(1000),
          .kept_bytes = 0,
          .allocated = 2,
          .reused = 1}));
  std::byte* other = pool.allocate(1000);
  EXPECT_NE(other, first) << "a block in use was handed out again";
  pool.release(first, 1020);
  pool.release(other, 1000);
  EXPECT_EQ(pool.allocate(1000), other) << "the block released last is the one still in the cache";
  pool.release(other, 1000);
}

TEST(Pool, TheLimitEvictsWhatWasReleasedFirst) {
  BlockPool pool(3072);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(1024));
  for (std::byte* block : blocks) pool.release(block, 1024);
  EXPECT_EQ(pool.statistics().kept_bytes, 3u * 1024);
  for (int i = 3; i >= 1; --i) EXPECT_EQ(pool.allocate(1024), blocks[static_cast<std::size_t>(i)]);
  EXPECT_EQ(pool.statistics().reused, 3u);
  for (int i = 3; i >= 1; --i) pool.release(blocks[static_cast<std::size_t>(i)], 1024);
  // Other classes count towards the same limit, and leave with their age.
  pool.release(pool.allocate(2048), 2048);
  EXPECT_EQ(pool.statistics().kept_bytes, 3u * 1024);
  EXPECT_EQ(pool.limit(), 3u * 1024);
  pool.set_limit(2048);
  EXPECT_EQ(pool.statistics().kept_bytes, 2048u);
}

TEST(Pool, ABlockBeyondTheLimitGoesAndLeavesTheOthers) {
  BlockPool pool(1024);
  pool.release(pool.allocate(1024), 1024);
  pool.release(pool.allocate(1 << 20), 1 << 20);
  EXPECT_EQ(pool.statistics().kept_bytes, 1024u);
}

TEST(Pool, ALimitOfZeroTurnsRecyclingOff) {
  BlockPool pool(0);
  for (int i = 0; i < 3; ++i) pool.release(pool.allocate(4096), 4096);
  EXPECT_EQ(pool.statistics(),
      (PoolStatistics{.used_bytes = 0, .kept_bytes = 0, .allocated = 3, .reused = 0}));
}

TEST(Pool, TrimGivesEverythingBack) {
  BlockPool pool(kPlenty);
  for (const std::size_t bytes : {100, 2000, 30000}) pool.release(pool.allocate(bytes), bytes);
  const std::size_t kept = pool.statistics().kept_bytes;
  EXPECT_EQ(kept,
      BlockPool::block_bytes(100) + BlockPool::block_bytes(2000) + BlockPool::block_bytes(30000));
  EXPECT_EQ(pool.trim(), kept);
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
  EXPECT_EQ(pool.trim(), 0u);
}

TEST(Pool, WantOfMemoryNamesTheSize) {
  BlockPool pool(kPlenty);
  for (const std::size_t bytes : {BlockPool::kBlockBytesMax + 1, ~std::size_t{0}}) {
    const std::string said = failure([&] { pool.allocate(bytes); });
    EXPECT_NE(said.find(std::to_string(bytes)), std::string::npos) << said;
  }
  EXPECT_EQ(pool.statistics(), PoolStatistics());
}

TEST(Pool, ThreadsShareIt) {
  BlockPool pool(std::size_t{1} << 16);
  const auto work = [&](unsigned seed) {
    std::vector<std::pair<std::byte*, std::size_t>> held;
    for (unsigned i = 0; i < 3000; ++i) {
      seed = seed * 1664525 + 1013904223;
      const std::size_t bytes = 1 + (seed >> 8) % 5000;
      std::byte* block = pool.allocate(bytes);
      std::memset(block, static_cast<int>(seed >> 24), bytes);
      held.emplace_back(block, bytes);
      if (held.size() < 8) continue;
      const auto [oldest, size] = held.front();
      for (std::size_t k = 1; k < size; ++k) ASSERT_EQ(oldest[k], oldest[0]) << "written by others";
      pool.release(oldest, size);
      held.erase(held.begin());
    }
    for (const auto& [block, bytes] : held) pool.release(block, bytes);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (int i = 0; i < 100; ++i) pool.trim();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
  EXPECT_EQ(pool.statistics().allocated, 4u * 3000);
  EXPECT_LE(pool.statistics().kept_bytes, pool.limit());
}

TEST(PoolLimit, IsTheEnvironments) {
  EXPECT_EQ(pool_limit("0"), 0u);
  EXPECT_EQ(pool_limit("1048576"), 1048576u);
  for (const char* text : {"", "-1", "1k", " 1", "99999999999999999999999"}) {
    EXPECT_THROW(pool_limit(text), utils::ValueVerifyFatal) << "'" << text << "'";
  }
}

TEST(PoolLimit, IsZeroUnderASanitizer) {
#if defined(LOCKSTEP_NO_RECYCLING)
  EXPECT_EQ(pool_limit(nullptr), 0u);
#else
  EXPECT_EQ(pool_limit(nullptr) == 0, kInstrumented);
#endif
}

TEST(PoolLimitDeathTest, TheProcessPoolObeysTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto with_limit = [](const char* limit) {
    ::setenv("LOCKSTEP_POOL_LIMIT", limit, 1);
    pool().release(pool().allocate(1000), 1000);
    std::_Exit(static_cast<int>(pool().statistics().kept_bytes != 0));
  };
  EXPECT_EXIT(with_limit("4096"), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(with_limit("0"), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lockstep::ndarray
