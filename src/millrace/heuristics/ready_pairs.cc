// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/ready_pairs.h"

#include <cmath>
#include <utility>

#include "millrace/heuristics/upward_rank.h"

namespace millrace {

ReadyPairs::ReadyPairs(const CostedGraph& costed, PartialSchedule& schedule, PairMerits merits)
    : costed_(costed),
      schedule_(schedule),
      merits_(std::move(merits)),
      position_(TopologicalPositions(costed)),
      queues_(static_cast<std::size_t>(costed.num_devices)) {
  for (int group = 0; group < costed.num_groups; ++group)
    waiting_.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
  for (const std::int32_t group : costed.topological_order) {
    if (costed.Predecessors(group).empty()) LetIn(group);
  }
}

void ReadyPairs::LetIn(int group) {
  const auto g = static_cast<std::size_t>(group);
  const std::int32_t order = -position_[g];
  const double level = merits_.level.empty() ? 0.0 : merits_.level[g];
  ready_.push(position_[g]);
  schedule_.Consider(group);
  for (int device = 0; device < costed_.num_devices; ++device) {
    if (!std::isfinite(costed_.Seconds(group, device))) continue;
    const std::size_t pair = g * static_cast<std::size_t>(costed_.num_devices) + static_cast<std::size_t>(device);
    const double merit = merits_.merit.empty() ? 0.0 : merits_.merit[pair];
    const double arrival = schedule_.Arrival(device);
    DeviceQueues& queues = queues_[static_cast<std::size_t>(device)];
    if (arrival <= schedule_.DeviceEnd(device)) {
      queues.waiting_for_device.push({merit, level, order});
    } else {
      queues.by_arrival.push({arrival, merit, order});
      queues.waiting_for_inputs.push({{merit - arrival, level, order}, arrival});
    }
  }
}

bool ReadyPairs::Usable(std::int32_t order, int device) const {
  const int group = GroupOf(order);
  return !schedule_.placed(group) && schedule_.MayRun(group, device);
}

// Moves over the pairs whose inputs have arrived by the time the device is free, and drops what can no longer be used.
void ReadyPairs::Refresh(int device) {
  DeviceQueues& queues = queues_[static_cast<std::size_t>(device)];
  const double free = schedule_.DeviceEnd(device);
  while (!queues.by_arrival.empty() && queues.by_arrival.top().arrival <= free) {
    const Arriving& pair = queues.by_arrival.top();
    const auto g = static_cast<std::size_t>(GroupOf(pair.order));
    if (!schedule_.placed(static_cast<int>(g)))
      queues.waiting_for_device.push({pair.merit, merits_.level.empty() ? 0.0 : merits_.level[g], pair.order});
    queues.by_arrival.pop();
  }
  while (!queues.waiting_for_inputs.empty() && (queues.waiting_for_inputs.top().arrival <= free ||
                                                !Usable(queues.waiting_for_inputs.top().scored.order, device)))
    queues.waiting_for_inputs.pop();
  while (!queues.waiting_for_device.empty() && !Usable(queues.waiting_for_device.top().order, device))
    queues.waiting_for_device.pop();
}

void ReadyPairs::Offer(int device, Pair& best) const {
  const auto consider = [&](Scored scored) {
    const int group = GroupOf(scored.order);
    const double work = costed_.Seconds(group, device) * costed_.topology.UnitsOf(device);
    const bool tied = best.group >= 0 && !(scored < best.scored) && !(best.scored < scored);
    if (best.group < 0 || best.scored < scored || (tied && work < best.work)) best = Pair{group, device, scored, work};
  };
  const DeviceQueues& queues = queues_[static_cast<std::size_t>(device)];
  if (!queues.waiting_for_device.empty()) {
    Scored scored = queues.waiting_for_device.top();
    scored.score -= schedule_.DeviceEnd(device);
    consider(scored);
  }
  if (!queues.waiting_for_inputs.empty()) consider(queues.waiting_for_inputs.top().scored);
}

void ReadyPairs::Place(int group, int device) {
  schedule_.Place(device);
  for (const GroupEdge& edge : costed_.Successors(group)) {
    if (--waiting_[static_cast<std::size_t>(edge.group)] == 0) LetIn(edge.group);
  }
}

bool ReadyPairs::PlaceBest() {
  while (!ready_.empty() && schedule_.placed(costed_.topological_order[static_cast<std::size_t>(ready_.top())]))
    ready_.pop();
  if (ready_.empty()) return false;
  Pair best;
  for (int device = 0; device < costed_.num_devices; ++device) {
    Refresh(device);
    Offer(device, best);
  }
  // No pair is left only where memory seems to forbid all of them.
  const int group = best.group >= 0 ? best.group : costed_.topological_order[static_cast<std::size_t>(ready_.top())];
  schedule_.Consider(group);
  if (best.group >= 0 && schedule_.ColocationSettled(group)) {
    Place(group, best.device);
  } else {
    Place(group, schedule_.Choose(group, [this, group](int device) {
      return schedule_.EarliestFinish(device) + schedule_.BoundSeconds(group, device);
    }));
  }
  return true;
}

}  // namespace millrace
