// SPDX-License-Identifier: Apache-2.0
#include "millrace/memory/memory_saving.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/memory_saving_order.h"
#include "millrace/heuristics/partial_schedule.h"
#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

// The device that can run everything and has the most memory, of those the fastest; nothing where none can. What lies
// in memory at worst does not depend on how fast a lone device is.
std::optional<int> DeviceForAll(const CostedGraph& costed) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<double> totals(devices, 0.0);
  for (std::size_t pair = 0; pair < costed.seconds.size(); ++pair) totals[pair % devices] += costed.seconds[pair];
  const auto worse = [&](int a, int b) {
    const auto key = [&](int device) {
      const auto d = static_cast<std::size_t>(device);
      return std::pair(costed.topology.memory_bytes[static_cast<std::size_t>(costed.topology.memory_of[d])],
                       -totals[d]);
    };
    return key(a) < key(b);
  };
  std::optional<int> best;
  for (int device = 0; device < costed.num_devices; ++device) {
    if (std::isfinite(totals[static_cast<std::size_t>(device)]) && (!best || worse(*best, device))) best = device;
  }
  return best;
}

// How many seconds later a group may finish to save a byte; mean seconds of a group over mean bytes of a tensor is 1.
constexpr double kByteWeights[] = {0.0, 0.25, 1.0, 4.0, 16.0};

double SecondsPerByte(const CostedGraph& costed) {
  double seconds = 0;
  for (const double fastest : costed.fastest_seconds) seconds += fastest;
  double bytes = 0;
  for (const GroupTensor& tensor : costed.tensors) bytes += tensor.bytes;
  if (!(bytes > 0) || costed.num_groups == 0) return 0;
  return seconds / costed.num_groups / (bytes / static_cast<double>(costed.tensors.size()));
}

template <typename Key>
Assignment PlaceInOrder(const CostedGraph& costed, const std::vector<int>& order, Key key) {
  StopIfInterrupted();
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  for (const int group : order) {
    schedule.Consider(group);
    schedule.Place(schedule.Choose(group, [&](int device) { return key(schedule, group, device); }));
  }
  return {schedule.Finish().assignment.placement, order};
}

class MemorySaving : public Planner {
 public:
  MemorySaving() : Planner({.name = "memory-saving"}) {}

  void Propose(const PlanningProblem& problem, const Budget& budget, Random&, const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    const Deadline deadline(budget.seconds);
    const std::optional<int> home = DeviceForAll(costed);
    const double per_byte = SecondsPerByte(costed);
    const std::vector<std::vector<int>> orders = {
        MemorySavingOrder(costed, MemorySavingRule::kLeastIncrease),
        MemorySavingOrder(costed, MemorySavingRule::kDepthFirst),
        std::vector<int>(costed.topological_order.begin(), costed.topological_order.end())};
    for (const std::vector<int>& order : orders) {
      if (home) offer(Assignment{std::vector<int>(order.size(), *home), order});
      if (costed.num_devices == 1) continue;
      for (const double weight : kByteWeights) {
        if (deadline.Passed()) return;
        offer(PlaceInOrder(costed, order, [&](const PartialSchedule& schedule, int group, int device) {
          return schedule.EarliestFinish(device) + schedule.BoundSeconds(group, device) +
                 weight * per_byte * schedule.AddedBytes(group, device);
        }));
      }
      if (deadline.Passed()) return;
      offer(PlaceInOrder(costed, order, [](const PartialSchedule& schedule, int group, int device) {
        return schedule.AddedBytes(group, device);
      }));
      offer(PlaceInOrder(costed, order, [](const PartialSchedule& schedule, int group, int device) {
        return schedule.Fullness(group, device);
      }));
    }
  }
};

}  // namespace

std::unique_ptr<Planner> MakeMemorySaving() { return std::make_unique<MemorySaving>(); }

}  // namespace millrace
