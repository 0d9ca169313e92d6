// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/plan/plan.h"
#include "tests/reference/plain_problem.h"

// What is known of a partial plan, by the plainest formulas: from the costed graph and the placed groups alone, with
// nothing kept from one step to the next. Tests hold features against it. Seconds.
namespace millrace::testing {

struct PlainState {
  PlainState(const PlainProblem& known, const Assignment& so_far)
      : problem(known), costed(known.costed), plan(so_far), finish(so_far.placement.size(), 0) {
    free_at.assign(Index(costed.topology.num_units), 0);
    for (const int group : plan.sequence) {
      const int device = plan.placement[Index(group)];
      finish[Index(group)] = Finish(group, device);
      for (const int unit : problem.UnitsOf(device)) free_at[Index(unit)] = finish[Index(group)];
      makespan = std::max(makespan, finish[Index(group)]);
    }
    first_free = kNever;
    for (int d = 0; d < costed.num_devices; ++d) {
      first_free = std::min(first_free, Free(d));
      mean_idle += (makespan - Free(d)) / costed.num_devices;
    }
  }

  bool Placed(int group) const { return plan.placement[Index(group)] >= 0; }

  bool MayRun(int group, int device) const {
    if (std::isinf(costed.Seconds(group, device))) return false;
    for (const int other : plan.sequence) {
      const bool together =
          costed.colocation[Index(group)] >= 0 && costed.colocation[Index(other)] == costed.colocation[Index(group)];
      if (together && plan.placement[Index(other)] != device) return false;
    }
    return true;
  }

  double Free(int device) const {
    double free = 0;
    for (const int unit : problem.UnitsOf(device)) free = std::max(free, free_at[Index(unit)]);
    return free;
  }
  double Arrival(int group, int device) const {
    double arrival = 0;
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      if (!Placed(edge.group)) continue;
      const int from = plan.placement[Index(edge.group)];
      arrival = std::max(arrival, finish[Index(edge.group)] + costed.TransferSeconds(edge.bytes, from, device));
    }
    return arrival;
  }
  double Start(int group, int device) const { return std::max(Arrival(group, device), Free(device)); }
  double Finish(int group, int device) const { return Start(group, device) + costed.Seconds(group, device); }

  // Whether a placed group shares the group's colocation.
  bool Settled(int group) const {
    return std::any_of(plan.sequence.begin(), plan.sequence.end(), [&](int other) {
      return costed.colocation[Index(group)] >= 0 && costed.colocation[Index(other)] == costed.colocation[Index(group)];
    });
  }
  // Seconds of unplaced groups that colocations hold to a device with this unit.
  double Owed(int unit) const {
    double owed = 0;
    for (int other = 0; other < costed.num_groups; ++other) {
      for (int d = 0; d < costed.num_devices; ++d) {
        const auto units = problem.UnitsOf(d);
        if (Placed(other) || !Settled(other) || !MayRun(other, d)) continue;
        if (std::count(units.begin(), units.end(), unit) > 0) owed += costed.Seconds(other, d);
      }
    }
    return owed;
  }
  double Bound(int group, int device) const {
    if (costed.colocation[Index(group)] < 0 || Settled(group)) return 0;
    double owed = 0, rest = 0;
    for (const int unit : problem.UnitsOf(device)) owed = std::max(owed, Owed(unit));
    for (int other = 0; other < costed.num_groups; ++other) {
      if (other != group && costed.colocation[Index(other)] == costed.colocation[Index(group)])
        rest += costed.Seconds(other, device);
    }
    return owed + rest;
  }
  double BoundFinish(int group, int device) const { return Finish(group, device) + Bound(group, device); }

  // Where the group would finish first, colocations counted; equal ones: the lowest number.
  int BestDevice(int group) const {
    int best = -1;
    for (int d = 0; d < costed.num_devices; ++d) {
      if (MayRun(group, d) && (best < 0 || BoundFinish(group, d) < BoundFinish(group, best))) best = d;
    }
    return best;
  }
  double SecondFinish(int group) const {
    const int best = BestDevice(group);
    double second = kNever;
    for (int d = 0; d < costed.num_devices; ++d) {
      if (MayRun(group, d) && d != best) second = std::min(second, BoundFinish(group, d));
    }
    return Finish(group, best) + (std::isinf(second) ? 0 : second - BoundFinish(group, best));
  }
  double LeastOnward(int group) const {
    double least = kNever;
    for (int d = 0; d < costed.num_devices; ++d) {
      if (MayRun(group, d)) least = std::min(least, Finish(group, d) + problem.Onward(group, d));
    }
    return least;
  }
  double Criticality(int group) const {
    return Finish(group, BestDevice(group)) + problem.Rank(group) - problem.Mean(group);
  }

  double AllInputWeight(int group) const {
    double all = 0;
    for (const GroupEdge& edge : costed.Predecessors(group)) all += problem.EdgeWeight(edge.bytes);
    return all;
  }
  double InputWeightOn(int group, int device) const {
    double here = 0;
    for (const GroupEdge& edge : costed.Predecessors(group)) {
      if (plan.placement[Index(edge.group)] == device) here += problem.EdgeWeight(edge.bytes);
    }
    return here;
  }
  double InputShare(int group, int device) const {
    return AllInputWeight(group) > 0 ? InputWeightOn(group, device) / AllInputWeight(group) : 1;
  }

  // The latest of the group's own finish and its key children's earliest ones with what must follow them.
  double LookAhead(int group, int device, std::span<const std::int32_t> rank_positions) const {
    double latest = Finish(group, device);
    for (const GroupEdge& edge : problem.KeyChildren(group, rank_positions)) {
      double child = kNever;
      for (int d = 0; d < costed.num_devices; ++d) {
        const double sent = Finish(group, device) + costed.TransferSeconds(edge.bytes, device, d);
        const double free = d == device ? Finish(group, device) : Free(d);
        child = std::min(child, std::max({Arrival(edge.group, d), sent, free}) + costed.Seconds(edge.group, d));
      }
      latest = std::max(latest, child + problem.Rank(edge.group) - problem.Mean(edge.group));
    }
    return latest;
  }

  // Differences of times as features and as priors.
  double Feature(double seconds) const { return Squashed(seconds / problem.scale); }
  double Prior(double seconds) const { return seconds / problem.scale; }
  double PlacedShare() const { return static_cast<double>(plan.sequence.size()) / costed.num_groups; }

  const PlainProblem& problem;
  const CostedGraph& costed;
  const Assignment& plan;
  std::vector<double> finish;   // by group
  std::vector<double> free_at;  // by unit
  double makespan = 0, first_free = 0, mean_idle = 0;
};

}  // namespace millrace::testing
