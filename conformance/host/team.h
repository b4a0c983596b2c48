/// @file
/// Threads that do something at the same moment, again and again. Creating them each time would
/// take longer than their work.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "spec/random.h"

namespace lockstep::judge {

class Team {
 public:
  Team() = default;
  Team(const Team&) = delete;
  ~Team();
  /// Calls f(k) for 0 <= k < n on n threads, of which this is one, and starts no call before all of
  /// them run.
  /// @throws std::runtime_error if there are no such threads, or they began apart.
  void at_once(int n, const std::function<void(int)>& f);

 private:
  void grow(int threads);
  void serve(int k);
  void arrive(int k, int of, const std::function<void(int)>& f);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;  // numbers from 1 on
  // The state of the present round, guarded by the mutex.
  const std::function<void(int)>* call_ = nullptr;
  u64 round_ = 0;
  int wanted_ = 0, left_ = 0;
  bool ends_ = false;
  std::atomic<int> here_{0};
};

}  // namespace lockstep::judge
