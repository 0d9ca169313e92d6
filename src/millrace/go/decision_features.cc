// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/decision_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "millrace/go/features.h"
#include "millrace/graph/index.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/network/squash.h"

namespace millrace {
namespace {

constexpr float kTopLevel = kLevels - 1;

std::vector<int> PlacementOf(const GoProblem& problem, const Decisions& decisions) {
  std::vector<int> placement(Index(problem.num_rows()));
  for (std::int32_t row = 0; row < problem.num_rows(); ++row)
    placement[Index(problem.order()[Index(row)])] = decisions.device[Index(problem.ColocationOf(row))];
  return placement;
}

// By device: its share of all work against an even one, - 1, squashed.
std::vector<float> Loads(const GoProblem& problem, const std::vector<int>& placement) {
  std::vector<double> work(Index(problem.num_devices()), 0.0);
  for (std::size_t op = 0; op < placement.size(); ++op)
    work[Index(placement[op])] += problem.costed().Seconds(static_cast<int>(op), placement[op]);
  const double even = std::accumulate(work.begin(), work.end(), 0.0) / problem.num_devices();
  std::vector<float> loads;
  loads.reserve(work.size());
  for (const double seconds : work) loads.push_back(even > 0 ? SquashCutOff(seconds / even - 1) : 0.0f);
  return loads;
}

// The weight of an edge where bytes are compared. Control dependencies, of 0 bytes, count a little, too.
double Weight(double bytes) { return bytes + 1.0; }

float LocalShare(const CostedGraph& costed, const std::vector<int>& placement, OpId op) {
  double all = 0, local = 0;
  const auto add = [&](std::span<const GroupEdge> edges) {
    for (const GroupEdge& edge : edges) {
      all += Weight(edge.bytes);
      if (placement[Index(edge.group)] == placement[Index(op)]) local += Weight(edge.bytes);
    }
  };
  add(costed.Predecessors(op));
  add(costed.Successors(op));
  return all > 0 ? static_cast<float>(local / all) : 1.0f;
}

// By device: how full its memory is with the weights and outputs of all ops placed in it.
std::vector<float> MemoryFullness(const GoProblem& problem, const std::vector<int>& placement) {
  const CostedGraph& costed = problem.costed();
  const Topology& topology = costed.topology;
  std::vector<double> bytes(Index(topology.num_memories), 0.0);
  for (std::size_t op = 0; op < placement.size(); ++op)
    bytes[Index(topology.memory_of[Index(placement[op])])] += costed.weight_bytes[op];
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer >= 0)
      bytes[Index(topology.memory_of[Index(placement[Index(tensor.producer)])])] += tensor.bytes;
  }
  std::vector<float> fullness;
  fullness.reserve(Index(problem.num_devices()));
  for (int device = 0; device < problem.num_devices(); ++device) {
    const std::int32_t memory = topology.memory_of[Index(device)];
    const double capacity = topology.memory_bytes[Index(memory)];
    const bool limited = capacity != std::numeric_limits<double>::infinity();
    fullness.push_back(limited ? SquashCutOff(bytes[Index(memory)] / std::max(capacity, 1.0)) : 0.0f);
  }
  return fullness;
}

class Observer {
 public:
  Observer(const GoProblem& problem, const Decisions& before, DecisionObservation& observation)
      : problem_(problem), before_(before), observation_(observation) {}

  void Observe() {
    DescribeDecisions(problem_, before_, observation_.decisions);
    const auto rows = Index(problem_.num_rows());
    const auto devices = Index(problem_.num_devices());
    observation_.places.assign(rows * devices * kPlaceFeatures, 0.0f);
    observation_.place_priors.assign(rows * devices * kPlacePriors, 0.0f);
    observation_.levels.assign(rows * kLevelFeatures, 0.0f);
    DescribeStaticPlaces();
    if (before_.Has(Task::kPlacement)) DescribeTimeline();
    DescribeLevelsBefore();
    FillCentres();
  }

