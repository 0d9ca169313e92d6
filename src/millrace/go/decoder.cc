// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/decoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "millrace/fusion/greedy_fusion.h"
#include "millrace/fusion/merged_groups.h"
#include "millrace/graph/index.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

// The op whose device the group takes.
OpId LeadOf(const GoProblem& problem, const FusionProblem& fusion, const std::vector<OpId>& group) {
  const auto anchor = std::find_if(group.begin(), group.end(), [&fusion](OpId op) { return fusion.anchor(op); });
  if (anchor != group.end()) return *anchor;
  return *std::max_element(group.begin(), group.end(), [&problem](OpId a, OpId b) {
    return problem.mean_seconds()[Index(a)] < problem.mean_seconds()[Index(b)];
  });
}

// Sets of groups that must share a device. Any other group is a set of its own.
struct Together {
  explicit Together(const CostedGraph& costed) : of_group(Index(costed.num_groups)), count(costed.num_colocations) {
    for (std::size_t g = 0; g < of_group.size(); ++g)
      of_group[g] = costed.colocation[g] >= 0 ? costed.colocation[g] : count++;
  }
  std::vector<std::int32_t> of_group;
  std::int32_t count;
};

// By set x device: the seconds that its groups take there.
std::vector<double> SecondsTogether(const CostedGraph& costed, const Together& together) {
  const auto devices = Index(costed.num_devices);
  std::vector<double> seconds(Index(together.count) * devices, 0.0);
  for (std::size_t g = 0; g < together.of_group.size(); ++g) {
    for (std::size_t d = 0; d < devices; ++d)
      seconds[Index(together.of_group[g]) * devices + d] += costed.seconds[g * devices + d];
  }
  return seconds;
}

// The device where all sets together take the least time. A set that cannot run there counts at its fastest device.
int HomeOf(const std::vector<double>& seconds, std::size_t devices) {
  std::vector<double> totals(devices, 0.0);
  for (std::size_t begin = 0; begin < seconds.size(); begin += devices) {
    const auto row = seconds.begin() + static_cast<std::ptrdiff_t>(begin);
    const double least = *std::min_element(row, row + static_cast<std::ptrdiff_t>(devices));
    for (std::size_t d = 0; d < devices; ++d)
      totals[d] += seconds[begin + d] == kCannotRun ? least : seconds[begin + d];
  }
  return static_cast<int>(std::min_element(totals.begin(), totals.end()) - totals.begin());
}

}  // namespace

GoDecoder::GoDecoder(const GoProblem& problem) : problem_(problem), fusion_(problem.model()) {
  merge_bytes_.reserve(fusion_.candidates().size());
  for (const Merge& merge : fusion_.candidates()) {
    const std::span<const GroupEdge> edges = problem.costed().Predecessors(merge.consumer);
    const auto edge = std::lower_bound(edges.begin(), edges.end(), merge.producer,
                                       [](const GroupEdge& e, OpId producer) { return e.group < producer; });
    merge_bytes_.push_back(edge->bytes);
  }
}

GoDecoder::GoDecoder(const GoProblem& problem, const CostedGraph& given) : GoDecoder(problem) {
  given_ = std::shared_ptr<const CostedGraph>(std::shared_ptr<void>(), &given);
}

FusionGroups GoDecoder::Groups(const Decisions& decisions) const {
  if (given_ != nullptr) return given_->groups;
  if (!decisions.Has(Task::kFusion)) return GreedyFusion(problem_.model());
  const std::span<const Merge> candidates = fusion_.candidates();
  std::vector<std::uint32_t> order;
  order.reserve(candidates.size());
  const auto level = [&](std::uint32_t i) { return decisions.fusion[Index(problem_.RowOf(candidates[i].consumer))]; };
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (level(i) > 0) order.push_back(i);
  }
  // The sort is stable: candidates come by consumer in topological order, then the latest producer first.
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(level(a), merge_bytes_[a]) > std::tuple(level(b), merge_bytes_[b]);
  });

  MergedGroups groups(fusion_);
  // By group: the op that names its colocation; -1 without one.
  std::vector<OpId> colocation;
  colocation.reserve(Index(problem_.num_rows()));
  for (OpId op = 0; op < problem_.num_rows(); ++op)
    colocation.push_back(problem_.graph().op(op).colocate.empty() ? -1 : fusion_.colocation(op));
  for (const std::uint32_t i : order) {
    const OpId first = groups.GroupOf(candidates[i].producer);
    const OpId second = groups.GroupOf(candidates[i].consumer);
    OpId& own = colocation[Index(first)];
    const OpId other = colocation[Index(second)];
    if (first == second || (own >= 0 && other >= 0 && own != other)) continue;
    if (!groups.Propose(first, second) || !groups.Legal()) continue;
    groups.Merge();
    own = std::max(own, other);
  }
  return groups.groups();
}

