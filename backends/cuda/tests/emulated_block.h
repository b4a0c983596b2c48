/// @file
/// Tuned kernels on the host: the same text, in blocks whose threads take turns in each phase.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "backends/cuda/kernels/kernel.h"
#include "backends/cuda/tests/watch.h"

namespace lockstep::cuda {

/// What tensor cores compute, written from PTX's tables for mma.m16n8k32 with .s8 alone, so that it
/// agrees with fragment.h only if both are right. The names are PTX's.
template <class PerLane> void emulate_mma(const PerLane& product_of) {
  int8_t a[16][32], b[32][8];
  for (int lane = 0; lane < 32; ++lane) {
    const Product p = product_of(lane);
    const int group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < 16; ++i) {
      const int row = i < 4 || (8 <= i && i < 12) ? group : group + 8;
      const int column = i < 8 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16;
      a[row][column] = static_cast<int8_t>(p.a[i / 4] >> (i % 4 * 8));
    }
    for (int i = 0; i < 8; ++i) {
      const int row = i < 4 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16;
      b[row][group] = static_cast<int8_t>(p.b[i / 4] >> (i % 4 * 8));
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const Product p = product_of(lane);
    const int group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? group : group + 8, column = in_group * 2 + (i & 1);
      int sum = 0;
      for (int k = 0; k < 32; ++k) sum += a[row][k] * b[k][column];
      p.c[i] = add(p.c[i], sum);
    }
  }
}

