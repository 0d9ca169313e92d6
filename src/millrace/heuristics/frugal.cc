// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/frugal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/heuristics/group_tensors.h"
#include "millrace/heuristics/partial_schedule.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

// Ready groups with what each would leave behind, kept up to date as others are taken.
class FrugalQueue {
 public:
  FrugalQueue(const CostedGraph& costed, FrugalRule rule)
      : costed_(costed), rule_(rule), tensors_(costed), position_(TopologicalPositions(costed)) {
    const auto groups = static_cast<std::size_t>(costed.num_groups);
    increase_.assign(groups, 0.0);
    turn_.assign(groups, kNotReady);
    taken_.assign(groups, 0);
    for (const GroupTensor& tensor : costed.tensors) unread_.push_back(tensor.num_readers);
    for (std::size_t t = 0; t < costed.tensors.size(); ++t) {
      const GroupTensor& tensor = costed.tensors[t];
      const bool stays = tensor.output || tensor.num_readers > 0;
      if (tensor.producer >= 0 && stays) increase_[static_cast<std::size_t>(tensor.producer)] += tensor.bytes;
      if (unread_[t] == 1) LetLastReaderFree(t);
    }
    for (int group = 0; group < costed.num_groups; ++group)
      waiting_.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
    // The last to become ready goes first, so the first in topological order is let in last.
    for (auto group = costed.topological_order.rbegin(); group != costed.topological_order.rend(); ++group) {
      if (costed.Predecessors(*group).empty()) LetIn(*group);
    }
  }

  int Pop() {
    while (taken_[static_cast<std::size_t>(GroupOf(heap_.top()))] != 0) heap_.pop();  // an entry made out of date
    const int group = GroupOf(heap_.top());
    heap_.pop();
    taken_[static_cast<std::size_t>(group)] = 1;
    for (const std::int32_t tensor : tensors_.ReadBy(group)) {
      const auto t = static_cast<std::size_t>(tensor);
      if (--unread_[t] == 1) LetLastReaderFree(t);
    }
    const auto successors = costed_.Successors(group);
    for (auto edge = successors.rbegin(); edge != successors.rend(); ++edge) {
      if (--waiting_[static_cast<std::size_t>(edge->group)] == 0) LetIn(edge->group);
    }
    return group;
  }

 private:
  static constexpr int kNotReady = -1;

  // Increase, minus the turn in which it became ready, position: the least is taken.
  using Entry = std::tuple<double, int, int>;

  int GroupOf(const Entry& entry) const {
    return costed_.topological_order[static_cast<std::size_t>(std::get<2>(entry))];
  }

  void Push(int group) {
    const auto g = static_cast<std::size_t>(group);
    heap_.push({rule_ == FrugalRule::kLeastIncrease ? increase_[g] : 0.0, -turn_[g], position_[g]});
  }

  void LetIn(int group) {
    turn_[static_cast<std::size_t>(group)] = next_turn_++;
    Push(group);
  }

  // One reader is left. Its increase only falls, so its older entries come later in the heap.
  void LetLastReaderFree(std::size_t tensor) {
    if (costed_.tensors[tensor].output) return;
    for (const std::int32_t reader : costed_.Readers(costed_.tensors[tensor])) {
      const auto r = static_cast<std::size_t>(reader);
      if (taken_[r] != 0) continue;
      increase_[r] -= costed_.tensors[tensor].bytes;
      if (turn_[r] != kNotReady) Push(reader);
      return;
    }
  }

  const CostedGraph& costed_;
  FrugalRule rule_;
  GroupTensors tensors_;
  std::vector<int> position_;
  std::vector<double> increase_;       // by group
  std::vector<int> turn_;              // by group
  std::vector<std::uint8_t> taken_;    // by group
  std::vector<std::int32_t> unread_;   // readers not taken, by tensor
  std::vector<std::int32_t> waiting_;  // predecessors not taken, by group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  int next_turn_ = 0;
};

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

class Frugal : public CandidateSource {
 public:
  std::string name() const override { return "frugal"; }

  void Propose(const CostedGraph& costed, const SourceBudget&, Random&,
               const std::function<void(Assignment)>& offer) const override {
    const std::optional<int> home = DeviceForAll(costed);
    const double per_byte = SecondsPerByte(costed);
    const std::vector<std::vector<int>> orders = {
        FrugalOrder(costed, FrugalRule::kLeastIncrease), FrugalOrder(costed, FrugalRule::kDepthFirst),
        std::vector<int>(costed.topological_order.begin(), costed.topological_order.end())};
    for (const std::vector<int>& order : orders) {
      if (home) offer({std::vector<int>(order.size(), *home), order});
      if (costed.num_devices == 1) continue;
      for (const double weight : kByteWeights) {
        offer(PlaceInOrder(costed, order, [&](const PartialSchedule& schedule, int group, int device) {
          return schedule.EarliestFinish(device) + schedule.RestOfColocation(group, device) +
                 weight * per_byte * schedule.AddedBytes(group, device);
        }));
      }
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

std::vector<int> FrugalOrder(const CostedGraph& costed, FrugalRule rule) {
  FrugalQueue queue(costed, rule);
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(costed.num_groups));
  for (int i = 0; i < costed.num_groups; ++i) order.push_back(queue.Pop());
  return order;
}

std::unique_ptr<CandidateSource> MakeFrugal() { return std::make_unique<Frugal>(); }

}  // namespace millrace
