#include "backends/cpu/pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace lockstep::cpu {
namespace {

// Measured with two threads that poll: 5 us of work become 3.3, 10 us 5.8, and 20 us 10.9.
constexpr double kAloneNs = 4e3;
// Waking a thread takes 7 us, and up to 70 us if it has to leave a processor. It pays once so much
// work has come since threads slept.
constexpr double kWakeNs = 12e3, kWakeAndLeaveNs = 100e3;
// Claiming items is one atomic operation; so much work keeps it at a few percent.
constexpr double kChunkNs = 1e3;

// Moves this thread to another processor if it runs on this one. Linux may wake a thread where its
// waker runs, and then leave both there for ten milliseconds though other processors idle.
void leave(int processor) {
  cpu_set_t all, others;
  if (sched_getcpu() != processor || sched_getaffinity(0, sizeof all, &all) != 0) return;
  others = all;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof all, &all);
}

}  // namespace

// More threads than processors would poll in each other's way.
ThreadPool::ThreadPool(int threads, int polls) : threads_(threads) {
  if (threads <= static_cast<int>(std::thread::hardware_concurrency())) shared_->polls = polls;
}

// Lets other threads run, at most so many times, until it has come. @return how many times
template <class F> int ThreadPool::poll(int most, const F& has_come) {
  int i = 0;
  while (i < most) {
    std::this_thread::yield();
    ++i;
    if (has_come()) break;
  }
  return i;
}

bool ThreadPool::pays_to_wake(double ns) {
  if (shared_->awake.load(std::memory_order_relaxed) > 0) return true;
  const double least = shared_->polls > 0 ? kWakeAndLeaveNs : kWakeNs;
  if (shared_->slept_ns.fetch_add(ns, std::memory_order_relaxed) + ns < least) return false;
  shared_->slept_ns.store(0, std::memory_order_relaxed);
  return true;
}

int64_t ThreadPool::least_items(int64_t count, double item_ns) {
  const double ns = static_cast<double>(count) * item_ns;
  if (threads_ == 1 || ns < kAloneNs || !pays_to_wake(ns)) return count;
  return std::min(count, static_cast<int64_t>(kChunkNs / std::max(item_ns, 0.01)) + 1);
}

bool ThreadPool::is_forked() const {
  const pid_t owner = owner_.load();
  return owner != 0 && owner != getpid();
}

ThreadPool::Job::Job(int64_t n, int64_t l, int threads)
    : count(n), least(l), shares(std::min(threads, kSharesMax)) {
  for (int i = 0; i < shares; ++i) {
    share[i].next = n / shares * i + n % shares * i / shares;
    share[i].end = n / shares * (i + 1) + n % shares * (i + 1) / shares;
  }
}

bool ThreadPool::Job::has_items() const {
  return std::any_of(share, share + shares, [](const Share& s) { return s.has_items(); });
}

void ThreadPool::Job::drop_items() {
  for (int i = 0; i < shares; ++i) share[i].next.store(share[i].end, std::memory_order_relaxed);
}

// Claims half of what is left of a share, so that ranges are long at first, and short at the end,
// when another thread may help.
void ThreadPool::work_on(const Job& job, Share& share) {
  for (;;) {
    int64_t begin = share.next.load(std::memory_order_relaxed), end = 0;
    do {
      if (begin >= share.end) return;
      const int64_t left = share.end - begin;
      end = begin + std::min(left, std::max(job.least, left / 2));
    } while (!share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    job.call(job.context, begin, end);
  }
}

void ThreadPool::work_on(Shared& shared, Job& job, int thread) {
  try {
    for (int i = 0; i < job.shares; ++i) work_on(job, job.share[(thread + i) % job.shares]);
  } catch (...) {
    job.drop_items();
    const std::lock_guard lock(shared.mutex);
    if (!job.error) job.error = std::current_exception();
  }
}

void ThreadPool::share(Job& job) {
  // A forked process has no worker threads, and its copy of the mutex may be locked forever.
  if (is_forked()) return job.call(job.context, 0, job.count);
  job.processor = sched_getcpu();
  Shared& shared = *shared_;
  bool is_asleep = false;
  {
    const std::lock_guard lock(shared.mutex);
    if (shared.workers.empty()) start_threads();
    *link_to(shared, nullptr) = &job;
    shared.waiting_jobs.fetch_add(1);
    is_asleep = shared.awake < static_cast<int>(shared.workers.size());
  }
  if (is_asleep) {
    shared.wake.notify_all();
    if (shared.polls > 0) std::this_thread::yield();  // to a thread that has to leave
  }
  work_on(shared, job, 0);
  {
    const std::lock_guard lock(shared.mutex);
    *link_to(shared, &job) = job.behind;
    shared.waiting_jobs.fetch_sub(1);
  }
  if (job.helpers > 0) poll(shared.polls, [&] { return job.helpers == 0; });
  std::unique_lock lock(shared.mutex);
  shared.done.wait(lock, [&] { return job.helpers == 0; });
  if (job.error) std::rethrow_exception(job.error);
}

// The caller holds the mutex. If the system refuses some threads, the others do the work.
void ThreadPool::start_threads() {
  owner_.store(getpid());
  try {
    for (int i = 1; i < threads_; ++i)
      shared_->workers.emplace_back([&shared = *shared_, i] { serve(shared, i); });
  } catch (const std::system_error&) {
  }
}

// What points to a job of the list, or to its end. The caller holds the mutex.
ThreadPool::Job** ThreadPool::link_to(Shared& shared, const Job* job) {
  Job** link = &shared.jobs;
  while (*link != job) link = &(*link)->behind;
  return link;
}

// The caller holds the mutex.
ThreadPool::Job* ThreadPool::open_job(const Shared& shared) {
  Job* job = shared.jobs;
  while (job && !job->has_items()) job = job->behind;
  return job;
}

void ThreadPool::serve(Shared& shared, int thread) {
  std::unique_lock lock(shared.mutex);
  ++shared.awake;
  int polls = 0;  // since the last job, or since it was woken
  while (!shared.stopping) {
    if (Job* job = open_job(shared)) {
      ++job->helpers;
      lock.unlock();
      if (shared.polls > 0) leave(job->processor);
      work_on(shared, *job, thread);
      lock.lock();
      if (--job->helpers == 0) shared.done.notify_all();
      polls = 0;
    } else if (polls < shared.polls) {
      // A job that has come may have no items left. The thread stays awake: another one follows.
      lock.unlock();
      polls += poll(shared.polls - polls, [&] {
        return shared.waiting_jobs.load(std::memory_order_relaxed) > 0 || shared.stopping;
      });
      lock.lock();
    } else {
      --shared.awake;
      shared.wake.wait(lock, [&] { return shared.stopping || open_job(shared); });
      ++shared.awake;
      polls = 0;
    }
  }
}

ThreadPool::~ThreadPool() {
  if (is_forked()) {
    // This process cannot join or destroy threads of another process.
    static_cast<void>(shared_.release());
    return;
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->wake.notify_all();
  for (std::thread& worker : shared_->workers) worker.join();
}

}  // namespace lockstep::cpu
