/// @file
/// What the tests see of the threads of a block: the accesses of each to shared memory and to the
/// tensors.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/arithmetic.h"

namespace lockstep::cuda {

/// Counts accesses and keeps the first problem of every kind. A phase ends at a barrier. Between
/// two barriers, no thread may read or write what another one writes.
class Watch {
 public:
  /// The one that blocks report to; nullptr: none.
  static Watch*& current() {
    static Watch* watch = nullptr;
    return watch;
  }

  static constexpr int kAll = -3;  ///< all threads, as the one that reads

  int64_t shared_reads = 0, shared_writes = 0;
  int64_t moves = 0;                             ///< reads and stores of tensors, of any width
  int64_t waves = 0;                             ///< of a warp's accesses to shared memory
  int64_t conflicts = 0;                         ///< those of them that wait for a bank
  std::map<const void*, int64_t> read, written;  ///< words of the tensors, with how often;
                                                 ///< what is smaller than a word, likewise
  std::map<std::string, int64_t> problems;

  void begin_block(int shared, int threads) {
    words_.assign(static_cast<std::size_t>(shared + 3) / 4, {});
    accesses_.assign(static_cast<std::size_t>(threads), {});
  }
  void begin_phase() {
    for (Word& w : words_) w = {kNobody, kNobody, w.copier};
  }
  /// Ends the phase of words that threads of one warp alone have read and written.
  void begin_phase_of_warps() {
    for (Word& w : words_)
      if (w.warp != kMany) w = {kNobody, kNobody, w.copier};
  }
  void read_shared(int thread, int offset, int bytes) {
    ++shared_reads;
    for (const int at : words(offset, bytes)) {
      Word& w = words_.at(static_cast<std::size_t>(at));
      if (w.copier != kNobody) ++problems["a read of what is still being copied"];
      if (w.writer != kNobody && w.writer != thread) ++problems["a read without a barrier"];
      w.reader = w.reader == kNobody || w.reader == thread ? thread : kMany;
      w.note(thread);
    }
  }
  void write_shared(int thread, int offset, int bytes) {
    ++shared_writes;
    for (const int at : words(offset, bytes)) {
      Word& w = words_.at(static_cast<std::size_t>(at));
      if (w.copier != kNobody) ++problems["a write of what is still being copied"];
      if (w.reader != kNobody && w.reader != thread) ++problems["a write without a barrier"];
      if (w.writer != kNobody && w.writer != thread) ++problems["two writes without a barrier"];
      w.writer = thread;
      w.note(thread);
    }
  }
  void begin_copy(int thread, int offset, int bytes) {
    write_shared(thread, offset, bytes);
    for (const int at : words(offset, bytes)) words_[static_cast<std::size_t>(at)].copier = thread;
  }
  void end_copy(int thread, int offset, int bytes) {
    for (const int at : words(offset, bytes)) {
      words_[static_cast<std::size_t>(at)].copier = kNobody;
      words_[static_cast<std::size_t>(at)].writer = thread;
    }
  }
  /// An access of a thread; the other threads of its warp access memory at the same time.
  void access(int thread, int offset, int bytes) {
    accesses_[static_cast<std::size_t>(thread)].push_back({offset, bytes});
  }
  /// Counts the waves of the accesses since the last call. Banks have four bytes, 32 make a wave.
  void count_waves();

 private:
  static constexpr int kNobody = -1, kMany = -2, kWarp = 32, kBanks = 32;
  struct Word {
    int reader = kNobody, writer = kNobody, copier = kNobody;
    int warp = kNobody;  ///< of all threads that have read or written it since a barrier
    void note(int thread) {
      const int its = thread == kAll ? kMany : thread / kWarp;
      warp = warp == kNobody || warp == its ? its : kMany;
    }
  };
  struct Access {
    int offset, bytes;
  };
  static std::vector<int> words(int offset, int bytes) {
    std::vector<int> all;
    for (int at = offset / 4; at * 4 < offset + bytes; ++at) all.push_back(at);
    return all;
  }

  std::vector<Word> words_;
  std::vector<std::vector<Access>> accesses_;
};

inline void Watch::count_waves() {
  for (std::size_t warp = 0; warp < accesses_.size(); warp += kWarp)
    for (std::size_t k = 0;; ++k) {
      // Accesses of 16 bytes go eight lanes at a time.
      std::map<std::size_t, std::map<int, std::map<int, bool>>> banks;
      for (std::size_t lane = warp; lane < warp + kWarp && lane < accesses_.size(); ++lane)
        if (k < accesses_[lane].size()) {
          const Access& a = accesses_[lane][k];
          for (const int w : words(a.offset, a.bytes))
            banks[a.bytes == 16 ? lane / 8 : 0][w % kBanks][w] = true;
        }
      if (banks.empty()) break;
      for (const auto& [part, wave] : banks) {
        std::size_t most = 0;
        for (const auto& [bank, distinct] : wave) most = std::max(most, distinct.size());
        ++waves;
        conflicts += static_cast<int64_t>(most) - 1;
      }
    }
  for (auto& of_thread : accesses_) of_thread.clear();
}

}  // namespace lockstep::cuda
