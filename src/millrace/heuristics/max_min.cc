// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <vector>

#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/upward_rank.h"

namespace millrace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The ready groups with the first finish of each. Placing a group moves the end of its units only, so only ready groups
// whose best device owns one of them need another look: the others' best is untouched and no device gets better.
class FirstFinishes {
 public:
  FirstFinishes(const CostedGraph& costed, PartialSchedule& schedule)
      : costed_(costed),
        schedule_(schedule),
        position_(TopologicalPositions(costed)),
        device_end_(static_cast<std::size_t>(costed.num_devices), 0.0),
        moved_(device_end_.size(), 0) {
    for (int group = 0; group < costed.num_groups; ++group)
      waiting_.push_back(static_cast<std::int32_t>(costed.Predecessors(group).size()));
    for (const std::int32_t group : costed.topological_order) {
      if (costed.Predecessors(group).empty()) LetIn(group);
    }
  }

  bool empty() const { return groups_.empty(); }

  void PlaceLatest() {
    std::size_t latest = 0;
    for (std::size_t i = 1; i < finishes_.size(); ++i) {
      if (finishes_[i] > finishes_[latest] ||
          (finishes_[i] == finishes_[latest] && Position(groups_[i]) < Position(groups_[latest])))
        latest = i;
    }
    const int group = groups_[latest];
    Remove(latest);
    schedule_.Consider(group);
    schedule_.Place(schedule_.Choose(group, [this, group](int device) {
      return schedule_.EarliestFinish(device) + schedule_.RestOfColocation(group, device);
    }));
    for (int device = 0; device < costed_.num_devices; ++device) {
      double& end = device_end_[static_cast<std::size_t>(device)];
      const double now = schedule_.DeviceEnd(device);
      moved_[static_cast<std::size_t>(device)] = static_cast<char>(now != end);
      end = now;
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (moved_[static_cast<std::size_t>(devices_[i])] != 0) Look(i);
    }
    for (const GroupEdge& edge : costed_.Successors(group)) {
      if (--waiting_[static_cast<std::size_t>(edge.group)] == 0) LetIn(edge.group);
    }
  }

 private:
  int Position(int group) const { return position_[static_cast<std::size_t>(group)]; }

  void LetIn(int group) {
    schedule_.Consider(group);
    groups_.push_back(group);
    finishes_.push_back(0);
    devices_.push_back(0);
    arrivals_.insert(arrivals_.end(), schedule_.arrivals().begin(), schedule_.arrivals().end());
    Look(groups_.size() - 1);
  }

  void Look(std::size_t i) {
    const std::size_t devices = device_end_.size();
    const double* const arrivals = arrivals_.data() + i * devices;
    const double* const seconds = costed_.seconds.data() + static_cast<std::size_t>(groups_[i]) * devices;
    double first = kNever;
    for (std::size_t d = 0; d < devices; ++d) {
      const double finish = std::max(arrivals[d], device_end_[d]) + seconds[d];
      if (!(finish < first)) continue;
      first = finish;
      devices_[i] = static_cast<int>(d);
    }
    finishes_[i] = first;
  }

  // The last entry takes the freed place: what is chosen does not depend on the order of entries.
  void Remove(std::size_t i) {
    const std::size_t devices = device_end_.size();
    const std::size_t last = groups_.size() - 1;
    groups_[i] = groups_[last];
    finishes_[i] = finishes_[last];
    devices_[i] = devices_[last];
    std::copy_n(arrivals_.begin() + static_cast<std::ptrdiff_t>(last * devices), devices,
                arrivals_.begin() + static_cast<std::ptrdiff_t>(i * devices));
    groups_.pop_back();
    finishes_.pop_back();
    devices_.pop_back();
    arrivals_.resize(last * devices);
  }

  const CostedGraph& costed_;
  PartialSchedule& schedule_;
  std::vector<int> position_;
  std::vector<std::int32_t> waiting_;
  std::vector<double> device_end_;
  std::vector<char> moved_;
  // Parallel: ready groups, their first finish, where, and the arrivals (by entry and device).
  std::vector<int> groups_;
  std::vector<double> finishes_;
  std::vector<int> devices_;
  std::vector<double> arrivals_;
};

}  // namespace

PlannedAssignment ScheduleMaxMin(const CostedGraph& costed) {
  PartialSchedule schedule(costed, PartialSchedule::Gaps::kLeave);
  FirstFinishes ready(costed, schedule);
  while (!ready.empty()) ready.PlaceLatest();
  return schedule.Finish();
}

}  // namespace millrace