std::shared_ptr<const CostedGraph> GoDecoder::GreedilyFused() const {
  std::call_once(greedy_made_, [this] {
    greedy_ = std::make_shared<const CostedGraph>(MakeCostedGraph(problem_.model(), GreedyFusion(problem_.model())));
  });
  return greedy_;
}

std::shared_ptr<const CostedGraph> GoDecoder::Contract(const Decisions& decisions) const {
  if (given_ != nullptr) return given_;
  if (!decisions.Has(Task::kFusion)) return GreedilyFused();
  return std::make_shared<const CostedGraph>(MakeCostedGraph(problem_.model(), Groups(decisions)));
}

std::vector<int> GoDecoder::Place(const Decisions& decisions, const CostedGraph& costed) const {
  const auto devices = Index(costed.num_devices);
  const Together together(costed);
  const std::vector<double> seconds = SecondsTogether(costed, together);
  const bool decided = decisions.Has(Task::kPlacement);
  // By set x device: how much of its work was placed there. The small addend lets groups without work count, too.
  std::vector<double> votes(seconds.size(), 0.0);
  if (decided) {
    for (std::size_t g = 0; g < together.of_group.size(); ++g) {
      const OpId lead = LeadOf(problem_, fusion_, costed.groups[g]);
      const std::int32_t device = decisions.device[Index(problem_.ColocationOf(problem_.RowOf(lead)))];
      votes[Index(together.of_group[g]) * devices + Index(device)] +=
          problem_.mean_seconds()[Index(lead)] + 1e-9 * problem_.scale();
    }
  }
  const int home = decided ? 0 : HomeOf(seconds, devices);
  std::vector<int> device_of(Index(together.count), -1);
  for (std::size_t t = 0; t < device_of.size(); ++t) {
    if (!decided && seconds[t * devices + Index(home)] != kCannotRun) {
      device_of[t] = home;
      continue;
    }
    for (std::size_t d = 0; d < devices; ++d) {
      if (seconds[t * devices + d] == kCannotRun) continue;
      const auto key = [&](std::size_t device) {
        return std::pair(votes[t * devices + device], -seconds[t * devices + device]);
      };
      if (device_of[t] < 0 || key(d) > key(Index(device_of[t]))) device_of[t] = static_cast<int>(d);
    }
  }
  std::vector<int> placement;
  placement.reserve(together.of_group.size());
  for (const std::int32_t t : together.of_group) placement.push_back(device_of[Index(t)]);
  return placement;
}

DecodedPlan GoDecoder::Decode(const Decisions& decisions) const {
  DecodedPlan plan;
  plan.costed = Contract(decisions);
  const CostedGraph& costed = *plan.costed;
  if (decisions.Has(Task::kPriority)) {
    plan.priorities.reserve(costed.groups.size());
    for (const std::vector<OpId>& group : costed.groups) {
      double highest = 0;
      for (const OpId op : group) {
        const auto row = Index(problem_.RowOf(op));
        highest = std::max(highest, QueuePriority(decisions.priority[row], problem_.urgency()[row]));
      }
      plan.priorities.push_back(highest);
    }
  }
  plan.assignment = SchedulePlaced(costed, Place(decisions, costed), plan.priorities).assignment;
  plan.makespan = Simulator(costed).Makespan(plan.assignment);
  plan.fits = FitsInMemory(costed, plan.assignment);
  return plan;
}

std::vector<std::int32_t> DevicesByColocation(const GoProblem& problem, const CostedGraph& costed,
                                              const std::vector<int>& placement) {
  std::vector<std::int32_t> devices(static_cast<std::size_t>(problem.num_colocations()), 0);
  for (std::size_t group = 0; group < placement.size(); ++group) {
    for (const OpId op : costed.groups[group])
      devices[static_cast<std::size_t>(problem.ColocationOf(problem.RowOf(op)))] = placement[group];
  }
  return devices;
}

}  // namespace millrace
