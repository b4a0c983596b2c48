/// @file
/// Work that several threads share.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <vector>

namespace lockstep::judge {

/// Calls f(k) for 0 <= k < n on several threads.
inline void for_each_at_once(
    std::size_t n, int threads, const std::function<void(std::size_t)>& f) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = 0; (k = next++) < n;) f(k);
  };
  std::vector<std::future<void>> others;
  for (int t = 1; t < threads; ++t) others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace lockstep::judge
