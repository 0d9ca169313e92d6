// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/block_paths.h"

#include <algorithm>
#include <iterator>

#include "millrace/graph/index.h"

namespace millrace {
namespace {

constexpr double kNoSlack = 1e-3;  // of the makespan: so little counts as none

// Something of a plan that goes on for a while: a group that runs, or a transfer.
struct Activity {
  double begin = 0;
  double end = 0;
  double slack = 0;
  std::int32_t block = 0;
  std::int32_t other = 0;  // a transfer's other end; -1: a group
};

// The least slack of what goes on at a moment and has nothing to do with a block; never above `most`.
double LeastSlackBeside(std::span<const Activity> active, double moment, std::int32_t block, double most) {
  double least = most;
  for (const Activity& beside : active) {
    if (beside.end > moment && beside.block != block && beside.other != block) least = std::min(least, beside.slack);
  }
  return least;
}

}  // namespace

BlockPaths::BlockPaths(const CostedGraph& costed, const Assignment& assignment)
    : costed_(costed),
      placement_(assignment.placement),
      timeline_(MakeTimeline(costed, assignment)),
      behind_(Index(costed.num_groups), 0.0),
      on_unit_(Index(costed.topology.num_units)),
      moves_(Index(costed.num_groups), 0),
      start_(Index(costed.num_groups), 0.0),
      to_end_(Index(costed.num_groups), 0.0) {
  for (const int group : assignment.sequence) {
    for (const std::int32_t unit : costed.topology.UnitsAt(placement_[Index(group)]))
      on_unit_[Index(unit)].push_back(group);
  }
  std::vector<double> unit_behind(on_unit_.size(), 0.0);
  for (auto at = assignment.sequence.rbegin(); at != assignment.sequence.rend(); ++at) {
    const int group = *at;
    const int device = placement_[Index(group)];
    double& behind = behind_[Index(group)];
    for (const std::int32_t unit : costed.topology.UnitsAt(device)) behind = std::max(behind, unit_behind[Index(unit)]);
    const double whole = behind + costed.Seconds(group, device);
    for (const std::int32_t unit : costed.topology.UnitsAt(device)) unit_behind[Index(unit)] = whole;
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      double& sent = behind_[Index(edge.group)];
      sent = std::max(sent, whole + costed.TransferSeconds(edge.bytes, placement_[Index(edge.group)], device));
    }
  }
}

std::vector<double> BlockPaths::Room(std::span<const std::int32_t> block_of, int blocks, double most) const {
  std::vector<Activity> all;
  for (int group = 0; group < costed_.num_groups; ++group) {
    const std::size_t g = Index(group);
    const std::int32_t block = block_of[g];
    if (Slack(group) < most && timeline_.finish[g] > timeline_.start[g])
      all.push_back({timeline_.start[g], timeline_.finish[g], Slack(group), block, -1});
    for (const GroupEdge& edge : costed_.Successors(group)) {
      const std::size_t reader = Index(edge.group);
      const int to = placement_[reader];
      const double takes = costed_.TransferSeconds(edge.bytes, placement_[g], to);
      const double arrives = timeline_.finish[g] + takes;
      const double slack = timeline_.makespan - behind_[reader] - costed_.Seconds(edge.group, to) - arrives;
      if (takes > 0 && slack < most && block_of[reader] != block)
        all.push_back({timeline_.finish[g], arrives, std::max(0.0, slack), block, block_of[reader]});
    }
  }
  std::sort(all.begin(), all.end(), [](const Activity& a, const Activity& b) { return a.begin < b.begin; });
  std::vector<double> room(Index(blocks), 0.0);
  std::vector<Activity> active;
  std::vector<double> moments;
  const double none = kNoSlack * timeline_.makespan;
  for (std::size_t next = 0; next < all.size();) {
    const double now = all[next].begin;
    std::erase_if(active, [now](const Activity& a) { return a.end <= now; });
    while (next < all.size() && all[next].begin <= now) active.push_back(all[next++]);
    // From now to the next beginning what ends leaves less behind: each end is a moment of its own.
    const double until = next < all.size() ? all[next].begin : timeline_.makespan;
    moments.assign(1, now);
    for (const Activity& a : active) {
      if (a.end < until) moments.push_back(a.end);
    }
    for (const double moment : moments) {
      for (const Activity& own : active) {
        if (own.other >= 0 || own.slack > none || own.end <= moment) continue;
        double& of_block = room[Index(own.block)];
        of_block = std::max(of_block, LeastSlackBeside(active, moment, own.block, most));
      }
    }
  }
  return room;
}

BlockPaths::Neighbours BlockPaths::At(std::int32_t unit, double time) const {
  const std::vector<std::int32_t>& queue = on_unit_[Index(unit)];
  const auto stays = [this](std::int32_t group) { return moves_[Index(group)] == 0; };
  const auto later = std::partition_point(
      queue.begin(), queue.end(), [this, time](std::int32_t group) { return timeline_.start[Index(group)] <= time; });
  Neighbours neighbours;
  const auto before = std::find_if(std::make_reverse_iterator(later), queue.rend(), stays);
  if (before != queue.rend()) neighbours.before = *before;
  const auto after = std::find_if(later, queue.end(), stays);
  if (after != queue.end()) neighbours.after = *after;
  return neighbours;
}

double BlockPaths::Longest(std::span<const std::int32_t> groups, int device) {
  const std::span<const std::int32_t> units = costed_.topology.UnitsAt(device);
  for (const std::int32_t group : groups) moves_[Index(group)] = 1;
  after_.clear();
  double free = 0;
  for (const std::int32_t group : groups) {
    double start = 0;
    for (const GroupEdge& edge : costed_.Predecessors(group)) {
      const std::size_t maker = Index(edge.group);
      start = std::max(start, moves_[maker] != 0 ? start_[maker] + costed_.Seconds(edge.group, device)
                                                 : timeline_.finish[maker] +
                                                       costed_.TransferSeconds(edge.bytes, placement_[maker], device));
    }
    double there = std::max(start, free);
    for (const std::int32_t unit : units) {
      const Neighbours neighbours = At(unit, start);
      if (neighbours.before >= 0) there = std::max(there, timeline_.finish[Index(neighbours.before)]);
      after_.push_back(neighbours.after);
    }
    start_[Index(group)] = there;
    free = there + costed_.Seconds(group, device);
  }
  double longest = 0, behind = 0;
  for (std::size_t i = groups.size(); i-- > 0;) {
    const std::int32_t group = groups[i];
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const std::int32_t next = after_[i * units.size() + unit];
      if (next >= 0) behind = std::max(behind, costed_.Seconds(next, placement_[Index(next)]) + behind_[Index(next)]);
    }
    for (const GroupEdge& edge : costed_.Successors(group)) {
      const std::size_t reader = Index(edge.group);
      const int on = placement_[reader];
      behind = std::max(behind, moves_[reader] != 0 ? costed_.Seconds(edge.group, device) + to_end_[reader]
                                                    : costed_.TransferSeconds(edge.bytes, device, on) +
                                                          costed_.Seconds(edge.group, on) + behind_[reader]);
    }
    to_end_[Index(group)] = behind;
    behind += costed_.Seconds(group, device);
    longest = std::max(longest, start_[Index(group)] + behind);
  }
  for (const std::int32_t group : groups) moves_[Index(group)] = 0;
  return longest;
}

}  // namespace millrace
