/// @file
/// A small persistent thread pool. Every item is run exactly once by exactly one thread, so that
/// results that do not depend on order do not depend on the number of threads either.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep::cpu {

/// Threads that share the items of loops. run() may be called from several threads at once; the
/// caller always works too, and nobody waits for a thread that has not joined its loop.
class Pool {
 public:
  /// No thread is started here: a process that forks after loading must still be able to.
  explicit Pool(int threads) : threads_(threads) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return threads_; }

  /// Calls f(begin, end) for ranges that partition 0 <= i < count. An item costs about `item_ns`;
  /// small loops run on the calling thread alone. The first exception of f reaches the caller.
  template <class F>
  void run(int64_t count, double item_ns, const F& f) {
    const int64_t chunk = chunk_size(count, item_ns);
    if (chunk >= count) {
      if (count > 0) f(int64_t{0}, count);
      return;
    }
    Job job(count, chunk);
    job.context = &f;
    job.call = [](const void* g, int64_t begin, int64_t end) {
      (*static_cast<const F*>(g))(begin, end);
    };
    share(job);
  }

 private:
  struct Job {
    Job(int64_t n, int64_t c) : count(n), chunk(c) {}
    const int64_t count, chunk;
    const void* context = nullptr;
    void (*call)(const void*, int64_t, int64_t) = nullptr;
    std::atomic<int64_t> next{0};
    int helpers = 0;           // guarded by the pool's mutex
    std::exception_ptr error;  // guarded by the pool's mutex
    bool has_items() const { return next.load(std::memory_order_relaxed) < count; }
  };

  int64_t chunk_size(int64_t count, double item_ns) const;
  void share(Job& job);
  void work_on(Job& job);
  void start_threads();
  void serve();
  Job* open_job();

  const int threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Job*> jobs_;
  std::vector<std::thread> workers_;
  std::atomic<int> waiting_jobs_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<pid_t> owner_{0};  // the process that started the threads
};

}  // namespace lockstep::cpu
