// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "millrace/errors/errors.h"
#include "millrace/machine/topology.h"

namespace millrace {
namespace {

TEST(MachinePreset, HomogeneousHasTheRatesItPromises) {
  for (const int devices : {1, 2, 4, 64}) {
    const Machine machine = *MachinePreset("homogeneous:" + std::to_string(devices));
    ASSERT_EQ(machine.devices.size(), static_cast<std::size_t>(devices));
    CheckMachine(machine);
    for (int d = 0; d < devices; ++d) {
      const Device& device = machine.devices[static_cast<std::size_t>(d)];
      EXPECT_THAT(device.units, ::testing::ElementsAre(d));
      EXPECT_EQ(device.kind, machine.devices[0].kind);
      EXPECT_EQ(device.flops_per_second, 1e12);
      EXPECT_EQ(device.memory_bandwidth, 1e11);
      EXPECT_EQ(device.launch_seconds, 0);
      EXPECT_FALSE(device.memory_bytes);
    }
    EXPECT_TRUE(machine.links.empty());
    EXPECT_FALSE(machine.default_link) << "transfers are free";
  }
}

TEST(MachinePreset, HomogeneousTakesLatencyAndBandwidthInAnyOrder) {
  const DefaultLink both{1e-6, 1e9};
  EXPECT_EQ(MachinePreset("homogeneous:4,latency=1e-6,bandwidth=1e9")->default_link, both);
  EXPECT_EQ(MachinePreset("homogeneous:4,bandwidth=1e9,latency=1e-6")->default_link, both);
  EXPECT_EQ(MachinePreset("homogeneous:4,bandwidth=1e9")->default_link, (DefaultLink{0, 1e9}));
  EXPECT_EQ(MachinePreset("homogeneous:4,latency=0.5")->default_link, (DefaultLink{0.5, kUnlimitedBandwidth}));
}

TEST(MachinePreset, ALinkWithoutBandwidthCostsItsLatencyWhateverTheBytes) {
  const Topology topology = MakeTopology(*MachinePreset("homogeneous:2,latency=0.5"));
  const std::size_t pair = topology.Pair(0, 1);
  EXPECT_EQ(topology.latency[pair] + 1e12 * topology.seconds_per_byte[pair], 0.5);
}

TEST(MachinePreset, RefusesParametersWithoutSense) {
  for (const char* words : {"homogeneous",
                            "homogeneous:",
                            "homogeneous:0",
                            "homogeneous:-1",
                            "homogeneous:x",
                            "homogeneous:2.5",
                            "homogeneous:1025",
                            "homogeneous:99999999999",
                            "homogeneous:2,",
                            "homogeneous:2,,latency=1",
                            "homogeneous:2,latency=1,",
                            "homogeneous:2,latency",
                            "homogeneous:2,latency=",
                            "homogeneous:2,latency=-1",
                            "homogeneous:2,latency=nan",
                            "homogeneous:2,latency=inf",
                            "homogeneous:2,latency=1,latency=2",
                            "homogeneous:2,bandwidth=0",
                            "homogeneous:2,bandwidth=-5",
                            "homogeneous:2,bandwidth=1e999",
                            "homogeneous:2,bandwidth=1x",
                            "homogeneous:2,speed=3",
                            "homogeneous: 2"}) {
    EXPECT_THROW(MachinePreset(words), InvalidInput) << words;
  }
}

TEST(MachinePreset, LeavesOtherWordsToBePaths) {
  for (const char* words : {"", "p100", "p100x3", "machine.json", "homogeneous.json", "./this", "THIS"})
    EXPECT_FALSE(MachinePreset(words)) << words;
}

TEST(MachinePreset, P100HostsLinkEveryPairBothWays) {
  for (const int gpus : {2, 4, 8}) {
    const Machine machine = *MachinePreset("p100x" + std::to_string(gpus));
    CheckMachine(machine);
    ASSERT_EQ(machine.devices.size(), static_cast<std::size_t>(gpus));
    EXPECT_EQ(machine.links.size(), static_cast<std::size_t>(gpus * (gpus - 1)));
    std::set<int> channels;
    for (const Link& link : machine.links) {
      if (!link.channel) continue;
      channels.insert(*link.channel);
      EXPECT_NE(link.from < gpus / 2, link.to < gpus / 2) << "only what crosses the sockets shares a bus";
    }
    EXPECT_EQ(channels.size(), gpus == 2 ? 0U : 2U);
    for (const Device& device : machine.devices) EXPECT_EQ(device.kind, "p100");
  }
}

TEST(MachinePreset, CpuGpuJoinsTwoKinds) {
  const Machine machine = *MachinePreset("cpu-gpu");
  CheckMachine(machine);
  ASSERT_EQ(machine.devices.size(), 2U);
  EXPECT_EQ(machine.devices[0].kind, "cpu");
  EXPECT_EQ(machine.devices[1].kind, "gpu");
  EXPECT_EQ(machine.links.size(), 2U);
}

TEST(MachinePreset, NamesDescribePresetsThatExist) {
  EXPECT_GE(MachinePresetNames().size(), 4U);
  for (const std::string& line : MachinePresetNames()) EXPECT_THAT(line, ::testing::HasSubstr(": "));
}

}  // namespace
}  // namespace millrace
