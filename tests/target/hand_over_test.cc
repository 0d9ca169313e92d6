// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/hand_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/machine/detect.h"
#include "millrace/machine/topology.h"
#include "millrace/runtime/host_units.h"

namespace millrace {
namespace {

constexpr DefaultLink kNear{.latency_seconds = 4e-8, .bandwidth = 2e11};
constexpr DefaultLink kFar{.latency_seconds = 2e-7, .bandwidth = 2e10};

// Eight processors, numbered from 10, two by two on a cache of their own: each alone, gangs of two, a gang of all.
const std::vector<int> kUnits{10, 11, 12, 13, 14, 15, 16, 17};

bool OnOneCache(int processor, int other) { return processor / 2 == other / 2; }

DefaultLink Meter(int processor, int other) { return OnOneCache(processor, other) ? kNear : kFar; }

std::vector<int> Depths() {
  std::vector<int> depths;
  for (const int processor : kUnits) {
    for (const int other : kUnits) depths.push_back(OnOneCache(processor, other) ? 2 : 0);
  }
  return depths;
}

Machine EightProcessors() {
  Machine machine;
  const auto add = [&machine](std::vector<int> units) {
    machine.devices.push_back({"d" + std::to_string(machine.devices.size()), "cpu_x" + std::to_string(units.size()),
                               std::move(units), 1e9, 1e9, std::nullopt, 0});
  };
  for (const int unit : kUnits) add({unit});
  for (const int unit : {10, 12, 14, 16}) add({unit, unit + 1});
  add(kUnits);
  return machine;
}

TEST(HandOvers, CostWhatTheMostPairsPayUnlessTheDevicesAreNearer) {
  const Machine machine = WithHandOvers(EightProcessors(), kUnits, Depths(), Meter);
  CheckMachine(machine);
  EXPECT_EQ(machine.default_link, kFar) << "24 of 28 pairs";
  const Topology topology = MakeTopology(machine);
  for (std::size_t from = 0; from < machine.devices.size(); ++from) {
    for (std::size_t to = 0; to < machine.devices.size(); ++to) {
      const std::size_t pair = topology.Pair(static_cast<int>(from), static_cast<int>(to));
      bool shared = false, near = true;
      for (const int a : machine.devices[from].units) {
        for (const int b : machine.devices[to].units) {
          shared |= a == b;
          near &= OnOneCache(a, b);
        }
      }
      EXPECT_EQ(topology.free[pair] != 0, shared) << from << " to " << to;
      if (!shared) {
        EXPECT_EQ(topology.latency[pair], near ? kNear.latency_seconds : kFar.latency_seconds) << from << " to " << to;
      }
    }
  }
}

TEST(HandOvers, NeedNoLinksOfTheirOwnWhereAllPairsPayAboutTheSame) {
  const Machine machine = WithHandOvers(EightProcessors(), kUnits, Depths(), [](int processor, int other) {
    return OnOneCache(processor, other) ? DefaultLink{4e-8, 2e11} : DefaultLink{5e-8, 1.8e11};
  });
  EXPECT_EQ(machine.default_link->latency_seconds, 5e-8);
  EXPECT_TRUE(machine.links.empty());
}

TEST(HandOvers, AreTheMedianOfAFewPairsOfAClass) {
  int asked = 0;
  const std::vector<int> alike(kUnits.size() * kUnits.size(), 1);
  const Machine machine = WithHandOvers(EightProcessors(), kUnits, alike, [&asked](int, int) {
    const double disturbed = ++asked == 2 ? 100 : 1;
    return DefaultLink{disturbed * kNear.latency_seconds, kNear.bandwidth / disturbed};
  });
  EXPECT_LE(asked, 3);
  EXPECT_DOUBLE_EQ(machine.default_link->latency_seconds, kNear.latency_seconds);
  EXPECT_DOUBLE_EQ(machine.default_link->bandwidth, kNear.bandwidth);
}

TEST(HandOvers, OfOneProcessorAreNone) {
  Machine machine;
  machine.devices.push_back({"d", "cpu", {3}, 1e9, 1e9, std::nullopt, 0});
  const std::vector<int> units{3}, depths{0};
  EXPECT_EQ(WithHandOvers(machine, units, depths, Meter), machine);
}

TEST(HandOvers, AreMeasuredBetweenProcessorsOfThisHost) {
  const std::vector<int> processors = AllowedProcessors();
  if (processors.size() < 2) GTEST_SKIP() << "one processor hands nothing over";
  const DefaultLink link = MeasureHandOver(processors[0], processors[1]);
  // A flag crosses no faster than a cache answers, and a thread that was kept waiting is one of fifteen.
  EXPECT_GT(link.latency_seconds, 1e-9);
  EXPECT_LT(link.latency_seconds, 1e-3);
  EXPECT_GT(link.bandwidth, 1e7);
  EXPECT_THROW(MeasureHandOver(processors[0], 1 << 20), InvalidInput);
}

TEST(HandOvers, TakeThePlaceOfAGuessAlone) {
  const Machine host = DetectHost();
  const Machine measured = WithMeasuredHandOvers(host);
  EXPECT_EQ(measured.devices, host.devices);
  EXPECT_EQ(measured.default_link.has_value(), host.default_link.has_value());
  if (host.default_link) {
    EXPECT_NE(measured.default_link, host.default_link);
  }
  EXPECT_EQ(WithMeasuredHandOvers(measured), measured) << "what was measured once stands";
  Machine stated = host;
  stated.default_link = kFar;
  EXPECT_EQ(WithMeasuredHandOvers(stated), stated);
}

}  // namespace
}  // namespace millrace