template <class K> class EmulatedBlock {
 public:
  using Registers = typename K::Registers;

  /// A thread, with the copies that it has begun: a group of copies happens when the thread waits
  /// for it.
  struct Thread {
    int id;
    Registers& r;
    EmulatedBlock& block;

    template <class T> T load(int offset) const {
      block.expect(offset % static_cast<int>(sizeof(T)) == 0, "a misaligned read of shared memory");
      if (Watch* w = block.watch_) {
        w->read_shared(id, offset, sizeof(T));
        w->access(id, offset, sizeof(T));
      }
      T v;
      std::memcpy(&v, &block.shared_.at(static_cast<std::size_t>(offset)), sizeof v);
      return v;
    }
    template <class T> void store(int offset, const T& v) const {
      block.expect(
          offset % static_cast<int>(sizeof(T)) == 0, "a misaligned write to shared memory");
      if (Watch* w = block.watch_) {
        w->write_shared(id, offset, sizeof(T));
        w->access(id, offset, sizeof(T));
      }
      std::memcpy(&block.shared_.at(static_cast<std::size_t>(offset)), &v, sizeof v);
    }
    template <class T> auto get(const T* from) const {
      block.count(from, &Watch::read);
      std::remove_const_t<T> v;
      std::memcpy(&v, from, sizeof v);
      return v;
    }
    template <class T> void put(T* to, const T& v) const {
      block.expect(block.has_awaited_, "a write before the kernels ahead have ended");
      block.count(to, &Watch::written);
      std::memcpy(to, &v, sizeof v);
    }
    template <int kBytes> void copy(int offset, const Byte* from) const {
      block.expect(offset % kBytes == 0 && reinterpret_cast<std::uintptr_t>(from) % kBytes == 0,
          "a misaligned copy");
      if (Watch* w = block.watch_) {
        w->begin_copy(id, offset, kBytes);
        w->access(id, offset, kBytes);
      }
      block.copies_[static_cast<std::size_t>(id)].back().push_back({offset, kBytes, from});
    }
    void commit() const { block.copies_[static_cast<std::size_t>(id)].emplace_back(); }
    template <int kLatest> void wait() const {
      auto& groups = block.copies_[static_cast<std::size_t>(id)];
      for (; groups.size() > kLatest + 1; groups.pop_front())
        for (const Copy& c : groups.front()) {
          std::memcpy(&block.shared_.at(static_cast<std::size_t>(c.offset)), c.from,
              static_cast<std::size_t>(c.bytes));
          if (block.watch_) block.watch_->end_copy(id, c.offset, c.bytes);
        }
    }
    template <class F> void load_matrices(u32 (&to)[4], const F& offset_of) const {
      const int lane = id % 32;
      if (block.watch_) block.watch_->access(id, offset_of(lane), 16);
      for (int m = 0; m < 4; ++m) {
        const int offset = offset_of(8 * m + lane / 4) + lane % 4 * 4;
        if (block.watch_) block.watch_->read_shared(id, offset, 4);
        std::memcpy(&to[m], &block.shared_.at(static_cast<std::size_t>(offset)), 4);
      }
    }
  };

  EmulatedBlock(i64 number, Watch* watch)
      : number_(number),
        watch_(watch),
        registers_(std::size_t{K::kThreads}),
        shared_(std::size_t{K::kShared} + 16, kPoison),
        copies_(std::size_t{K::kShared > 0 ? K::kThreads : 0}, std::deque<std::vector<Copy>>(1)) {
    std::memset(
        static_cast<void*>(registers_.data()), kPoison, registers_.size() * sizeof(Registers));
    if (watch_) watch_->begin_block(K::kShared, K::kThreads);
  }

  i64 number() const { return number_; }
  template <class F> void each(const F& f) {
    for (int id = K::kThreads; id-- > 0;) {
      Thread t{id, registers_[static_cast<std::size_t>(id)], *this};
      f(t);
    }
    if (watch_) watch_->count_waves();
  }
  void sync() {
    if (watch_) watch_->begin_phase();
  }
  void sync_warps() {
    if (watch_) watch_->begin_phase_of_warps();
  }
  void await() { has_awaited_ = true; }
  template <class T> T load(int offset) {
    T v;
    if (watch_) watch_->read_shared(Watch::kAll, offset, sizeof(T));
    std::memcpy(&v, &shared_.at(static_cast<std::size_t>(offset)), sizeof v);
    return v;
  }
  template <class T> T get(const T* from) {
    count(from, &Watch::read);
    return *from;
  }
  template <class F> void multiply(const F& f) {
    for (Registers* warp = registers_.data(); warp < registers_.data() + K::kThreads; warp += 32)
      emulate_mma([&](int lane) { return f(warp[lane]); });
  }

 private:
  static constexpr Byte kPoison = 0x5a;
  struct Copy {
    int offset, bytes;
    const Byte* from;
  };

  // A problem that nobody watches ends the process, as a device would.
  void expect(bool holds, const char* problem) {
    if (holds) return;
    if (!watch_) {
      std::fprintf(stderr, "%s: %s\n", typeid(K).name(), problem);
      std::abort();
    }
    ++watch_->problems[problem];
  }
  template <class T> void count(const T* at, std::map<const void*, int64_t> Watch::*map) {
    expect(reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0, "a misaligned tensor access");
    if (!watch_) return;
    ++watch_->moves;
    for (std::size_t k = 0; k < sizeof(T); k += 4)
      ++(watch_->*map)[reinterpret_cast<const char*>(at) + k];
  }

  i64 number_;
  Watch* watch_;
  bool has_awaited_ = !awaits<K>;
  std::vector<Registers> registers_;
  std::vector<Byte> shared_;
  std::vector<std::deque<std::vector<Copy>>> copies_;
};

/// A family in the list of all whose kernels some test has to run. To join it takes no memory,
/// because a library that throws while it is loaded ends the process.
struct Family {
  template <class... K> explicit Family(KernelList<K...>)
      : names([] { return std::set<std::string>{typeid(K).name()...}; }) {}

  std::set<std::string> (*names)();  ///< under which its kernels are launched
  const Family* next = std::exchange(first, this);
  static inline const Family* first = nullptr;
};

template <class K> void start(i64 blocks, const typename K::Parameters& p, cudaStream_t stream) {
  static_assert(sizeof p <= 4096, "the parameters of a kernel end there");
  check(fake::launch(typeid(K).name(), blocks, K::kThreads, stream,
            [p](i64 b) {
              EmulatedBlock<K> block(b, Watch::current());
              K::run(p, block);
            }),
      "cudaLaunchKernel");
}

}  // namespace lockstep::cuda
