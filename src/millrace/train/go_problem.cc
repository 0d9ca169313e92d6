// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/errors/errors.h"
#include "millrace/heuristics/fusion.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/placements.h"
#include "millrace/search/device_twins.h"
#include "millrace/search/placement_search.h"
#include "millrace/simulate/contention.h"
#include "millrace/train/plan_reward.h"

namespace millrace {
namespace {

constexpr double kUnusable = std::numeric_limits<double>::infinity();
constexpr double kWorthRenaming = 1.02;  // times as long a plan may take for its devices to come in order

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

double ReferenceSeconds(const CostedGraph& costed) {
  const double reference = std::min(UsableSeconds(costed, ScheduleSequential(costed).assignment),
                                    UsableSeconds(costed, ScheduleExpert(costed).assignment));
  if (std::isfinite(reference) && reference > 0) return reference;
  const double work = std::accumulate(costed.fastest_seconds.begin(), costed.fastest_seconds.end(), 0.0);
  return work > 0 ? work : 1;
}

// A new number for each device, so that within each class those whose work lies earlier come first.
std::vector<int> RenameByWork(const OneShotProblem& problem, const CostedGraph& costed, const Assignment& assignment,
                              const std::vector<int>& class_of) {
  const auto devices = At(costed.num_devices);
  std::vector<double> position(devices, 0), ops(devices, 0);
  for (std::size_t group = 0; group < assignment.placement.size(); ++group) {
    for (const OpId op : costed.groups[group]) {
      position[At(assignment.placement[group])] += problem.progress()[At(problem.RowOf(op))];
      ops[At(assignment.placement[group])] += 1;
    }
  }
  for (std::size_t d = 0; d < devices; ++d) position[d] = ops[d] > 0 ? position[d] / ops[d] : kUnusable;
  std::vector<int> renamed(devices);
  for (std::size_t first = 0; first < devices; ++first) {
    if (class_of[first] != static_cast<int>(first)) continue;
    std::vector<int> members;
    for (std::size_t d = first; d < devices; ++d) {
      if (class_of[d] == static_cast<int>(first)) members.push_back(static_cast<int>(d));
    }
    std::vector<int> by_work = members;
    std::stable_sort(by_work.begin(), by_work.end(), [&](int a, int b) { return position[At(a)] < position[At(b)]; });
    for (std::size_t i = 0; i < members.size(); ++i) renamed[At(by_work[i])] = members[i];
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
Decisions ToDecisions(const OneShotProblem& problem, const CostedGraph& costed, const Assignment& assignment,
                      const std::vector<int>& renamed) {
  Decisions decisions;
  std::vector<int> placement(assignment.placement.size());
  for (std::size_t group = 0; group < placement.size(); ++group)
    placement[group] = renamed[At(assignment.placement[group])];
  decisions.device = DevicesByTie(problem, costed, placement);
  decisions.priority.assign(At(problem.num_rows()), 0);
  std::int64_t place = 0;
  for (const int group : assignment.sequence) {
    for (const OpId op : costed.groups[At(group)]) {
      const std::int32_t row = problem.RowOf(op);
      decisions.priority[At(row)] = static_cast<std::uint8_t>(kLevels - 1 - place++ * kLevels / problem.num_rows());
    }
  }
  return decisions;
}

}  // namespace

GoProblem::GoProblem(std::string name, ComputationGraph graph, Machine machine)
    : name_(std::move(name)),
      graph_(std::make_unique<const ComputationGraph>(std::move(graph))),
      machine_(std::make_unique<const Machine>(std::move(machine))) {
  if (graph_->num_ops() == 0) throw InvalidInput(name_ + ": a graph without ops has no plan to learn");
  model_ = MakeAnalyticCostModel(*graph_, *machine_);
  one_shot_ = std::make_unique<const OneShotProblem>(*model_);
  decoder_ = std::make_unique<const OneShotDecoder>(*one_shot_);
  features_ = MakeOneShotFeatures(*one_shot_);
  reference_seconds_ = ReferenceSeconds(MakeCostedGraph(*model_, GreedyFusion(*graph_)));
}

double GoProblem::Seconds(const Decisions& decisions) const {
  const OneShotPlan plan = decoder_->Decode(decisions);
  return plan.fits ? ContendedTimeline(*plan.costed, plan.assignment).makespan : kUnusable;
}

ExpertAnswer AskExperts(const GoProblem& problem, const ExpertOptions& options, Random& random) {
  const OneShotProblem& one_shot = problem.one_shot();
  PlacementSearchOptions search;
  search.evaluations = options.evaluations;
  search.seconds = options.seconds;
  ExpertAnswer answer{.known = {.seconds = kUnusable}};
  KnownDecisions& best = answer.known;
  OneShotPlan start;
  if (options.start != nullptr) {
    start = problem.decoder().Decode(*options.start);
    search.starts = {{start.assignment.placement, start.priorities}};
    best = {*options.start, problem.Seconds(*options.start)};
  } else {
    start.costed =
        std::make_shared<const CostedGraph>(MakeCostedGraph(one_shot.model(), GreedyFusion(problem.graph())));
  }
  const CostedGraph& costed = *start.costed;
  const std::optional<FoundPlacement> found = SearchPlacement(costed, search, random);
  if (!found) return answer;
  answer.evaluations = found->evaluations;
  for (const std::vector<int>& classes : {FirstTwins(costed), ByKind(problem.machine())}) {
    Decisions levelled =
        ToDecisions(one_shot, costed, found->assignment, RenameByWork(one_shot, costed, found->assignment, classes));
    if (options.start != nullptr) levelled.fusion = options.start->fusion;
    std::vector<std::vector<std::uint8_t>> orders = {
        levelled.priority,
        // Levels are a coarse copy of the sequence, which was by upward rank, as equal levels are, or by readiness.
        std::vector<std::uint8_t>(levelled.priority.size(), kLevels / 2),
        {}};
    if (options.start != nullptr) orders.push_back(options.start->priority);
    KnownDecisions known{.seconds = kUnusable};
    for (std::vector<std::uint8_t>& order : orders) {
      Decisions decisions = levelled;
      decisions.priority = std::move(order);
      const double seconds = problem.Seconds(decisions);
      ++answer.evaluations;
      if (seconds < known.seconds) known = {std::move(decisions), seconds};
    }
    const double most = options.start != nullptr ? best.seconds : best.seconds * kWorthRenaming;
    if (std::isfinite(known.seconds) && known.seconds <= most) best = std::move(known);
  }
  return answer;
}

}  // namespace millrace
