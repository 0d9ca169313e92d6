// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/processor_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "millrace/machine/detect.h"
#include "millrace/machine/preset.h"

namespace millrace {
namespace {

// This host's machine, or where it has one processor the same with two.
Machine GuessedMachine() {
  Machine machine = DetectHost();
  if (machine.default_link) return machine;
  Device other = machine.devices.front();
  other.name += "b";
  other.units.front() += 1;
  machine.devices.push_back(other);
  machine.default_link = DefaultLink{.latency_seconds = 0.065e-6, .bandwidth = 200e9};
  return machine;
}

// Hand-overs of these latencies, one after the other; of more than one pair of processors all of a look are alike.
class Latencies {
 public:
  explicit Latencies(double seconds) : seconds_(seconds) {}
  void Set(double seconds) { seconds_ = seconds; }
  HandOverMeter Meter() {
    return [this](int, int) { return DefaultLink{seconds_, 1e10}; };
  }

 private:
  double seconds_;
};

TEST(ProcessorWatch, GivesTheMachineTheHandOversThatItMeasures) {
  Latencies latencies(5e-8);
  const Machine machine = GuessedMachine();
  ProcessorWatch watch(machine, latencies.Meter());
  ASSERT_TRUE(watch.watches());
  const Machine measured = watch.Measure();
  EXPECT_EQ(measured.default_link, (DefaultLink{5e-8, 1e10}));
  EXPECT_EQ(measured.devices, machine.devices);
}

TEST(ProcessorWatch, SeesEveryMoveOnceAndWarns) {
  Latencies latencies(5e-8);
  ProcessorWatch watch(GuessedMachine(), latencies.Meter());
  watch.Measure();
  EXPECT_FALSE(watch.Moved());
  latencies.Set(8e-8);
  EXPECT_FALSE(watch.Moved()) << "less than twice as long is noise";
  EXPECT_FALSE(watch.Warning());
  latencies.Set(2e-7);
  EXPECT_TRUE(watch.Moved());
  EXPECT_FALSE(watch.Moved()) << "they stay there";
  EXPECT_EQ(watch.moves(), 1);
  EXPECT_THAT(*watch.Warning(), ::testing::AllOf(::testing::HasSubstr("moved the processors once"),
                                                 ::testing::HasSubstr("after 50 ns then, and does after 200 ns now")));
  latencies.Set(6e-8);
  EXPECT_TRUE(watch.Moved());
  EXPECT_EQ(watch.moves(), 2);
  EXPECT_THAT(*watch.Warning(), ::testing::HasSubstr("moved the processors 2 times"));
}

TEST(ProcessorWatch, ForgetsWhereTheyLayWhenTheyAreMeasuredAnew) {
  Latencies latencies(5e-8);
  ProcessorWatch watch(GuessedMachine(), latencies.Meter());
  watch.Measure();
  latencies.Set(2e-7);
  EXPECT_EQ(watch.Measure().default_link->latency_seconds, 2e-7);
  EXPECT_FALSE(watch.Moved());
  EXPECT_FALSE(watch.Warning());
}

TEST(ProcessorWatch, LeavesMachinesAloneWhoseTransfersSomebodyPriced) {
  int asked = 0;
  const HandOverMeter meter = [&asked](int, int) {
    ++asked;
    return DefaultLink{1e-7, 1e10};
  };
  Machine priced = GuessedMachine();
  priced.default_link->bandwidth = 1e9;
  for (const Machine& machine : std::vector<Machine>{*MachinePreset("homogeneous:4"), priced}) {
    ProcessorWatch watch(machine, meter);
    EXPECT_FALSE(watch.watches());
    EXPECT_FALSE(watch.Moved());
    EXPECT_FALSE(watch.Warning());
  }
  EXPECT_FALSE(ProcessorWatch().Moved());
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace millrace
