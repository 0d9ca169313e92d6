// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace millrace {
namespace {

std::optional<double> Least(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// The first numbers of a file; "max", or anything else that is no number, ends them.
std::vector<double> NumbersIn(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<double> numbers;
  double number = 0;
  while (file >> number) numbers.push_back(number);
  return numbers;
}

std::optional<double> ProcessorsAt(const std::filesystem::path& folder) {
  std::vector<double> numbers = NumbersIn(folder / "cpu.max");
  if (numbers.empty()) {
    const std::vector<double> quota = NumbersIn(folder / "cpu.cfs_quota_us");
    const std::vector<double> period = NumbersIn(folder / "cpu.cfs_period_us");
    if (quota.empty() || period.empty()) return std::nullopt;
    numbers = {quota[0], period[0]};
  }
  if (numbers.size() < 2 || numbers[0] <= 0 || numbers[1] <= 0) return std::nullopt;
  return numbers[0] / numbers[1];
}

std::optional<double> MemoryAt(const std::filesystem::path& folder) {
  std::vector<double> numbers = NumbersIn(folder / "memory.max");
  if (numbers.empty()) numbers = NumbersIn(folder / "memory.limit_in_bytes");
  // Version 1 writes a number near 2^63 where there is no limit.
  if (numbers.empty() || numbers[0] <= 0 || numbers[0] > 1e18) return std::nullopt;
  return numbers[0];
}

// From the group at `below` up to the hierarchy's root: every one of them limits us. Inside a container the path may
// be the host's and lead nowhere here; the root then is our own group.
template <typename Read>
std::optional<double> TightestUpwards(const std::filesystem::path& root, std::filesystem::path below,
                                      const Read& read) {
  std::optional<double> tightest = read(root);
  below = below.relative_path().lexically_normal();
  while (!below.empty() && below != "." && *below.begin() != "..") {
    tightest = Least(tightest, read(root / below));
    below = below.parent_path();
  }
  return tightest;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const std::filesystem::path mounted = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  // Each line: hierarchy number, controllers (none for version 2), path.
  while (std::getline(groups, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      limits.processors = Least(limits.processors, TightestUpwards(mounted, path, ProcessorsAt));
      limits.memory_bytes = Least(limits.memory_bytes, TightestUpwards(mounted, path, MemoryAt));
      continue;
    }
    std::istringstream names(controllers);
    std::string name;
    while (std::getline(names, name, ',')) {
      if (name == "cpu") {
        for (const std::string& folder : {controllers, name})
          limits.processors = Least(limits.processors, TightestUpwards(mounted / folder, path, ProcessorsAt));
      } else if (name == "memory") {
        limits.memory_bytes = Least(limits.memory_bytes, TightestUpwards(mounted / name, path, MemoryAt));
      }
    }
  }
  return limits;
}

}  // namespace millrace
