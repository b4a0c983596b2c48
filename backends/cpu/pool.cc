#include "backends/cpu/pool.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace lockstep::cpu {
namespace {

// Waking a thread takes 5 to 50 us: a loop that is shorter is faster alone.
constexpr double kAloneNs = 30e3;
// A chunk's claim is one atomic addition; this keeps it below a hundredth of the work.
constexpr double kChunkNs = 5e3;
// Chunks per thread: enough to even out threads that start late.
constexpr int64_t kChunksPerThread = 8;
// Loops of a call follow each other closely: a worker looks this often before it sleeps.
constexpr int kSpins = 200;

}  // namespace

int64_t Pool::chunk_size(int64_t count, double item_ns) const {
  if (threads_ == 1 || count < 2 || static_cast<double>(count) * item_ns < kAloneNs) return count;
  const auto least = static_cast<int64_t>(kChunkNs / std::max(item_ns, 0.01)) + 1;
  const int64_t even = (count - 1) / (threads_ * kChunksPerThread) + 1;
  return std::min(count, std::max(least, even));
}

void Pool::work_on(Job& job) {
  try {
    for (;;) {
      const int64_t begin = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
      if (begin >= job.count) return;
      job.call(job.context, begin, std::min(job.count, begin + job.chunk));
    }
  } catch (...) {
    job.next.store(job.count, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!job.error) job.error = std::current_exception();
  }
}

void Pool::share(Job& job) {
  // A fork takes no threads along, and its copy of the mutex may be locked for ever.
  const pid_t owner = owner_.load();
  if (owner != 0 && owner != getpid()) return job.call(job.context, 0, job.count);
  {
    const std::lock_guard lock(mutex_);
    if (workers_.empty()) start_threads();
    jobs_.push_back(&job);
    waiting_jobs_.fetch_add(1);
  }
  wake_.notify_all();
  work_on(job);
  std::unique_lock lock(mutex_);
  jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  waiting_jobs_.fetch_sub(1);
  done_.wait(lock, [&] { return job.helpers == 0; });
  if (job.error) std::rethrow_exception(job.error);
}

// The mutex is held. A machine that gives fewer threads than asked for still computes.
void Pool::start_threads() {
  owner_.store(getpid());
  try {
    for (int i = 1; i < threads_; ++i) workers_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
  }
}

// The mutex is held.
Pool::Job* Pool::open_job() {
  for (Job* job : jobs_)
    if (job->has_items()) return job;
  return nullptr;
}

void Pool::serve() {
  std::unique_lock lock(mutex_);
  while (!stopping_.load()) {
    Job* job = open_job();
    if (job) {
      ++job->helpers;
      lock.unlock();
      work_on(*job);
      lock.lock();
      if (--job->helpers == 0) done_.notify_all();
      continue;
    }
    lock.unlock();
    for (int i = 0; i < kSpins && waiting_jobs_.load(std::memory_order_relaxed) == 0; ++i)
      std::this_thread::yield();
    lock.lock();
    wake_.wait(lock, [&] { return stopping_.load() || open_job(); });
  }
}

Pool::~Pool() {
  if (owner_.load() != getpid()) {
    // The handles of a parent's threads: there is nothing to join in this process.
    for (std::thread& worker : workers_) worker.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

}  // namespace lockstep::cpu
