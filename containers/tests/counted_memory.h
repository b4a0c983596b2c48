/// @file
/// What a test program allocates, counted as if nothing were ever freed: the sum bounds the peak
/// from above. Any single allocation can be made to fail. The program is linked with
/// counted_memory.cc.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "containers/exceptions.h"

namespace lockstep {

/// The bytes that this program has allocated.
std::size_t allocated_bytes();

/// The bytes that a call allocates.
template <class Call> std::size_t allocated_by(Call call) {
  const std::size_t before = allocated_bytes();
  call();
  return allocated_bytes() - before;
}

/// Makes an allocation of this thread fail: the next one is number 0. Those after it succeed.
void fail_allocation(std::size_t number);

/// Whether an allocation failed since fail_allocation(); none does any more.
bool allocation_failed();

/// Calls as often as the call allocates, each time with another allocation failing, and expects
/// each time that the call succeeds nevertheless or names this file. Answers with the number of
/// times that it was named.
template <class Call> int times_named_without_memory(const std::string& file, const Call& call) {
  int times = 0;
  for (std::size_t number = 0;; ++number) {
    fail_allocation(number);
    try {
      call();
      if (!allocation_failed()) return times;
    } catch (const utils::OutOfMemory& error) {
      EXPECT_TRUE(allocation_failed());
      EXPECT_EQ(error.path(), file) << error.what();
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
      ++times;
    } catch (const std::exception& error) {
      allocation_failed();
      ADD_FAILURE() << "allocation " << number << ": " << error.what();
    }
  }
}

}  // namespace lockstep
