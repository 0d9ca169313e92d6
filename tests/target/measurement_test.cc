// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "millrace/random/random.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

class FakePlan : public LoadedPlan {
 public:
  explicit FakePlan(std::function<double()> run) : run_(std::move(run)) {}
  double Run() override { return run_(); }

 private:
  std::function<double()> run_;
};

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  const std::vector<double> values = {4, 1, 3, 2, 5};
  EXPECT_DOUBLE_EQ(Quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(values, 1), 5);
  EXPECT_DOUBLE_EQ(Median(values), 3);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.95), 4.8);
  EXPECT_DOUBLE_EQ(Median(std::vector<double>{1, 2}), 1.5);
  EXPECT_DOUBLE_EQ(Quantile(std::vector<double>{7}, 0.3), 7);
  EXPECT_TRUE(std::isnan(Median({})));
}

TEST(RankCorrelation, IsOneForAnyIncreasingRelationAndMinusOneForADecreasingOne) {
  std::vector<double> a, growing, falling;
  for (int i = 1; i <= 20; ++i) {
    a.push_back(i);
    growing.push_back(std::exp(i));
    falling.push_back(1.0 / i);
  }
  EXPECT_DOUBLE_EQ(RankCorrelation(a, growing), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation(a, falling), -1);
}

TEST(RankCorrelation, GivesTiesTheirMeanRank) {
  // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
  EXPECT_NEAR(RankCorrelation(std::vector<double>{1, 2, 2, 3}, std::vector<double>{1, 2, 3, 4}), 4.5 / std::sqrt(22.5),
              1e-12);
}

TEST(RankCorrelation, IsUndefinedWithoutVariation) {
  EXPECT_TRUE(std::isnan(RankCorrelation(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3})));
  EXPECT_TRUE(std::isnan(RankCorrelation(std::vector<double>{1}, std::vector<double>{1})));
}

TEST(CorrelationToldApart, CountsOnlyPairsWhoseIntervalsDoNotMeet) {
  const std::vector<Interval> times{{1, 2}, {1.5, 2.5}, {3, 4}};
  // The first two cannot be told apart, so their order does not matter.
  EXPECT_DOUBLE_EQ(CorrelationToldApart(std::vector<double>{1, 2, 3}, times), 1);
  EXPECT_DOUBLE_EQ(CorrelationToldApart(std::vector<double>{2, 1, 3}, times), 1);
  EXPECT_DOUBLE_EQ(CorrelationToldApart(std::vector<double>{1, 3, 2}, times), 0) << "one pair right, one wrong";
  EXPECT_DOUBLE_EQ(CorrelationToldApart(std::vector<double>{1, 2, 2}, times), 0.5) << "a tie is neither";
  EXPECT_DOUBLE_EQ(CorrelationToldApart(std::vector<double>{3, 3, 1}, times), -1);
}

TEST(CorrelationToldApart, IsUndefinedWhereAllIntervalsMeet) {
  EXPECT_TRUE(std::isnan(CorrelationToldApart(std::vector<double>{1, 2}, std::vector<Interval>{{1, 2}, {2, 3}})));
  EXPECT_TRUE(std::isnan(CorrelationToldApart({}, {})));
}

TEST(MedianInterval, HoldsTheTrueMedianAboutAsOftenAsItSays) {
  Random random(5);
  int held = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 25; ++i) values.push_back(random.LogNormal(0, 0.2));
    const Interval interval = MedianInterval(values);
    EXPECT_LE(interval.low, Median(values));
    EXPECT_GE(interval.high, Median(values));
    held += interval.low <= 1 && interval.high >= 1;
  }
  EXPECT_GE(held, rounds * 0.88);
  EXPECT_LT(held, rounds);
}

TEST(MedianInterval, OfOneValueIsThatValueAndOfNothingNone) {
  EXPECT_EQ(MedianInterval(std::vector<double>{3}).low, 3);
  EXPECT_EQ(MedianInterval(std::vector<double>{3}).high, 3);
  EXPECT_TRUE(std::isnan(MedianInterval({}).low));
}

TEST(RatioOfMedians, TheIntervalHoldsTheTrueRatioAboutAsOftenAsItSays) {
  Random random(3);
  int held = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> of, to;
    for (int i = 0; i < 40; ++i) {
      of.push_back(0.8 * random.LogNormal(0, 0.1));
      to.push_back(random.LogNormal(0, 0.1));
    }
    RatioOptions options;
    options.resamples = 400;
    options.paired = round % 2 == 0;
    options.seed = static_cast<std::uint64_t>(round);
    const Interval interval = RatioOfMedians(of, to, options);
    EXPECT_LE(interval.low, interval.high);
    held += interval.low <= 0.8 && 0.8 <= interval.high;
  }
  EXPECT_GE(held, rounds * 88 / 100);
  EXPECT_LE(held, rounds - 1);
}

TEST(RatioOfMedians, PairingRemovesWhatSlowedBothDown) {
  Random random(4);
  std::vector<double> of, to;
  for (int i = 0; i < 30; ++i) {
    const double weather = random.LogNormal(0, 0.5);
    of.push_back(0.9 * weather);
    to.push_back(weather);
  }
  const Interval paired = RatioOfMedians(of, to);
  EXPECT_NEAR(paired.low, 0.9, 1e-9);
  EXPECT_NEAR(paired.high, 0.9, 1e-9);
  RatioOptions apart;
  apart.paired = false;
  const Interval unpaired = RatioOfMedians(of, to, apart);
  EXPECT_GT(unpaired.high - unpaired.low, 0.1);
}

