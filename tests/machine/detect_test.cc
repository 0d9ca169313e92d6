// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/detect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "millrace/machine/cgroup.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

TEST(DetectHost, NamesProcessorsWeMayUse) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const Machine machine = DetectHost();
  CheckMachine(machine);
  for (const Device& device : machine.devices) {
    for (const int unit : device.units) EXPECT_TRUE(CPU_ISSET(unit, &allowed)) << "unit " << unit;
  }
}

TEST(DetectHost, HasACacheThatIsNeitherTinyNorLargerThanMemory) {
  EXPECT_GE(LargestCacheBytes(), std::size_t{64} << 10);
  EXPECT_LE(LargestCacheBytes(), std::size_t{4} << 30);
}

TEST(DetectHost, BelievesNoMoreCacheThanAProcessorHasEverHad) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  EXPECT_EQ(ReachableCacheBytes(508 * kMiB, 1), 32 * kMiB);
  EXPECT_EQ(ReachableCacheBytes(508 * kMiB, 2), 64 * kMiB);
  EXPECT_EQ(ReachableCacheBytes(96 * kMiB, 8), 96 * kMiB);
  EXPECT_EQ(ReachableCacheBytes(32 * kMiB, 1), 32 * kMiB);
  EXPECT_EQ(ReachableCacheBytes(kMiB, 0), kMiB);
}

TEST(DetectHost, HasEveryProcessorAloneAndOneGangOverAll) {
  const Machine machine = DetectHost();
  std::set<int> alone, all;
  std::size_t largest = 0;
  std::map<std::string, std::size_t> size_of_kind;
  for (const Device& device : machine.devices) {
    all.insert(device.units.begin(), device.units.end());
    largest = std::max(largest, device.units.size());
    if (device.units.size() == 1) {
      EXPECT_TRUE(alone.insert(device.units[0]).second);
    }
    const auto [entry, first] = size_of_kind.emplace(device.kind, device.units.size());
    EXPECT_EQ(entry->second, device.units.size()) << "one kind, one size";
    EXPECT_EQ(device.kind, device.units.size() == 1 ? "cpu" : "cpu_x" + std::to_string(device.units.size()));
  }
  EXPECT_EQ(alone, all);
  EXPECT_EQ(largest, all.size());
  EXPECT_TRUE(machine.links.empty());
  EXPECT_EQ(machine.default_link.has_value(), all.size() > 1) << "hand-overs between caches take a little";
}

TEST(SharedDepths, AreDeeperTheMoreTwoProcessorsShare) {
  // Two sockets with two caches of two cores each, as if it were this host.
  const char* const before = std::getenv("HWLOC_SYNTHETIC");
  const std::optional<std::string> kept = before ? std::optional<std::string>(before) : std::nullopt;
  setenv("HWLOC_SYNTHETIC", "pack:2 l3:2 core:2 pu:1", 1);
  const std::vector<int> processors{0, 1, 2, 4, 99};
  const std::vector<int> depths = SharedDepths(processors);
  kept ? setenv("HWLOC_SYNTHETIC", kept->c_str(), 1) : unsetenv("HWLOC_SYNTHETIC");
  ASSERT_EQ(depths.size(), 25U);
  const auto between = [&depths](std::size_t a, std::size_t b) {
    EXPECT_EQ(depths[a * 5 + b], depths[b * 5 + a]);
    return depths[a * 5 + b];
  };
  EXPECT_GT(between(0, 1), between(0, 2)) << "of one cache, of one socket";
  EXPECT_EQ(between(0, 2), between(1, 2));
  EXPECT_GT(between(0, 2), between(0, 3)) << "of one socket, of two";
  EXPECT_EQ(between(0, 4), 0) << "nobody knows of it";
}

TEST(DetectHost, KeepsToANarrowerAffinity) {
  // In a thread of its own: the mask is a thread's, and the other tests keep theirs.
  std::thread([] {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) last = cpu;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Machine machine = DetectHost();
    ASSERT_EQ(machine.devices.size(), 1U);
    EXPECT_THAT(machine.devices[0].units, ::testing::ElementsAre(last));
  }).join();
}

// A made-up /proc and /sys.
class Cgroup : public ::testing::Test {
 protected:
  void Put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((root_.path() / path).parent_path());
    std::ofstream(root_.path() / path) << content;
  }
  CgroupLimits Read() const { return ReadCgroupLimits(root_.path().string()); }

  testing::TemporaryFolder root_;
};

TEST_F(Cgroup, WithoutAnyFilesLimitsNothing) {
  EXPECT_FALSE(Read().processors);
  EXPECT_FALSE(Read().memory_bytes);
}

TEST_F(Cgroup, OfVersion2IsLimitedByEveryGroupAbove) {
  Put("proc/self/cgroup", "0::/slice/job\n");
  Put("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  Put("sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  Put("sys/fs/cgroup/slice/memory.max", "max\n");
  Put("sys/fs/cgroup/slice/job/memory.max", "1048576\n");
  EXPECT_EQ(Read().processors, 1.5);
  EXPECT_EQ(Read().memory_bytes, 1048576.0);
}

TEST_F(Cgroup, OfVersion2WithoutLimitsSaysMax) {
  Put("proc/self/cgroup", "0::/\n");
  Put("sys/fs/cgroup/cpu.max", "max 100000\n");
  Put("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_FALSE(Read().processors);
  EXPECT_FALSE(Read().memory_bytes);
}

TEST_F(Cgroup, OfVersion1ReadsQuotaAndPeriod) {
  Put("proc/self/cgroup", "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n");
  Put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "50000\n");
  Put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  Put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "2097152\n");
  EXPECT_EQ(Read().processors, 0.5);
  EXPECT_EQ(Read().memory_bytes, 2097152.0);
}

TEST_F(Cgroup, OfVersion1SaysMinusOneAndAHugeNumberForNoLimit) {
  Put("proc/self/cgroup", "4:memory:/\n3:cpu:/\n");
  Put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  Put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(Read().processors);
  EXPECT_FALSE(Read().memory_bytes);
}

TEST_F(Cgroup, InsideAContainerTheRootIsOurOwn) {
  Put("proc/self/cgroup", "0::/path/of/the/host\n");
  Put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(Read().processors, 2.0);
}

TEST_F(Cgroup, ThatMakesNoSenseLimitsNothing) {
  Put("proc/self/cgroup", "nonsense\n0:\n0::/../..\n:::\n");
  Put("sys/fs/cgroup/cpu.max", "fast 0\n");
  EXPECT_FALSE(Read().processors);
}

}  // namespace
}  // namespace millrace
