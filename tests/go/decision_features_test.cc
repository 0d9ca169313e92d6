// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/decision_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/heuristics/placed_list.h"
#include "tests/go/go_case.h"
#include "tests/go/plain_go_problem.h"
#include "tests/reference/plain_row.h"

// What the policy is told of decisions, each number held against the plainest formula for it.
namespace millrace::testing {
namespace {

constexpr double kHighest = kLevels - 1;

struct PlainDecisions : PlainGoProblem {
  PlainDecisions(const GoProblem& of, const Decisions& so_far) : PlainGoProblem(of), decisions(so_far) {
    if (!placed()) return;
    std::vector<double> priorities;
    for (OpId op = 0; op < rows(); ++op) {
      device.push_back(decisions.device[Index(problem.ColocationOf(problem.RowOf(op)))]);
      if (decisions.Has(Task::kPriority))
        priorities.push_back(decisions.priority[Index(problem.RowOf(op))] + Urgency(op) / 2);
    }
    schedule = SchedulePlaced(costed, device, priorities);
  }

  bool placed() const { return decisions.Has(Task::kPlacement); }

  double Load(int of) const {
    double here = 0, all = 0;
    for (OpId op = 0; op < rows(); ++op) {
      const double seconds = costed.Seconds(op, device[Index(op)]);
      all += seconds;
      if (device[Index(op)] == of) here += seconds;
    }
    return all > 0 ? Squashed(here / (all / costed.num_devices) - 1) : 0;
  }

  // Bytes of the edges to ops on a device, 1 added to each; on any device where it is -1.
  double BytesOn(std::span<const GroupEdge> edges, int there) const {
    double bytes = 0;
    for (const GroupEdge& edge : edges) bytes += there < 0 || device[Index(edge.group)] == there ? edge.bytes + 1 : 0;
    return bytes;
  }
  double NeighboursOn(OpId op, int there) const {
    return BytesOn(costed.Predecessors(op), there) + BytesOn(costed.Successors(op), there);
  }
  double LocalShare(OpId op) const { return Share(NeighboursOn(op, device[Index(op)]), NeighboursOn(op, -1), 1); }

  // How full the memory of the device is with what lies on all devices that share it.
  double PlacedFullness(int of) const {
    const auto& memory_of = costed.topology.memory_of;
    const auto shares = [&](OpId op) { return memory_of[Index(device[Index(op)])] == memory_of[Index(of)]; };
    double bytes = 0;
    for (OpId op = 0; op < rows(); ++op) bytes += shares(op) ? graph.op(op).weight_bytes : 0;
    for (const Tensor& tensor : graph.tensors())
      bytes += tensor.producer >= 0 && shares(tensor.producer) ? tensor.bytes : 0;
    return Fullness(bytes, Memory(of));
  }

  double Start(OpId op) const { return schedule.timeline.start[Index(op)]; }
  double Finish(OpId op) const { return schedule.timeline.finish[Index(op)]; }

  double Arrival(OpId op, int there) const {
    double arrival = 0;
    for (const GroupEdge& edge : costed.Predecessors(op)) {
      const double transfer = costed.TransferSeconds(edge.bytes, device[Index(edge.group)], there);
      arrival = std::max(arrival, Finish(edge.group) + transfer);
    }
    return arrival;
  }

  // When the device is done with every op that starts before `end` does; with all of them where that is -1.
  double Free(int of, OpId end) const {
    double free = 0;
    for (const int op : schedule.assignment.sequence) {
      if (op == end) break;
      if (device[Index(op)] == of || ShareUnit(device[Index(op)], of)) free = std::max(free, Finish(op));
    }
    return free;
  }
  double PossibleFinish(OpId op, int there) const {
    return std::max(Arrival(op, there), Free(there, op)) + costed.Seconds(op, there);
  }

  // The device of the maker of the op's largest input; -1 without inputs.
  int LargestInputOn(OpId op) const {
    int on = -1;
    for (const GroupEdge& edge : costed.Predecessors(op)) {
      if (edge.bytes < LargestInput(op)) continue;
      on = on < 0 ? device[Index(edge.group)] : std::min(on, device[Index(edge.group)]);
    }
    return on;
  }

  double OfMakespan(double seconds) const { return Share(seconds, schedule.timeline.makespan, 0); }

  PlainRow<DecisionFeature> Decision(int row) const {
    using F = DecisionFeature;
    const OpId op = OpOf(row);
    const bool priority = decisions.Has(Task::kPriority), fusion = decisions.Has(Task::kFusion);
    return {{F::kIsPlaced, placed() ? 1 : 0},
            {F::kDevice, placed() ? Fraction(device[Index(op)]) : 0},
            {F::kLocalShare, placed() ? LocalShare(op) : 0},
            {F::kLoad, placed() ? Load(device[Index(op)]) : 0},
            {F::kHasPriority, priority ? 1 : 0},
            {F::kPriority, priority ? decisions.priority[Index(row)] / kHighest : 0},
            {F::kHasFusion, fusion ? 1 : 0},
            {F::kFusion, fusion ? decisions.fusion[Index(row)] / kHighest : 0}};
  }

