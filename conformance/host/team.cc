#include "conformance/host/team.h"

#include <stdexcept>
#include <system_error>

namespace lockstep::judge {

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Team::at_once(int n, const std::function<void(int)>& f) {
  grow(n - 1);
  {
    const std::lock_guard lock(mutex_);
    call_ = &f;
    wanted_ = n;
    left_ = n - 1;
    here_ = 0;
    ++round_;
  }
  wake_.notify_all();
  arrive(0, n, f);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return left_ == 0; });
  if (here_ != n) throw std::runtime_error("several callers did not begin at once");
}

void Team::grow(int threads) {
  try {
    for (int k = static_cast<int>(threads_.size()); k < threads; ++k)
      threads_.emplace_back([this, k] { serve(k + 1); });
  } catch (const std::system_error&) {
    throw std::runtime_error("no threads for several callers at once");
  }
}

void Team::serve(int k) {
  std::unique_lock lock(mutex_);
  for (u64 served = 0;;) {
    wake_.wait(lock, [&] { return ends_ || (round_ != served && k < wanted_); });
    if (ends_) return;
    served = round_;
    const int of = wanted_;
    const std::function<void(int)>& f = *call_;
    lock.unlock();
    arrive(k, of, f);
    lock.lock();
    if (--left_ == 0) done_.notify_one();
  }
}

// Spins: a thread that slept until all are here would wake only after the others have finished.
void Team::arrive(int k, int of, const std::function<void(int)>& f) {
  for (++here_; here_ < of;) std::this_thread::yield();
  f(k);
}

}  // namespace lockstep::judge
