// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "millrace/errors/errors.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ComplaintAbout(const std::function<void(Machine&)>& spoil) {
  Machine machine;
  for (int d = 0; d < 3; ++d)
    machine.devices.push_back({"dev" + std::to_string(d), "cpu", {d}, 1e9, 1e9, std::nullopt, 0});
  machine.links = {{0, 1, 1e-6, 1e9, std::nullopt}, {1, 0, 1e-6, 1e9, 3}};
  machine.default_link = DefaultLink{1e-6, 1e9};
  spoil(machine);
  try {
    CheckMachine(machine);
  } catch (const InvalidInput& complaint) {
    EXPECT_EQ(std::string(complaint.what()).find('\n'), std::string::npos);
    return complaint.what();
  }
  return "no complaint";
}

TEST(CheckMachine, AcceptsWhatIsInOrder) {
  EXPECT_EQ(ComplaintAbout([](Machine&) {}), "no complaint");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    testing::RandomProblemOptions options;
    options.memory = true;
    EXPECT_NO_THROW(CheckMachine(testing::RandomMachine(random, options)));
  }
}

TEST(CheckMachine, RefusesCostsAndRatesThatAreNone) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, infinity, nan}) {
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.devices[1].flops_per_second = bad; }),
                AllOf(HasSubstr("device 1 'dev1'"), HasSubstr("flops_per_second")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.devices[1].memory_bandwidth = bad; }),
                AllOf(HasSubstr("device 1 'dev1'"), HasSubstr("memory_bandwidth")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.links[1].bandwidth = bad; }),
                AllOf(HasSubstr("link 1 (1 to 0)"), HasSubstr("bandwidth")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.default_link->bandwidth = bad; }),
                AllOf(HasSubstr("default_link"), HasSubstr("bandwidth")));
  }
  for (const double bad : {-1.0, infinity, nan}) {
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.devices[2].launch_seconds = bad; }),
                AllOf(HasSubstr("device 2 'dev2'"), HasSubstr("launch_seconds")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.devices[2].memory_bytes = bad; }),
                AllOf(HasSubstr("device 2 'dev2'"), HasSubstr("memory_bytes")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.links[0].latency_seconds = bad; }),
                AllOf(HasSubstr("link 0 (0 to 1)"), HasSubstr("latency_seconds")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.default_link->latency_seconds = bad; }),
                AllOf(HasSubstr("default_link"), HasSubstr("latency_seconds")));
  }
}

TEST(CheckMachine, RefusesUnitsThatAreNone) {
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.devices[0].units.clear(); }),
              AllOf(HasSubstr("device 0 'dev0'"), HasSubstr("no units")));
  EXPECT_THAT(ComplaintAbout([](Machine& m) {
                m.devices[0].units = {1, 2, 1};
              }),
              AllOf(HasSubstr("device 0 'dev0'"), HasSubstr("unit 1")));
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.devices[0].units = {-1}; }), HasSubstr("unit -1"));
}

TEST(CheckMachine, RefusesLinksToNowhereToItselfAndTwice) {
  for (const int bad : {-1, 3, std::numeric_limits<int>::max()}) {
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.links[0].to = bad; }),
                AllOf(HasSubstr("link 0"), HasSubstr("0..2")));
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.links[0].from = bad; }), HasSubstr("0..2"));
  }
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.links[1] = m.links[0]; }), HasSubstr("link 1 (0 to 1)"));
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.links[0].to = 0; }), HasSubstr("itself"));
}

TEST(CheckMachine, RefusesChannelsBelowZero) {
  for (const int bad : {-1, std::numeric_limits<int>::min()}) {
    EXPECT_THAT(ComplaintAbout([bad](Machine& m) { m.links[1].channel = bad; }),
                AllOf(HasSubstr("link 1"), HasSubstr("channel " + std::to_string(bad)), HasSubstr("from 0")));
  }
  for (const int good : {0, 7, std::numeric_limits<int>::max()})
    EXPECT_EQ(ComplaintAbout([good](Machine& m) { m.links[1].channel = good; }), "no complaint");
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.links[1].entry_channel = -2; }),
              AllOf(HasSubstr("link 1"), HasSubstr("entry_channel -2")));
}

TEST(CheckMachine, RefusesALinkThatEntersTheChannelItLeavesBy) {
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.links[1].channel = m.links[1].entry_channel = 3; }),
              HasSubstr("the same"));
  EXPECT_EQ(ComplaintAbout([](Machine& m) { m.links[1].entry_channel = 77; }), "no complaint");
}

TEST(CheckMachine, RefusesAMachineWithoutDevices) {
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m = Machine{}; }), HasSubstr("no devices"));
  EXPECT_THAT(ComplaintAbout([](Machine& m) { m.devices.resize(100000, m.devices[0]); }), HasSubstr("100000"));
}

}  // namespace
}  // namespace millrace