  PlainRow<PlaceFeature> Place(int row, int d) const {
    using F = PlaceFeature;
    const OpId op = OpOf(row);
    const double mean = Mean(op), past_work = Fraction(d) - WorkBefore(row),
                 past_progress = Fraction(d) - Progress(row);
    PlainRow<F> plain = {{F::kSecondsAgainstMean, mean > 0 ? Squashed(costed.Seconds(op, d) / mean - 1) : 0},
                         {F::kPastWorkBefore, past_work},
                         {F::kDistanceFromWorkBefore, std::abs(past_work)},
                         {F::kPastProgress, past_progress},
                         {F::kDistanceFromProgress, std::abs(past_progress)}};
    if (!placed()) {
      for (const F none : {F::kHasPlacement, F::kIsChosen, F::kLoad, F::kInputShare, F::kOutputShare, F::kFinish,
                           F::kArrival, F::kFinishIsBest, F::kFullness, F::kEnd, F::kHasLargestInput})
        plain.emplace_back(none, 0);
      return plain;
    }
    double least_finish = kNever, least_arrival = kNever;
    for (int other = 0; other < costed.num_devices; ++other) {
      if (std::isinf(costed.Seconds(op, other))) continue;
      least_finish = std::min(least_finish, PossibleFinish(op, other));
      least_arrival = std::min(least_arrival, Arrival(op, other));
    }
    const std::span<const GroupEdge> inputs = costed.Predecessors(op), outputs = costed.Successors(op);
    plain.insert(plain.end(), {{F::kHasPlacement, 1},
                               {F::kIsChosen, device[Index(op)] == d ? 1 : 0},
                               {F::kLoad, Load(d)},
                               {F::kInputShare, Share(BytesOn(inputs, d), BytesOn(inputs, -1), 0)},
                               {F::kOutputShare, Share(BytesOn(outputs, d), BytesOn(outputs, -1), 0)},
                               {F::kFinish, Scaled(PossibleFinish(op, d) - least_finish)},
                               {F::kArrival, Scaled(Arrival(op, d) - least_arrival)},
                               {F::kFinishIsBest, PossibleFinish(op, d) <= least_finish ? 1 : 0},
                               {F::kFullness, PlacedFullness(d)},
                               {F::kEnd, OfMakespan(Free(d, -1))},
                               {F::kHasLargestInput, LargestInputOn(op) == d ? 1 : 0}});
    return plain;
  }

  PlainRow<PlacePrior> Priors(int row, int d) const {
    using P = PlacePrior;
    const OpId op = OpOf(row);
    const double devices = costed.num_devices;
    const double finish = Place(row, d).at(Index(static_cast<int>(PlaceFeature::kFinish))).second;
    return {{P::kProgress, -std::abs(Fraction(d) - Progress(row)) * devices},
            {P::kFinish, -finish},
            {P::kStay, placed() && device[Index(op)] != d ? -1 : 0},
            {P::kLocalShare, placed() ? Share(NeighboursOn(op, d), NeighboursOn(op, -1), 1) - 1 : 0}};
  }

  PlainRow<LevelFeature> Level(int row) const {
    using F = LevelFeature;
    const OpId op = OpOf(row);
    const bool priority = decisions.Has(Task::kPriority), fusion = decisions.Has(Task::kFusion);
    PlainRow<F> plain = {{F::kHasPlacement, placed() ? 1 : 0},
                         {F::kPriority, priority ? decisions.priority[Index(row)] / kHighest : 0},
                         {F::kFusion, fusion ? decisions.fusion[Index(row)] / kHighest : 0}};
    if (!placed()) {
      for (const F none : {F::kWait, F::kUrgency, F::kStart, F::kLoad, F::kLocalShare}) plain.emplace_back(none, 0);
      return plain;
    }
    const int own = device[Index(op)];
    plain.insert(plain.end(), {{F::kWait, Scaled(Start(op) - Arrival(op, own))},
                               {F::kUrgency, 1 - OfMakespan(Start(op) + Rank(op))},
                               {F::kStart, OfMakespan(Start(op))},
                               {F::kLoad, Load(own)},
                               {F::kLocalShare, LocalShare(op)}});
    return plain;
  }