 private:
  std::size_t PlaceAt(std::int32_t row, int device) const {
    return Index(row) * Index(problem_.num_devices()) + Index(device);
  }
  FeatureRow<PlaceFeature> Place(std::int32_t row, int device) {
    return RowAt<PlaceFeature>(observation_.places, PlaceAt(row, device));
  }
  FeatureRow<PlacePrior> Priors(std::int32_t row, int device) {
    return RowAt<PlacePrior>(observation_.place_priors, PlaceAt(row, device));
  }

  void DescribeStaticPlaces() {
    const int devices = problem_.num_devices();
    for (std::int32_t row = 0; row < problem_.num_rows(); ++row) {
      const double mean = problem_.mean_seconds()[Index(problem_.order()[Index(row)])];
      for (int d = 0; d < devices; ++d) {
        const double seconds = problem_.Seconds(row, d);
        if (!std::isfinite(seconds)) continue;
        const double fraction = DeviceFraction(d, devices);
        const auto f = Place(row, d);
        f[PlaceFeature::kSecondsAgainstMean] = mean > 0 ? SquashCutOff(seconds / mean - 1) : 0.0f;
        f[PlaceFeature::kPastWorkBefore] = static_cast<float>(fraction - problem_.work_before()[Index(row)]);
        f[PlaceFeature::kDistanceFromWorkBefore] = std::fabs(f[PlaceFeature::kPastWorkBefore]);
        f[PlaceFeature::kPastProgress] = static_cast<float>(fraction - problem_.progress()[Index(row)]);
        f[PlaceFeature::kDistanceFromProgress] = std::fabs(f[PlaceFeature::kPastProgress]);
        Priors(row, d)[PlacePrior::kProgress] = -f[PlaceFeature::kDistanceFromProgress] * static_cast<float>(devices);
      }
    }
  }

  void DescribeTimeline() {
    const CostedGraph& costed = problem_.costed();
    const std::vector<int> placement = PlacementOf(problem_, before_);
    std::vector<double> priorities;
    if (before_.Has(Task::kPriority)) {
      priorities.resize(placement.size());
      for (std::size_t row = 0; row < placement.size(); ++row)
        priorities[Index(problem_.order()[row])] = QueuePriority(before_.priority[row], problem_.urgency()[row]);
    }
    const PlacedSchedule schedule = SchedulePlaced(costed, placement, priorities);
    const Timeline& timeline = schedule.timeline;
    const std::vector<float> loads = Loads(problem_, placement);
    const std::vector<float> fullness = MemoryFullness(problem_, placement);
    std::vector<double> unit_free(Index(costed.topology.num_units), 0.0);
    for (const int op : schedule.assignment.sequence) {
      DescribePlaces(op, placement, timeline, unit_free);
      Occupy(placement[Index(op)], timeline.finish[Index(op)], unit_free);
    }
    const auto of_makespan = [&timeline](double seconds) {
      return timeline.makespan > 0 ? static_cast<float>(seconds / timeline.makespan) : 0.0f;
    };
    for (std::int32_t row = 0; row < problem_.num_rows(); ++row) {
      const OpId op = problem_.order()[Index(row)];
      const int own = placement[Index(op)];
      for (int d = 0; d < problem_.num_devices(); ++d) {
        const auto f = Place(row, d);
        if (!std::isfinite(problem_.Seconds(row, d))) continue;
        f[PlaceFeature::kHasPlacement] = 1;
        f[PlaceFeature::kIsChosen] = d == own ? 1.0f : 0.0f;
        f[PlaceFeature::kLoad] = loads[Index(d)];
        f[PlaceFeature::kFullness] = fullness[Index(d)];
        f[PlaceFeature::kEnd] = of_makespan(FreeAt(d, unit_free));
        Priors(row, d)[PlacePrior::kStay] = f[PlaceFeature::kIsChosen] - 1;
      }
      const double start = timeline.start[Index(op)];
      const auto level = RowAt<LevelFeature>(observation_.levels, Index(row));
      level[LevelFeature::kHasPlacement] = 1;
      level[LevelFeature::kWait] = SquashCutOff((start - Arrival(op, own, placement, timeline)) / problem_.scale());
      level[LevelFeature::kUrgency] = 1 - of_makespan(start + problem_.upward_ranks()[Index(op)]);
      level[LevelFeature::kStart] = of_makespan(start);
      level[LevelFeature::kLoad] = loads[Index(own)];
      level[LevelFeature::kLocalShare] = LocalShare(costed, placement, op);
    }
  }