TEST(MeasurePlan, LeavesTheWarmUpOutAndSummarises) {
  double next = 0;
  FakePlan plan([&] { return next++; });
  MeasureOptions options;
  options.warm_up = 3;
  options.repetitions = 5;
  const Measurement measured = MeasurePlan(plan, options);
  EXPECT_THAT(measured.times, ElementsAre(3, 4, 5, 6, 7));
  EXPECT_FALSE(measured.failed);
  EXPECT_DOUBLE_EQ(measured.median, 5);
  EXPECT_DOUBLE_EQ(measured.min, 3);
  EXPECT_THAT(measured.p95, DoubleNear(6.8, 1e-12));
}

TEST(MeasurePlan, APlanThatFailsIsMarkedAndRunNoMore) {
  int calls = 0;
  FakePlan plan([&]() -> double {
    if (++calls == 3) throw MeasurementFailed("the board caught fire");
    return 1;
  });
  MeasureOptions options;
  options.warm_up = 1;
  options.repetitions = 10;
  const Measurement measured = MeasurePlan(plan, options);
  EXPECT_TRUE(measured.failed);
  EXPECT_EQ(measured.error, "the board caught fire");
  EXPECT_EQ(calls, 3);
}

TEST(MeasureInterleaved, GoesRoundAndBackSoThatNoPlanIsAlwaysFirst) {
  std::vector<int> order;
  std::vector<std::unique_ptr<FakePlan>> plans;
  std::vector<LoadedPlan*> pointers;
  for (int i = 0; i < 3; ++i) {
    plans.push_back(std::make_unique<FakePlan>([&order, i] {
      order.push_back(i);
      return i + 1.0;
    }));
    pointers.push_back(plans.back().get());
  }
  MeasureOptions options;
  options.warm_up = 0;
  options.repetitions = 2;
  const std::vector<Measurement> measured = MeasureInterleaved(pointers, options);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 2, 1, 0));
  EXPECT_DOUBLE_EQ(measured[2].median, 3);
}

constexpr const char* kStat =
    "cpu  10 0 20 1000 5 1 2 7 0 0\n"
    "cpu0 100 10 50 400 2 3 4 5 0 0\n"
    "cpu1 7 0 3 600 3 0 0 2 0 0\n"
    "cpu10 1000 0 0 0 0 0 0 0 0 0\n"
    "intr 1 2 3\n";

TEST(MeasureInterleaved, BeginsNoRepetitionOnceTimeIsUpButTheFirst) {
  int runs = 0;
  FakePlan plan([&runs] {
    ++runs;
    return 1.0;
  });
  MeasureOptions options;
  options.warm_up = 1;
  options.repetitions = 5;
  EXPECT_EQ(MeasurePlan(plan, options).times.size(), 5u);
  options.seconds = 0;
  runs = 0;
  EXPECT_EQ(MeasurePlan(plan, options).times.size(), 1u);
  EXPECT_EQ(runs, 2);
}

TEST(ProcessorTimes, AddUpTheProcessorsAskedFor) {
  const auto one = ParseProcessorTimes(kStat, {1}, 100);
  ASSERT_TRUE(one.has_value());
  EXPECT_DOUBLE_EQ(one->busy, 0.1);
  EXPECT_DOUBLE_EQ(one->stolen, 0.02);
  const auto both = ParseProcessorTimes(kStat, {0, 10}, 100);
  ASSERT_TRUE(both.has_value());
  EXPECT_DOUBLE_EQ(both->busy, 1.67 + 10);
}

TEST(ProcessorTimes, AreUnknownWhereAProcessorIsMissingOrTheTextIsOdd) {
  EXPECT_FALSE(ParseProcessorTimes(kStat, {2}, 100).has_value());
  EXPECT_FALSE(ParseProcessorTimes("", {0}, 100).has_value());
  EXPECT_FALSE(ParseProcessorTimes("cpu  1\ncpu0 1 2 x\n", {0}, 100).has_value());
}

// What the system says that the processor has done so far; 0 where it does not tell.
double BusySeconds(int cpu) {
  std::ifstream file("/proc/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto times = ParseProcessorTimes(text, {cpu}, 100);
  return times ? times->busy : 0;
}

// A child that nobody has waited for is somebody else.
TEST(DisturbanceWatch, SeesAnotherProcessOnItsProcessor) {
  const int cpu = ::sched_getcpu();
  ASSERT_GE(cpu, 0);
  const pid_t busy = ::fork();
  if (busy == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    while (::getppid() != 0) {
    }
  }
  ASSERT_GT(busy, 0);
  const double busy_before = BusySeconds(cpu);
  const DisturbanceWatch watch({cpu});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const double share = watch.ShareOfOthers();
  const bool disturbed = watch.Disturbed(), told = BusySeconds(cpu) > busy_before;
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
  if (!told) GTEST_SKIP() << "the system does not tell";
  EXPECT_GT(share, 0.5);
  EXPECT_TRUE(disturbed);
}

TEST(DisturbanceWatch, GivesAShare) {
  const DisturbanceWatch watch({0});
  EXPECT_GE(watch.ShareOfOthers(), 0);
  EXPECT_LE(watch.ShareOfOthers(), 1);
  EXPECT_EQ(DisturbanceWatch({100000}).ShareOfOthers(), 0);
}

}  // namespace
}  // namespace millrace
