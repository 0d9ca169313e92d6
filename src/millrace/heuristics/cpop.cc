// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/ready_queue.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// From the entry of highest priority always on to the successor of highest priority. All groups of the path have one
// priority but for rounding, and a group may have several of them as successors: the first in topological order is
// next, since the others follow it.
std::vector<int> CriticalPath(const CostedGraph& costed, const std::vector<double>& priorities) {
  constexpr double kRounding = 1e-9;
  const std::vector<int> position = TopologicalPositions(costed);
  const auto higher = [&](int group, int than) {
    if (than < 0) return true;
    const double here = priorities[static_cast<std::size_t>(group)];
    const double there = priorities[static_cast<std::size_t>(than)];
    if (std::abs(here - there) > kRounding * there) return here > there;
    return position[static_cast<std::size_t>(group)] < position[static_cast<std::size_t>(than)];
  };
  int next = -1;
  for (const std::int32_t group : costed.topological_order) {
    if (costed.Predecessors(group).empty() && higher(group, next)) next = group;
  }
  std::vector<int> path;
  while (next >= 0) {
    const int group = next;
    path.push_back(group);
    next = -1;
    for (const GroupEdge& edge : costed.Successors(group)) {
      if (higher(edge.group, next)) next = edge.group;
    }
  }
  return path;
}

// The device that can run the most of the path, and of those the fastest.
int CriticalPathDevice(const CostedGraph& costed, const std::vector<int>& path) {
  int best = 0;
  std::size_t most = 0;
  double least = 0;
  for (int device = 0; device < costed.num_devices; ++device) {
    std::size_t runs = 0;
    double seconds = 0;
    for (const int group : path) {
      const double here = costed.Seconds(group, device);
      if (!std::isfinite(here)) continue;
      ++runs;
      seconds += here;
    }
    if (runs > most || (runs == most && seconds < least)) {
      best = device;
      most = runs;
      least = seconds;
    }
  }
  return best;
}

}  // namespace

PlannedAssignment ScheduleCpop(const CostedGraph& costed) {
  const std::vector<double> seconds = MeanSeconds(costed);
  const MeanTransfer transfer = MeanTransferOf(costed.topology);
  std::vector<double> priorities = UpwardRanks(costed, seconds, transfer);
  const std::vector<double> downward = DownwardRanks(costed, seconds, transfer);
  for (std::size_t g = 0; g < priorities.size(); ++g) priorities[g] += downward[g];
  const std::vector<int> path = CriticalPath(costed, priorities);
  const int path_device = CriticalPathDevice(costed, path);
  std::vector<char> on_path(priorities.size(), 0);
  for (const int group : path) on_path[static_cast<std::size_t>(group)] = 1;

  PartialSchedule schedule(costed, PartialSchedule::Gaps::kFill);
  ReadyQueue ready(costed, std::move(priorities));
  while (!ready.empty()) {
    const int group = ready.Pop();
    schedule.Consider(group);
    if (on_path[static_cast<std::size_t>(group)] != 0 && schedule.MayRun(group, path_device)) {
      schedule.Place(path_device);
      continue;
    }
    schedule.Place(schedule.Choose(group, [&schedule, group](int device) {
      return schedule.EarliestFinish(device) + schedule.BoundSeconds(group, device);
    }));
  }
  return schedule.Finish();
}

}  // namespace millrace
