// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;

Device OnUnits(std::vector<int> units, std::optional<double> memory_bytes = std::nullopt) {
  return {"", "cpu", std::move(units), 1, 1, memory_bytes, 0};
}

TEST(Topology, NumbersUnitsByTheirIds) {
  Machine machine;
  machine.devices = {OnUnits({9, 4}), OnUnits({2}), OnUnits({4})};
  const Topology topology = MakeTopology(machine);
  EXPECT_EQ(topology.num_units, 3);
  EXPECT_THAT(topology.device_offsets, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(topology.device_units, ElementsAre(2, 1, 0, 1));
  EXPECT_EQ(topology.UnitsOf(0), 2);
}

TEST(Topology, GivesOneMemoryToDevicesThatShareAUnitAlsoThroughAThird) {
  Machine machine;
  machine.devices = {OnUnits({0}, 8), OnUnits({5}), OnUnits({1}, 6), OnUnits({0, 1}, 7)};
  const Topology topology = MakeTopology(machine);
  EXPECT_EQ(topology.num_memories, 2);
  EXPECT_THAT(topology.memory_of, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(topology.memory_bytes, ElementsAre(6, std::numeric_limits<double>::infinity()));
}

TEST(Topology, KeepsALongChainOfGangsInOneMemory) {
  Machine machine;
  for (int d = 999; d >= 0; --d) machine.devices.push_back(OnUnits({d, d + 1}));
  EXPECT_EQ(MakeTopology(machine).num_memories, 1);
}

TEST(Topology, TakesLittleTimeForDevicesOfVeryManyUnits) {
  std::vector<int> units(200000);
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = static_cast<int>(i);
  Machine machine;
  machine.devices = {OnUnits(units), OnUnits({400000}), OnUnits(units)};
  const Topology topology = MakeTopology(machine);
  EXPECT_EQ(topology.num_units, 200001);
  EXPECT_THAT(topology.memory_of, ElementsAre(0, 1, 0));
}

TEST(Topology, PricesPairsByTheirLinkElseTheDefaultElseNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Machine machine = testing::RandomMachine(random);
    const Topology topology = MakeTopology(machine);
    for (int from = 0; from < topology.num_devices; ++from) {
      for (int to = 0; to < topology.num_devices; ++to) {
        const auto& a = machine.devices[static_cast<std::size_t>(from)].units;
        const auto& b = machine.devices[static_cast<std::size_t>(to)].units;
        const bool shared = std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
        const auto link = std::find_if(machine.links.begin(), machine.links.end(),
                                       [&](const Link& each) { return each.from == from && each.to == to; });
        const std::size_t pair = topology.Pair(from, to);
        double latency = 0, bandwidth = std::numeric_limits<double>::infinity();
        bool free = true;
        if (!shared && link != machine.links.end())
          latency = link->latency_seconds, bandwidth = link->bandwidth, free = false;
        else if (!shared && machine.default_link)
          latency = machine.default_link->latency_seconds, bandwidth = machine.default_link->bandwidth, free = false;
        ASSERT_EQ(topology.free[pair] != 0, free);
        ASSERT_EQ(topology.latency[pair], latency);
        ASSERT_NEAR(topology.seconds_per_byte[pair], bandwidth >= kUnlimitedBandwidth ? 0 : 1 / bandwidth, 1e-15);
      }
    }
    // Channels: one number for the links of one bus, its own for everything else.
    for (const Link& x : machine.links) {
      for (const Link& y : machine.links) {
        const bool same =
            topology.channel[topology.Pair(x.from, x.to)] == topology.channel[topology.Pair(y.from, y.to)];
        const bool one_bus = x.channel && x.channel == y.channel;
        ASSERT_EQ(same, one_bus || (x.from == y.from && x.to == y.to));
        const bool enters =
            topology.EntryOf(topology.Pair(x.from, x.to)) >= 0 &&
            topology.EntryOf(topology.Pair(x.from, x.to)) == topology.channel[topology.Pair(y.from, y.to)];
        ASSERT_EQ(enters, x.entry_channel && x.entry_channel == y.channel);
      }
      ASSERT_EQ(topology.EntryOf(topology.Pair(x.from, x.to)) >= 0, x.entry_channel.has_value());
    }
  }
}

TEST(Topology, StaysFiniteForTheLeastBandwidth) {
  Machine machine;
  machine.devices = {OnUnits({0}), OnUnits({1})};
  machine.default_link = DefaultLink{0, std::numeric_limits<double>::denorm_min()};
  const Topology topology = MakeTopology(machine);
  EXPECT_EQ(0.0 * topology.seconds_per_byte[topology.Pair(0, 1)], 0.0);
}

}  // namespace
}  // namespace millrace