  // When the inputs of an op reach a device.
  double Arrival(OpId op, int device, const std::vector<int>& placement, const Timeline& timeline) const {
    double arrival = 0;
    for (const GroupEdge& edge : problem_.costed().Predecessors(op))
      arrival =
          std::max(arrival, timeline.finish[Index(edge.group)] +
                                problem_.costed().TransferSeconds(edge.bytes, placement[Index(edge.group)], device));
    return arrival;
  }

  double FreeAt(int device, const std::vector<double>& unit_free) const {
    double free = 0;
    for (const std::int32_t unit : problem_.costed().topology.UnitsAt(device))
      free = std::max(free, unit_free[Index(unit)]);
    return free;
  }

  void Occupy(int device, double until, std::vector<double>& unit_free) const {
    for (const std::int32_t unit : problem_.costed().topology.UnitsAt(device)) unit_free[Index(unit)] = until;
  }

  // Describes every device for an op at its turn, when the ops before it in the sequence are known and no others.
  void DescribePlaces(OpId op, const std::vector<int>& placement, const Timeline& timeline,
                      const std::vector<double>& unit_free) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const CostedGraph& costed = problem_.costed();
    const std::int32_t row = problem_.RowOf(op);
    const auto devices = Index(problem_.num_devices());
    arrivals_.assign(devices, 0.0);
    finishes_.assign(devices, kNever);
    inputs_.assign(devices, 0.0);
    outputs_.assign(devices, 0.0);
    double in = 0, out = 0, largest = -1;
    int maker = -1;
    for (const GroupEdge& edge : costed.Predecessors(op)) {
      const int from = placement[Index(edge.group)];
      inputs_[Index(from)] += Weight(edge.bytes);
      in += Weight(edge.bytes);
      if (edge.bytes > largest || (edge.bytes == largest && from < maker)) {
        largest = edge.bytes;
        maker = from;
      }
    }
    for (const GroupEdge& edge : costed.Successors(op)) {
      outputs_[Index(placement[Index(edge.group)])] += Weight(edge.bytes);
      out += Weight(edge.bytes);
    }
    double best_finish = kNever, best_arrival = kNever;
    for (std::size_t d = 0; d < devices; ++d) {
      const auto device = static_cast<int>(d);
      const double seconds = problem_.Seconds(row, device);
      if (!std::isfinite(seconds)) continue;
      arrivals_[d] = Arrival(op, device, placement, timeline);
      finishes_[d] = std::max(arrivals_[d], FreeAt(device, unit_free)) + seconds;
      best_finish = std::min(best_finish, finishes_[d]);
      best_arrival = std::min(best_arrival, arrivals_[d]);
    }
    for (std::size_t d = 0; d < devices; ++d) {
      if (finishes_[d] == kNever) continue;
      const auto f = Place(row, static_cast<int>(d));
      const auto priors = Priors(row, static_cast<int>(d));
      f[PlaceFeature::kInputShare] = in > 0 ? static_cast<float>(inputs_[d] / in) : 0.0f;
      f[PlaceFeature::kOutputShare] = out > 0 ? static_cast<float>(outputs_[d] / out) : 0.0f;
      f[PlaceFeature::kFinish] = SquashCutOff((finishes_[d] - best_finish) / problem_.scale());
      f[PlaceFeature::kArrival] = SquashCutOff((arrivals_[d] - best_arrival) / problem_.scale());
      f[PlaceFeature::kFinishIsBest] = finishes_[d] <= best_finish ? 1.0f : 0.0f;
      f[PlaceFeature::kHasLargestInput] = static_cast<int>(d) == maker ? 1.0f : 0.0f;
      priors[PlacePrior::kFinish] = -f[PlaceFeature::kFinish];
      priors[PlacePrior::kLocalShare] =
          in + out > 0 ? static_cast<float>((inputs_[d] + outputs_[d]) / (in + out)) - 1 : 0.0f;
    }
  }

  void DescribeLevelsBefore() {
    for (std::size_t row = 0; row < Index(problem_.num_rows()); ++row) {
      const auto level = RowAt<LevelFeature>(observation_.levels, row);
      if (before_.Has(Task::kPriority))
        level[LevelFeature::kPriority] = static_cast<float>(before_.priority[row]) / kTopLevel;
      if (before_.Has(Task::kFusion))
        level[LevelFeature::kFusion] = static_cast<float>(before_.fusion[row]) / kTopLevel;
    }
  }

  void FillCentres() {
    const auto rows = Index(problem_.num_rows());
    observation_.priority_centres.assign(rows * kLevelPriors, -1.0f);
    observation_.fusion_centres.assign(rows * kLevelPriors, -1.0f);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto priority = RowAt<LevelPrior>(observation_.priority_centres, row);
      const auto fusion = RowAt<LevelPrior>(observation_.fusion_centres, row);
      priority[LevelPrior::kGraph] = kTopLevel * static_cast<float>(problem_.urgency()[row]);
      fusion[LevelPrior::kGraph] =
          problem_.fusible()[row] != 0 ? kTopLevel * 0.5f * (1 + static_cast<float>(problem_.saving()[row])) : 0;
      if (before_.Has(Task::kPriority)) priority[LevelPrior::kBefore] = before_.priority[row];
      if (before_.Has(Task::kFusion)) fusion[LevelPrior::kBefore] = before_.fusion[row];
    }
  }

  const GoProblem& problem_;
  const Decisions& before_;
  DecisionObservation& observation_;
  std::vector<double> arrivals_, finishes_, inputs_, outputs_;
};

}  // namespace

