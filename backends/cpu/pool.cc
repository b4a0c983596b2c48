#include "backends/cpu/pool.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace lockstep::cpu {
namespace {

// Measured with two threads that poll: 5 us of work become 4.4, 10 us 7.5, and 20 us 12.5.
constexpr double kAloneNs = 12e3;
// Claiming a chunk is one atomic addition; this size keeps it at a few percent of the work.
constexpr double kChunkNs = 2e3;
// Chunks per thread: enough to balance threads that start late.
constexpr int64_t kChunksPerThread = 8;

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

int64_t ThreadPool::chunk_size(int64_t count, double item_ns) const {
  if (threads_ == 1 || count < 2 || static_cast<double>(count) * item_ns < kAloneNs) return count;
  const auto least = static_cast<int64_t>(kChunkNs / std::max(item_ns, 0.01)) + 1;
  const int64_t even = (count - 1) / (threads_ * kChunksPerThread) + 1;
  return std::min(count, std::max(least, even));
}

bool ThreadPool::is_forked() const {
  const pid_t owner = owner_.load();
  return owner != 0 && owner != getpid();
}

void ThreadPool::work_on(Shared& shared, Job& job) {
  try {
    for (;;) {
      const int64_t begin = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
      if (begin >= job.count) return;
      job.call(job.context, begin, std::min(job.count, begin + job.chunk));
    }
  } catch (...) {
    job.next.store(job.count, std::memory_order_relaxed);
    const std::lock_guard lock(shared.mutex);
    if (!job.error) job.error = std::current_exception();
  }
}

void ThreadPool::share(Job& job) {
  // A forked process has no worker threads, and its copy of the mutex may be locked forever.
  if (is_forked()) return job.call(job.context, 0, job.count);
  Shared& shared = *shared_;
  bool is_asleep = false;
  {
    const std::lock_guard lock(shared.mutex);
    if (shared.workers.empty()) start_threads();
    *link_to(shared, nullptr) = &job;
    shared.waiting_jobs.fetch_add(1);
    is_asleep = shared.sleeping > 0;
  }
  if (is_asleep) shared.wake.notify_all();
  work_on(shared, job);
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
      shared_->workers.emplace_back([&shared = *shared_] { serve(shared); });
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

void ThreadPool::serve(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  int polls = 0;  // since the last job, or since it was woken
  while (!shared.stopping) {
    if (Job* job = open_job(shared)) {
      ++job->helpers;
      lock.unlock();
      work_on(shared, *job);
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
      ++shared.sleeping;
      shared.wake.wait(lock, [&] { return shared.stopping || open_job(shared); });
      --shared.sleeping;
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
