// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/baselines.h"
#include "millrace/heuristics/heuristics.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "millrace/fusion/fusion_options.h"
#include "millrace/heuristics/placements.h"
#include "millrace/planning/planner.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace millrace {
namespace {

constexpr char kHeft[] = "heft";

// Seconds of all groups one after the other, each where `placement` puts it.
double TotalSeconds(const CostedGraph& costed, const std::vector<int>& placement) {
  double total = 0;
  for (int group = 0; group < costed.num_groups; ++group)
    total += costed.Seconds(group, placement[static_cast<std::size_t>(group)]);
  return total;
}

// Everything on `device`; what cannot run there goes, with what it must share a device with, where it is fastest.
std::vector<int> PlaceOn(const CostedGraph& costed, int device) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  std::vector<double> colocated_seconds(static_cast<std::size_t>(costed.num_colocations) * devices, 0.0);
  for (int group = 0; group < costed.num_groups; ++group) {
    const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
    if (colocation < 0) continue;
    for (std::size_t d = 0; d < devices; ++d)
      colocated_seconds[static_cast<std::size_t>(colocation) * devices + d] +=
          costed.Seconds(group, static_cast<int>(d));
  }
  std::vector<int> placement(static_cast<std::size_t>(costed.num_groups), device);
  for (int group = 0; group < costed.num_groups; ++group) {
    if (costed.Seconds(group, device) != kCannotRun) continue;
    const std::int32_t colocation = costed.colocation[static_cast<std::size_t>(group)];
    const double* const row = colocation >= 0
                                  ? colocated_seconds.data() + static_cast<std::size_t>(colocation) * devices
                                  : costed.seconds.data() + static_cast<std::size_t>(group) * devices;
    placement[static_cast<std::size_t>(group)] = static_cast<int>(std::min_element(row, row + devices) - row);
  }
  return placement;
}

// Everything on the best of the devices with this many units, in topological order.
Assignment OneAfterTheOther(const CostedGraph& costed, int units) {
  Assignment best;
  double least = kCannotRun;
  for (int device = 0; device < costed.num_devices; ++device) {
    if (costed.topology.UnitsOf(device) != units) continue;
    std::vector<int> placement = PlaceOn(costed, device);
    const double total = TotalSeconds(costed, placement);
    if (!best.placement.empty() && total >= least) continue;
    least = total;
    best.placement = std::move(placement);
  }
  best.sequence.assign(costed.topological_order.begin(), costed.topological_order.end());
  return best;
}

std::optional<Baseline> BestOverFusions(const Pool& pool, std::string name, std::string meaning,
                                        const std::function<Assignment(const CostedGraph&)>& assign) {
  std::optional<PoolEntry> best;
  for (std::size_t f = 0; f < pool.fusions.size(); ++f) {
    if (!pool.fusions[f].open_to_all) continue;
    const CostedGraph& costed = pool.fusions[f].costed;
    Assignment assignment = assign(costed);
    if (!FitsInMemory(costed, assignment)) continue;
    const double makespan = Simulator(costed).Makespan(assignment);
    if (!best || makespan < best->proxy_seconds)
      best = PoolEntry{static_cast<int>(f), name, std::move(assignment), makespan};
  }
  if (!best) return std::nullopt;
  return Baseline{std::move(name), std::move(meaning), MakeCandidate(pool, *best)};
}

}  // namespace

std::vector<Baseline> MakeBaselines(const Pool& pool, const Machine& machine) {
  std::size_t fewest = machine.devices.front().units.size();
  std::size_t most = fewest;
  for (const Device& device : machine.devices) {
    fewest = std::min(fewest, device.units.size());
    most = std::max(most, device.units.size());
  }
  std::vector<Baseline> baselines;
  const auto add = [&](std::string name, std::string meaning,
                       const std::function<Assignment(const CostedGraph&)>& assign) {
    std::optional<Baseline> baseline = BestOverFusions(pool, std::move(name), std::move(meaning), assign);
    if (baseline) baselines.push_back(std::move(*baseline));
  };
  add("sequential",
      "one op after the other on one device of " + std::to_string(fewest) + (fewest == 1 ? " unit" : " units"),
      [fewest](const CostedGraph& costed) { return OneAfterTheOther(costed, static_cast<int>(fewest)); });
  if (most > fewest) {
    add("all-cores", "one op after the other, each on all " + std::to_string(most) + " units: the usual default",
        [most](const CostedGraph& costed) { return OneAfterTheOther(costed, static_cast<int>(most)); });
  }
  add(kHeft, "the HEFT heuristic, placement and order", [](const CostedGraph& costed) {
    Assignment answer;
    Random unused(0);
    MakeHeuristic(kHeft)->Propose(costed, Budget{}, unused,
                                  [&answer](ProposedPlan offered) { answer = std::move(offered.assignment); });
    return answer;
  });
  const bool layers = std::any_of(pool.fusions.front().costed.layer.begin(), pool.fusions.front().costed.layer.end(),
                                  [](std::int32_t layer) { return layer >= 0; });
  if (layers && pool.fusions.front().costed.topology.num_memories > 1) {
    add("expert", "consecutive layers in one block per device, as people place them",
        [](const CostedGraph& costed) { return ScheduleExpert(costed).assignment; });
  }
  return baselines;
}

std::vector<Baseline> MakeSteeredBaselines(const Pool& pool, const Machine& machine, const CostModel& free,
                                           const Steering& steering) {
  std::vector<Baseline> baselines = MakeBaselines(pool, machine);
  Pool without;
  for (FusionOption& fusion : FusionOptions(free))
    without.fusions.push_back({std::move(fusion.name), MakeCostedGraph(free, std::move(fusion.groups))});
  for (Baseline& other : MakeBaselines(without, machine)) {
    other.keeps = Keeps(steering, other.candidate.plan);
    const auto same = std::find_if(baselines.begin(), baselines.end(),
                                   [&other](const Baseline& baseline) { return baseline.name == other.name; });
    if (same == baselines.end()) {
      baselines.push_back(std::move(other));
    } else if (other.name != kHeft) {
      *same = std::move(other);
    }
  }
  return baselines;
}

}  // namespace millrace