void DescribeDecisions(const GoProblem& problem, const Decisions& decisions, std::vector<float>& features) {
  const auto rows = Index(problem.num_rows());
  features.assign(rows * kDecisionFeatures, 0.0f);
  if (decisions.Has(Task::kPlacement)) {
    const std::vector<int> placement = PlacementOf(problem, decisions);
    const std::vector<float> loads = Loads(problem, placement);
    for (std::size_t row = 0; row < rows; ++row) {
      const OpId op = problem.order()[row];
      const auto f = RowAt<DecisionFeature>(features, row);
      f[DecisionFeature::kIsPlaced] = 1;
      f[DecisionFeature::kDevice] = static_cast<float>(DeviceFraction(placement[Index(op)], problem.num_devices()));
      f[DecisionFeature::kLocalShare] = LocalShare(problem.costed(), placement, op);
      f[DecisionFeature::kLoad] = loads[Index(placement[Index(op)])];
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const auto f = RowAt<DecisionFeature>(features, row);
    if (decisions.Has(Task::kPriority)) {
      f[DecisionFeature::kHasPriority] = 1;
      f[DecisionFeature::kPriority] = static_cast<float>(decisions.priority[row]) / kTopLevel;
    }
    if (decisions.Has(Task::kFusion)) {
      f[DecisionFeature::kHasFusion] = 1;
      f[DecisionFeature::kFusion] = static_cast<float>(decisions.fusion[row]) / kTopLevel;
    }
  }
}

void ObserveDecisions(const GoProblem& problem, const Decisions& before, DecisionObservation& observation) {
  Observer(problem, before, observation).Observe();
}

}  // namespace millrace
