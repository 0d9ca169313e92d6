// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "millrace/errors/stop_flag.h"

namespace millrace {
namespace {

TEST(RunInParallel, RunsEveryPassOnceAtAnyNumberOfThreads) {
  for (const int threads : {1, 3, 20}) {
    std::vector<std::atomic<int>> times(10);
    RunInParallel(10, threads, [&](int i) { ++times[static_cast<std::size_t>(i)]; });
    for (const std::atomic<int>& count : times) EXPECT_EQ(count, 1) << threads;
  }
  RunInParallel(0, 3, [](int) { FAIL(); });
}

TEST(RunInParallel, CountsThePassesThatAreDoneOneByOne) {
  std::vector<int> reports;
  RunInParallel(
      50, 3, [](int) {},
      [&](int done, int total) {
        EXPECT_EQ(total, 50);
        reports.push_back(done);
      });
  ASSERT_EQ(reports.size(), 50u);
  for (std::size_t i = 0; i < reports.size(); ++i) EXPECT_EQ(reports[i], static_cast<int>(i) + 1);
}

TEST(RunInParallel, ThrowsTheFailureOfTheLowestNumberAndBeginsNoPassAfterOne) {
  for (const int threads : {1, 3}) {
    std::atomic<int> begun = 0;
    try {
      RunInParallel(100'000, threads, [&](int i) {
        ++begun;
        if (i >= 5) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
    EXPECT_LE(begun, 5 + threads);
  }
}

TEST(RunInParallel, HasAllItsThreadsHeedTheCallersStopFlag) {
  StopFlag flag{false};
  const StopScope scope(&flag);
  RunInParallel(100, 4, [&](int) { EXPECT_EQ(StopScope::Here(), &flag); });
}

}  // namespace
}  // namespace millrace