  PlainRow<LevelPrior> PriorityCentres(int row) const {
    const bool priority = decisions.Has(Task::kPriority);
    return {{LevelPrior::kGraph, kHighest * Urgency(OpOf(row))},
            {LevelPrior::kBefore, priority ? decisions.priority[Index(row)] : -1}};
  }
  PlainRow<LevelPrior> FusionCentres(int row) const {
    const OpId op = OpOf(row);
    const bool fusion = decisions.Has(Task::kFusion);
    return {{LevelPrior::kGraph, Fusible(op) ? kHighest * (0.5 + Saving(op) / 2) : 0},
            {LevelPrior::kBefore, fusion ? decisions.fusion[Index(row)] : -1}};
  }

  const Decisions& decisions;
  std::vector<int> device;  // by op; empty: not decided
  PlacedSchedule schedule;
};

constexpr double kTolerance = 1e-4;

// Two sets of decisions for each of many problems: some of the tasks, and for every fourth problem none.
template <typename Check>
void ForDecisions(Check check) {
  for (int seed = 0; seed < 200; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const auto made = OddCase(random, kMostPlainOps);
    for (const bool all : {true, false}) {
      const Decisions decisions = seed % 4 == 0 && !all ? Decisions{} : RandomDecisions(made->problem, random, all);
      check(made->problem, decisions, "seed " + std::to_string(seed) + (all ? ", all tasks" : ", some tasks"));
    }
  }
}

TEST(DecisionFeatures, AreWhatThePlainFormulasSay) {
  ForDecisions([](const GoProblem& problem, const Decisions& decisions, const std::string& where) {
    const PlainDecisions plain(problem, decisions);
    std::vector<float> features;
    DescribeDecisions(problem, decisions, features);
    ASSERT_EQ(features.size(), Index(plain.rows() * kDecisionFeatures));
    for (int row = 0; row < plain.rows(); ++row)
      ExpectRow(features, Index(row), plain.Decision(row), kTolerance, where + ", row " + std::to_string(row));
    DecisionObservation observation;
    ObserveDecisions(problem, decisions, observation);
    EXPECT_EQ(observation.decisions, features) << where;
  });
}

TEST(DecisionFeatures, OfPlacesAreWhatThePlainFormulasSay) {
  ForDecisions([](const GoProblem& problem, const Decisions& decisions, const std::string& which) {
    const PlainDecisions plain(problem, decisions);
    DecisionObservation observation;
    ObserveDecisions(problem, decisions, observation);
    const int devices = problem.num_devices();
    ASSERT_EQ(observation.places.size(), Index(plain.rows() * devices * kPlaceFeatures));
    ASSERT_EQ(observation.place_priors.size(), Index(plain.rows() * devices * kPlacePriors));
    for (int row = 0; row < plain.rows(); ++row) {
      for (int d = 0; d < devices; ++d) {
        const auto at = Index(row * devices + d);
        const std::string where = which + ", row " + std::to_string(row) + ", device " + std::to_string(d);
        if (std::isinf(plain.costed.Seconds(plain.OpOf(row), d))) {
          for (std::size_t k = 0; k < kPlaceFeatures; ++k)
            EXPECT_EQ(observation.places[at * kPlaceFeatures + k], 0) << where;
          for (std::size_t k = 0; k < kPlacePriors; ++k)
            EXPECT_EQ(observation.place_priors[at * kPlacePriors + k], 0) << where;
          continue;
        }
        ExpectRow(observation.places, at, plain.Place(row, d), kTolerance, where);
        ExpectRow(observation.place_priors, at, plain.Priors(row, d), kTolerance, where + ", priors");
      }
    }
  });
}

TEST(DecisionFeatures, OfLevelsAreWhatThePlainFormulasSay) {
  ForDecisions([](const GoProblem& problem, const Decisions& decisions, const std::string& which) {
    const PlainDecisions plain(problem, decisions);
    DecisionObservation observation;
    ObserveDecisions(problem, decisions, observation);
    ASSERT_EQ(observation.levels.size(), Index(plain.rows() * kLevelFeatures));
    ASSERT_EQ(observation.priority_centres.size(), Index(plain.rows() * kLevelPriors));
    ASSERT_EQ(observation.fusion_centres.size(), Index(plain.rows() * kLevelPriors));
    for (int row = 0; row < plain.rows(); ++row) {
      const std::string where = which + ", row " + std::to_string(row);
      ExpectRow(observation.levels, Index(row), plain.Level(row), kTolerance, where);
      ExpectRow(observation.priority_centres, Index(row), plain.PriorityCentres(row), kTolerance, where + ", priority");
      ExpectRow(observation.fusion_centres, Index(row), plain.FusionCentres(row), kTolerance, where + ", fusion");
    }
  });
}

}  // namespace
}  // namespace millrace::testing
