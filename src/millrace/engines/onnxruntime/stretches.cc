// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/stretches.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "millrace/graph/index.h"
#include "millrace/machine/topology.h"

namespace millrace {
namespace {

constexpr int kNone = std::numeric_limits<int>::max();

// Groups by their place in the sequence. What comes before a group, by data or on some unit, is told by a clock: for
// each unit, how many of the unit's groups have to be over before the group is.
class Cutter {
 public:
  Cutter(const ComputationGraph& graph, const Machine& machine, const Plan& plan)
      : graph_(graph),
        plan_(plan),
        topology_(MakeTopology(machine)),
        units_(Index(topology_.num_units)),
        place_of_op_(Index(graph.num_ops())),
        turn_(plan.sequence.size()),
        clock_(plan.sequence.size() * units_),
        place_at_(units_),
        stretch_of_(plan.sequence.size(), -1),
        last_on_(units_, -1) {
    for (std::size_t place = 0; place < plan.sequence.size(); ++place) {
      for (const OpId op : GroupAt(place)) place_of_op_[Index(op)] = place;
    }
    SetClocks();
  }

  std::vector<Stretch> Cut() {
    for (std::size_t place = 0; place < plan_.sequence.size(); ++place) {
      const std::optional<int> open = OpenStretch(place);
      if (open && MayJoin(place, *open)) {
        Join(place, *open);
      } else {
        Begin(place);
      }
    }
    for (Stretch& stretch : stretches_) {
      std::sort(stretch.ops.begin(), stretch.ops.end());
      std::sort(stretch.after.begin(), stretch.after.end());
      stretch.after.erase(std::unique(stretch.after.begin(), stretch.after.end()), stretch.after.end());
    }
    return std::move(stretches_);
  }

 private:
  // What is known of a stretch while it may still grow.
  struct Open {
    std::size_t first = 0;     // its first group
    std::vector<int> readers;  // by unit: the first turn there of a group that reads from the stretch; kNone: none
  };

  const std::vector<OpId>& GroupAt(std::size_t place) const { return plan_.groups[Index(plan_.sequence[place])]; }
  int DeviceAt(std::size_t place) const { return plan_.placement[Index(plan_.sequence[place])]; }
  std::span<const std::int32_t> UnitsAt(std::size_t place) const { return topology_.UnitsAt(DeviceAt(place)); }
  int& Clock(std::size_t place, std::int32_t unit) { return clock_[place * units_ + Index(unit)]; }

  void SetClocks() {
    for (std::size_t place = 0; place < plan_.sequence.size(); ++place) {
      const auto follow = [&](std::size_t earlier) {
        for (std::size_t unit = 0; unit < units_; ++unit)
          clock_[place * units_ + unit] = std::max(clock_[place * units_ + unit], clock_[earlier * units_ + unit]);
      };
      for (const OpId op : GroupAt(place)) {
        for (const OpId other : graph_.Predecessors(op)) {
          if (place_of_op_[Index(other)] != place) follow(place_of_op_[Index(other)]);
        }
      }
      for (const std::int32_t unit : UnitsAt(place)) {
        if (!place_at_[Index(unit)].empty()) follow(place_at_[Index(unit)].back());
      }
      for (const std::int32_t unit : UnitsAt(place)) {
        place_at_[Index(unit)].push_back(place);
        Clock(place, unit) = static_cast<int>(place_at_[Index(unit)].size());
      }
      turn_[place] = Clock(place, UnitsAt(place).front());
    }
  }

  // Is `earlier` over before `later` begins, or the same, whatever the two take?
  bool Precedes(std::size_t earlier, std::size_t later) {
    return Clock(later, UnitsAt(earlier).front()) >= turn_[earlier];
  }

  // The stretch that the group would go on with: the last one of all its units, on the same device.
  std::optional<int> OpenStretch(std::size_t place) const {
    const int last = last_on_[Index(UnitsAt(place).front())];
    if (last < 0 || stretches_[Index(last)].device != DeviceAt(place)) return std::nullopt;
    for (const std::int32_t unit : UnitsAt(place)) {
      if (last_on_[Index(unit)] != last) return std::nullopt;
    }
    return last;
  }

  // Would neither the stretch begin nor those that read from it go on later for having the group in it?
  bool MayJoin(std::size_t place, int stretch) {
    const Open& open = open_[Index(stretch)];
    for (const OpId op : GroupAt(place)) {
      for (const OpId other : graph_.Predecessors(op)) {
        const std::size_t from = place_of_op_[Index(other)];
        if (from != place && stretch_of_[from] != stretch && !Precedes(from, open.first)) return false;
      }
    }
    for (std::size_t unit = 0; unit < units_; ++unit) {
      if (open.readers[unit] == kNone) continue;
      if (!Precedes(place, place_at_[unit][Index(open.readers[unit] - 1)])) return false;
    }
    return true;
  }

  void Begin(std::size_t place) {
    const int stretch = static_cast<int>(stretches_.size());
    stretches_.push_back({DeviceAt(place), {}, {}});
    open_.push_back({place, std::vector<int>(units_, kNone)});
    for (const std::int32_t unit : UnitsAt(place)) {
      if (last_on_[Index(unit)] >= 0) stretches_.back().after.push_back(last_on_[Index(unit)]);
      last_on_[Index(unit)] = stretch;
    }
    Join(place, stretch);
  }

  void Join(std::size_t place, int stretch) {
    stretch_of_[place] = stretch;
    Stretch& into = stretches_[Index(stretch)];
    for (const OpId op : GroupAt(place)) {
      into.ops.push_back(op);
      for (const OpId other : graph_.Predecessors(op)) {
        const int from = stretch_of_[place_of_op_[Index(other)]];
        if (from != stretch) into.after.push_back(from);
      }
      for (const OpId other : graph_.Successors(op))
        NoteReader(place_of_op_[Index(other)], place, open_[Index(stretch)]);
    }
  }

  // A reader that shares a unit with the stretch comes after it there in any case.
  void NoteReader(std::size_t reader, std::size_t place, Open& open) {
    for (const std::int32_t unit : UnitsAt(reader)) {
      for (const std::int32_t own : UnitsAt(place)) {
        if (unit == own) return;
      }
    }
    int& first = open.readers[Index(UnitsAt(reader).front())];
    first = std::min(first, turn_[reader]);
  }

  const ComputationGraph& graph_;
  const Plan& plan_;
  Topology topology_;
  std::size_t units_;
  std::vector<std::size_t> place_of_op_;
  std::vector<int> turn_;                           // by place: the group's number on its first unit, from 1
  std::vector<int> clock_;                          // by place * units + unit
  std::vector<std::vector<std::size_t>> place_at_;  // by unit and turn - 1
  std::vector<int> stretch_of_;                     // by place
  std::vector<int> last_on_;                        // by unit: its last stretch so far
  std::vector<Stretch> stretches_;
  std::vector<Open> open_;
};

}  // namespace

std::vector<Stretch> CutIntoStretches(const ComputationGraph& graph, const Machine& machine, const Plan& plan) {
  return Cutter(graph, machine, plan).Cut();
}

}  // namespace millrace
