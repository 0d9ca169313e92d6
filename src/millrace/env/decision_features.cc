// SPDX-License-Identifier: Apache-2.0
#include "millrace/env/decision_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "millrace/env/one_shot_features.h"
#include "millrace/env/squash.h"
#include "millrace/heuristics/placed_list.h"

namespace millrace {
namespace {

constexpr float kTopLevel = kLevels - 1;
constexpr double kLongest = 1e12;  // squashed times stop here, well before a float does

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

float Squashed(double x) { return Squash(static_cast<float>(std::min(x, kLongest))); }

std::vector<int> PlacementOf(const OneShotProblem& problem, const Decisions& decisions) {
  std::vector<int> placement(At(problem.num_rows()));
  for (std::int32_t row = 0; row < problem.num_rows(); ++row)
    placement[At(problem.order()[At(row)])] = decisions.device[At(problem.TieOf(row))];
  return placement;
}

// By device: its share of all work, against an even one, less one.
std::vector<float> Loads(const OneShotProblem& problem, const std::vector<int>& placement) {
  std::vector<double> work(At(problem.num_devices()), 0.0);
  for (std::size_t op = 0; op < placement.size(); ++op)
    work[At(placement[op])] += problem.costed().Seconds(static_cast<int>(op), placement[op]);
  const double even = std::accumulate(work.begin(), work.end(), 0.0) / problem.num_devices();
  std::vector<float> loads;
  loads.reserve(work.size());
  for (const double seconds : work) loads.push_back(even > 0 ? Squashed(seconds / even - 1) : 0.0f);
  return loads;
}

// What an edge weighs where bytes are compared: control dependencies a little, too.
double Weight(double bytes) { return bytes + 1.0; }

float LocalShare(const CostedGraph& costed, const std::vector<int>& placement, OpId op) {
  double all = 0, local = 0;
  const auto add = [&](std::span<const GroupEdge> edges) {
    for (const GroupEdge& edge : edges) {
      all += Weight(edge.bytes);
      if (placement[At(edge.group)] == placement[At(op)]) local += Weight(edge.bytes);
    }
  };
  add(costed.Predecessors(op));
  add(costed.Successors(op));
  return all > 0 ? static_cast<float>(local / all) : 1.0f;
}

// By device: how full its memory is with the weights and outputs of all ops placed on it.
std::vector<float> MemoryFullness(const OneShotProblem& problem, const std::vector<int>& placement) {
  const CostedGraph& costed = problem.costed();
  const Topology& topology = costed.topology;
  std::vector<double> bytes(At(topology.num_memories), 0.0);
  for (std::size_t op = 0; op < placement.size(); ++op)
    bytes[At(topology.memory_of[At(placement[op])])] += costed.weight_bytes[op];
  for (const GroupTensor& tensor : costed.tensors) {
    if (tensor.producer >= 0) bytes[At(topology.memory_of[At(placement[At(tensor.producer)])])] += tensor.bytes;
  }
  std::vector<float> fullness;
  fullness.reserve(At(problem.num_devices()));
  for (int device = 0; device < problem.num_devices(); ++device) {
    const std::int32_t memory = topology.memory_of[At(device)];
    const double capacity = topology.memory_bytes[At(memory)];
    const bool limited = capacity != std::numeric_limits<double>::infinity();
    fullness.push_back(limited ? Squashed(bytes[At(memory)] / std::max(capacity, 1.0)) : 0.0f);
  }
  return fullness;
}

class Observer {
 public:
  Observer(const OneShotProblem& problem, const Decisions& before, DecisionObservation& observation)
      : problem_(problem), before_(before), observation_(observation) {}

  void Observe() {
    DescribeDecisions(problem_, before_, observation_.decisions);
    const auto rows = At(problem_.num_rows());
    const auto devices = At(problem_.num_devices());
    observation_.places.assign(rows * devices * kPlaceFeatures, 0.0f);
    observation_.place_priors.assign(rows * devices * kPlacePriors, 0.0f);
    observation_.levels.assign(rows * kLevelFeatures, 0.0f);
    DescribeStaticPlaces();
    if (before_.Has(Task::kPlacement)) DescribeTimeline();
    DescribeLevelsBefore();
    FillCentres();
  }

 private:
  float* Place(std::int32_t row, int device) {
    return observation_.places.data() + (At(row) * At(problem_.num_devices()) + At(device)) * kPlaceFeatures;
  }
  float* Priors(std::int32_t row, int device) {
    return observation_.place_priors.data() + (At(row) * At(problem_.num_devices()) + At(device)) * kPlacePriors;
  }

