// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/demonstration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/graph/index.h"
#include "millrace/search/placement_search.h"
#include "millrace/search/symmetric_devices.h"

namespace millrace {
namespace {

constexpr double kWorthRenaming = 1.02;  // times as long a plan may take for its devices to come in order

// A new number for each device, so that within each class those whose work lies earlier come first.
std::vector<int> RenameByWork(const GoProblem& problem, const CostedGraph& costed, const Assignment& assignment,
                              const std::vector<int>& class_of) {
  const auto devices = Index(costed.num_devices);
  std::vector<double> position(devices, 0), ops(devices, 0);
  for (std::size_t group = 0; group < assignment.placement.size(); ++group) {
    for (const OpId op : costed.groups[group]) {
      position[Index(assignment.placement[group])] += problem.progress()[Index(problem.RowOf(op))];
      ops[Index(assignment.placement[group])] += 1;
    }
  }
  for (std::size_t d = 0; d < devices; ++d) position[d] = ops[d] > 0 ? position[d] / ops[d] : kCannotRun;
  std::vector<int> renamed(devices);
  for (std::size_t first = 0; first < devices; ++first) {
    if (class_of[first] != static_cast<int>(first)) continue;
    std::vector<int> members;
    for (std::size_t d = first; d < devices; ++d) {
      if (class_of[d] == static_cast<int>(first)) members.push_back(static_cast<int>(d));
    }
    std::vector<int> by_work = members;
    std::stable_sort(by_work.begin(), by_work.end(),
                     [&](int a, int b) { return position[Index(a)] < position[Index(b)]; });
    for (std::size_t i = 0; i < members.size(); ++i) renamed[Index(by_work[i])] = members[i];
  }
  return renamed;
}

// Devices of one kind, the lowest of each first, whatever their links.
std::vector<int> ByKind(const Machine& machine) {
  std::vector<int> class_of;
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    std::size_t first = 0;
    while (machine.devices[first].kind != machine.devices[d].kind) ++first;
    class_of.push_back(static_cast<int>(first));
  }
  return class_of;
}

// Placement as given; the sequence as levels of equally many ops.
Decisions ToDecisions(const GoProblem& problem, const CostedGraph& costed, const Assignment& assignment,
                      const std::vector<int>& renamed) {
  Decisions decisions;
  std::vector<int> placement(assignment.placement.size());
  for (std::size_t group = 0; group < placement.size(); ++group)
    placement[group] = renamed[Index(assignment.placement[group])];
  decisions.device = DevicesByColocation(problem, costed, placement);
  decisions.priority.assign(Index(problem.num_rows()), 0);
  std::int64_t place = 0;
  for (const int group : assignment.sequence) {
    for (const OpId op : costed.groups[Index(group)]) {
      const std::int32_t row = problem.RowOf(op);
      decisions.priority[Index(row)] = static_cast<std::uint8_t>(kLevels - 1 - place++ * kLevels / problem.num_rows());
    }
  }
  return decisions;
}

}  // namespace

GoDemonstration SearchDemonstration(const GoTrainingProblem& training, const DemonstrationOptions& options,
                                    Random& random) {
  const GoProblem& problem = training.problem();
  PlacementSearchOptions search;
  search.evaluations = options.evaluations;
  search.seconds = options.seconds;
  GoDemonstration found{.known = {.seconds = kCannotRun}};
  KnownDecisions& best = found.known;
  DecodedPlan start;
  if (options.start != nullptr) {
    start = training.decoder().Decode(*options.start);
    search.starts = {{start.assignment.placement, start.priorities}};
    best = {*options.start, training.Seconds(*options.start)};
  } else {
    start.costed =
        std::make_shared<const CostedGraph>(MakeCostedGraph(problem.model(), GreedyFusion(training.graph())));
  }
  const CostedGraph& costed = *start.costed;
  const std::optional<FoundPlacement> searched = SearchPlacement(costed, search, random);
  if (!searched) return found;
  found.evaluations = searched->evaluations;
  for (const std::vector<int>& classes : {FirstSymmetricDevices(costed), ByKind(training.machine())}) {
    Decisions levelled = ToDecisions(problem, costed, searched->assignment,
                                     RenameByWork(problem, costed, searched->assignment, classes));
    if (options.start != nullptr) levelled.fusion = options.start->fusion;
    std::vector<std::vector<std::uint8_t>> orders = {
        levelled.priority,
        // Levels are a coarse copy of the sequence, which was by upward rank, as equal levels are, or by readiness.
        std::vector<std::uint8_t>(levelled.priority.size(), kLevels / 2)};
    if (!options.order_is_decided) orders.emplace_back();
    if (options.start != nullptr) orders.push_back(options.start->priority);
    KnownDecisions known{.seconds = kCannotRun};
    for (std::vector<std::uint8_t>& order : orders) {
      Decisions decisions = levelled;
      decisions.priority = std::move(order);
      const double seconds = training.Seconds(decisions);
      ++found.evaluations;
      if (seconds < known.seconds) known = {std::move(decisions), seconds};
    }
    const double most = options.start != nullptr ? best.seconds : best.seconds * kWorthRenaming;
    if (std::isfinite(known.seconds) && known.seconds <= most) best = std::move(known);
  }
  return found;
}

}  // namespace millrace
