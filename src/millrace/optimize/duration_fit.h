// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"

// What measured plans say of the durations of single ops. A plan's time hangs on the ops of its critical path alone,
// and different plans hang on different ops: together they tell which ops the proxy takes for faster or slower than
// they are.
//
// The log of every (op, device kind)'s factor has a normal prior around 0, and so has one factor of everything; the log
// of a plan's time is linear in them near the current factors, with the share of each op in the critical path as slope.
// The posterior mean is that of Bayesian linear regression, computed anew around itself a few times (Gauss-Newton). It
// moves what the measurements speak of, and leaves the rest where the proxy has it.
namespace millrace {

struct DurationFit {
  std::vector<double> factors;  // by op * kinds + kind, kinds in order of first appearance in the machine; empty: none
  double error_before = 0;      // standard deviation of log(measured / proxy) over the measured candidates
  double error = 0;             // the same with the factors
};

// Factors of `proxy`'s durations, from the measured candidates. None where fewer than eight were measured, where all
// took the same time, where the error is not a tenth less with them, or for graphs of more than 5000 ops.
DurationFit FitDurations(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates);

// The model with its durations multiplied: a group's factor is the mean of its ops', weighted by the time each would
// take alone. `base` must outlive it; without factors it is the base.
std::unique_ptr<CostModel> CorrectedModel(const CostModel& base, const Machine& machine, const DurationFit& fit);

// By device: the number of its kind, in order of first appearance.
std::vector<int> KindNumbers(const Machine& machine);

// What each op contributes to its group's time on a device: shares that add up to 1.
std::vector<double> SharesOfOps(const CostModel& model, std::span<const OpId> ops, int device);

}  // namespace millrace
