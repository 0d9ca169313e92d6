// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/stop_flag.h"

#include <gtest/gtest.h>

#include <thread>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace millrace {
namespace {

TEST(StopFlag, StopsTheWorkThatHeedsItAndNoOther) {
  StopFlag flag{false};
  const StopScope scope(&flag);
  EXPECT_NO_THROW(StopIfInterrupted());
  flag = true;
  EXPECT_TRUE(InterruptRequested());
  EXPECT_THROW(StopIfInterrupted(), Interrupted);
  std::thread([] {
    EXPECT_EQ(StopScope::Here(), nullptr);
    EXPECT_FALSE(InterruptRequested());
  }).join();
}

TEST(StopFlag, IsHeededUntilItsScopeEnds) {
  StopFlag outer{true};
  StopFlag inner{false};
  {
    const StopScope of_outer(&outer);
    {
      const StopScope of_inner(&inner);
      EXPECT_EQ(StopScope::Here(), &inner);
      EXPECT_FALSE(InterruptRequested());
    }
    EXPECT_TRUE(InterruptRequested());
  }
  EXPECT_EQ(StopScope::Here(), nullptr);
  EXPECT_FALSE(InterruptRequested());
}

}  // namespace
}  // namespace millrace