  void DescribeStaticPlaces() {
    const int devices = problem_.num_devices();
    for (std::int32_t row = 0; row < problem_.num_rows(); ++row) {
      const double mean = problem_.mean_seconds()[At(problem_.order()[At(row)])];
      for (int d = 0; d < devices; ++d) {
        const double seconds = problem_.Seconds(row, d);
        if (!std::isfinite(seconds)) continue;
        const double fraction = DeviceFraction(d, devices);
        float* const f = Place(row, d);
        f[0] = mean > 0 ? Squashed(seconds / mean - 1) : 0.0f;
        f[1] = static_cast<float>(fraction - problem_.work_before()[At(row)]);
        f[2] = std::fabs(f[1]);
        f[3] = static_cast<float>(fraction - problem_.progress()[At(row)]);
        f[4] = std::fabs(f[3]);
        Priors(row, d)[0] = -f[4] * static_cast<float>(devices);
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
        priorities[At(problem_.order()[row])] = QueuePriority(before_.priority[row], problem_.urgency()[row]);
    }
    const PlacedSchedule schedule = SchedulePlaced(costed, placement, priorities);
    const Timeline& timeline = schedule.timeline;
    const std::vector<float> loads = Loads(problem_, placement);
    const std::vector<float> fullness = MemoryFullness(problem_, placement);
    std::vector<double> unit_free(At(costed.topology.num_units), 0.0);
    for (const int op : schedule.assignment.sequence) {
      DescribePlaces(op, placement, timeline, unit_free);
      Occupy(placement[At(op)], timeline.finish[At(op)], unit_free);
    }
    const auto of_makespan = [&timeline](double seconds) {
      return timeline.makespan > 0 ? static_cast<float>(seconds / timeline.makespan) : 0.0f;
    };
    for (std::int32_t row = 0; row < problem_.num_rows(); ++row) {
      const OpId op = problem_.order()[At(row)];
      const int own = placement[At(op)];
      for (int d = 0; d < problem_.num_devices(); ++d) {
        float* const f = Place(row, d);
        if (!std::isfinite(problem_.Seconds(row, d))) continue;
        f[5] = 1;
        f[6] = d == own ? 1.0f : 0.0f;
        f[7] = loads[At(d)];
        f[13] = fullness[At(d)];
        f[14] = of_makespan(FreeAt(d, unit_free));
        Priors(row, d)[2] = f[6] - 1;
      }
      const double start = timeline.start[At(op)];
      float* const level = observation_.levels.data() + At(row) * kLevelFeatures;
      level[0] = 1;
      level[3] = Squashed((start - Arrival(op, own, placement, timeline)) / problem_.scale());
      level[4] = 1 - of_makespan(start + problem_.upward_ranks()[At(op)]);
      level[5] = of_makespan(start);
      level[6] = loads[At(own)];
      level[7] = LocalShare(costed, placement, op);
    }
  }

  // When inputs reach an op on a device.
  double Arrival(OpId op, int device, const std::vector<int>& placement, const Timeline& timeline) const {
    double arrival = 0;
    for (const GroupEdge& edge : problem_.costed().Predecessors(op))
      arrival = std::max(arrival, timeline.finish[At(edge.group)] +
                                      problem_.costed().TransferSeconds(edge.bytes, placement[At(edge.group)], device));
    return arrival;
  }

  std::span<const std::int32_t> UnitsOf(int device) const {
    const Topology& topology = problem_.costed().topology;
    return std::span(topology.device_units)
        .subspan(At(topology.device_offsets[At(device)]), At(topology.UnitsOf(device)));
  }

  double FreeAt(int device, const std::vector<double>& unit_free) const {
    double free = 0;
    for (const std::int32_t unit : UnitsOf(device)) free = std::max(free, unit_free[At(unit)]);
    return free;
  }

  void Occupy(int device, double until, std::vector<double>& unit_free) const {
    for (const std::int32_t unit : UnitsOf(device)) unit_free[At(unit)] = until;
  }

  // Of an op at its turn: where else it could have run by then.
  void DescribePlaces(OpId op, const std::vector<int>& placement, const Timeline& timeline,
                      const std::vector<double>& unit_free) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const CostedGraph& costed = problem_.costed();
    const std::int32_t row = problem_.RowOf(op);
    const auto devices = At(problem_.num_devices());
    arrivals_.assign(devices, 0.0);
    finishes_.assign(devices, kNever);
    inputs_.assign(devices, 0.0);
    outputs_.assign(devices, 0.0);
    double in = 0, out = 0, largest = -1;
    int maker = -1;
    for (const GroupEdge& edge : costed.Predecessors(op)) {
      const int from = placement[At(edge.group)];
      inputs_[At(from)] += Weight(edge.bytes);
      in += Weight(edge.bytes);
      if (edge.bytes > largest || (edge.bytes == largest && from < maker)) {
        largest = edge.bytes;
        maker = from;
      }
    }
    for (const GroupEdge& edge : costed.Successors(op)) {
      outputs_[At(placement[At(edge.group)])] += Weight(edge.bytes);
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
      float* const f = Place(row, static_cast<int>(d));
      float* const priors = Priors(row, static_cast<int>(d));
      f[8] = in > 0 ? static_cast<float>(inputs_[d] / in) : 0.0f;
      f[9] = out > 0 ? static_cast<float>(outputs_[d] / out) : 0.0f;
      f[10] = Squashed((finishes_[d] - best_finish) / problem_.scale());
      f[11] = Squashed((arrivals_[d] - best_arrival) / problem_.scale());
      f[12] = finishes_[d] <= best_finish ? 1.0f : 0.0f;
      f[15] = static_cast<int>(d) == maker ? 1.0f : 0.0f;
      priors[1] = -f[10];
      priors[3] = in + out > 0 ? static_cast<float>((inputs_[d] + outputs_[d]) / (in + out)) - 1 : 0.0f;
    }
  }

