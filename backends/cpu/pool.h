/// @file
/// A small persistent thread pool. Every item is run exactly once by exactly one thread, so that
/// results that do not depend on order do not depend on the number of threads either.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep::cpu {

/// Threads that share the items of loops. run() may be called from several threads at once; the
/// caller always works too, and waits only for threads that have joined its loop.
class ThreadPool {
 public:
  /// Starts no threads yet, so that a process can still fork after it loaded the library. A thread
  /// without work looks for some `polls` times, and then sleeps.
  explicit ThreadPool(int threads, int polls = kPolls);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  /// How many items of equal cost a loop needs for threads to end at about the same time.
  int64_t items_that_balance() const {
    constexpr int64_t kItemsPerThread = 16;
    return threads_ == 1 ? 1 : threads_ * kItemsPerThread;
  }

  /// Calls f(begin, end) for ranges that partition 0 <= i < count. An item costs about `item_ns`;
  /// small loops run on the calling thread alone. The first exception of f reaches the caller.
  /// Allocates nothing but the threads, which the first loop that is shared starts.
  template <class F> void run(int64_t count, double item_ns, const F& f) {
    const int64_t least = least_items(count, item_ns);
    if (least >= count) {
      if (count > 0) run_range(f, 0, count);
      return;
    }
    Job job(count, least, threads_);
    job.context = &f;
    job.call = [](const void* g, int64_t begin, int64_t end) {
      run_range(*static_cast<const F*>(g), begin, end);
    };
    share(job);
  }

 private:
  // Loops and calls follow each other closely, and waking a thread takes longer than many loops. A
  // thread therefore polls for about a millisecond before it sleeps.
  static constexpr int kPolls = 4000;
  static constexpr int kSharesMax = 16;  // a Job lies on the stack

  /// Neighbouring items of a loop, which one thread begins with in every loop, so that it often
  /// finds in its caches what it wrote before. Others take what it leaves when theirs are done.
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
    bool has_items() const { return next.load(std::memory_order_relaxed) < end; }
  };

  struct Job {
    Job(int64_t count, int64_t least, int threads);
    bool has_items() const;
    void drop_items();
    int64_t count, least;  // items: all, and those that a thread claims at least
    int shares;
    int processor = -1;  // the caller's
    Share share[kSharesMax];
    const void* context = nullptr;
    void (*call)(const void*, int64_t, int64_t) = nullptr;
    std::atomic<int> helpers{0};  // changes only under Shared::mutex
    std::exception_ptr error;     // guarded by Shared::mutex, as `behind` is
    Job* behind = nullptr;
  };

  /// The state that threads share. It is separate from the pool because a forked process must leak
  /// its copy: destroying a condition variable on which lost threads wait would never end.
  struct Shared {
    std::mutex mutex;
    std::condition_variable wake, done;
    Job* jobs = nullptr;  // the first of a list, which allocates nothing
    std::vector<std::thread> workers;
    std::atomic<int> waiting_jobs{0};
    std::atomic<int> awake{0};        // workers; changes only under the mutex
    std::atomic<double> slept_ns{0};  // of loops that ran alone because no worker is awake
    int polls = 0;
    std::atomic<bool> stopping{false};  // changes only under the mutex
  };

  /// Runs f, and orders its stores that bypass the caches before later ones. x86-64 does not by
  /// itself: a thread could learn of the end of a loop and still read what was there before.
  template <class F> static void run_range(const F& f, int64_t begin, int64_t end) {
    f(begin, end);
#ifdef __x86_64__
    __builtin_ia32_sfence();
#endif
  }

  bool pays_to_wake(double ns);
  int64_t least_items(int64_t count, double item_ns);
  bool is_forked() const;
  void share(Job& job);
  void start_threads();
  static void work_on(Shared& shared, Job& job, int thread);
  static void work_on(const Job& job, Share& share);
  static void serve(Shared& shared, int thread);
  static Job** link_to(Shared& shared, const Job* job);
  static Job* open_job(const Shared& shared);
  template <class F> static int poll(int most, const F& has_come);

  const int threads_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  std::atomic<pid_t> owner_{0};  // the process that started the threads
};

}  // namespace lockstep::cpu