  void DescribeLevelsBefore() {
    for (std::size_t row = 0; row < At(problem_.num_rows()); ++row) {
      float* const level = observation_.levels.data() + row * kLevelFeatures;
      if (before_.Has(Task::kPriority)) level[1] = static_cast<float>(before_.priority[row]) / kTopLevel;
      if (before_.Has(Task::kFusion)) level[2] = static_cast<float>(before_.fusion[row]) / kTopLevel;
    }
  }

  void FillCentres() {
    const auto rows = At(problem_.num_rows());
    observation_.priority_centres.assign(rows * kLevelPriors, -1.0f);
    observation_.fusion_centres.assign(rows * kLevelPriors, -1.0f);
    for (std::size_t row = 0; row < rows; ++row) {
      float* const priority = observation_.priority_centres.data() + row * kLevelPriors;
      float* const fusion = observation_.fusion_centres.data() + row * kLevelPriors;
      priority[0] = kTopLevel * static_cast<float>(problem_.urgency()[row]);
      fusion[0] =
          problem_.fusible()[row] != 0 ? kTopLevel * 0.5f * (1 + static_cast<float>(problem_.saving()[row])) : 0;
      if (before_.Has(Task::kPriority)) priority[1] = before_.priority[row];
      if (before_.Has(Task::kFusion)) fusion[1] = before_.fusion[row];
    }
  }

  const OneShotProblem& problem_;
  const Decisions& before_;
  DecisionObservation& observation_;
  std::vector<double> arrivals_, finishes_, inputs_, outputs_;
};

}  // namespace

void DescribeDecisions(const OneShotProblem& problem, const Decisions& decisions, std::vector<float>& features) {
  const auto rows = At(problem.num_rows());
  features.assign(rows * kDecisionFeatures, 0.0f);
  if (decisions.Has(Task::kPlacement)) {
    const std::vector<int> placement = PlacementOf(problem, decisions);
    const std::vector<float> loads = Loads(problem, placement);
    for (std::size_t row = 0; row < rows; ++row) {
      const OpId op = problem.order()[row];
      float* const f = features.data() + row * kDecisionFeatures;
      f[0] = 1;
      f[1] = static_cast<float>(DeviceFraction(placement[At(op)], problem.num_devices()));
      f[2] = LocalShare(problem.costed(), placement, op);
      f[3] = loads[At(placement[At(op)])];
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    float* const f = features.data() + row * kDecisionFeatures;
    if (decisions.Has(Task::kPriority)) {
      f[4] = 1;
      f[5] = static_cast<float>(decisions.priority[row]) / kTopLevel;
    }
    if (decisions.Has(Task::kFusion)) {
      f[6] = 1;
      f[7] = static_cast<float>(decisions.fusion[row]) / kTopLevel;
    }
  }
}

void ObserveDecisions(const OneShotProblem& problem, const Decisions& before, DecisionObservation& observation) {
  Observer(problem, before, observation).Observe();
}

}  // namespace millrace
