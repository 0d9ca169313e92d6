// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/optimize/duration_fit.h"
#include "millrace/optimize/proxy_judgement.h"
#include "millrace/optimize/transfer_guess.h"

// What measured timelines say that the proxy, made of ops timed alone, does not know: how long ops take in the midst of
// plans, and what it takes to hand a tensor from one unit to another. Seconds.
//
// Where plans' times alone are known, durations are guessed from critical paths (duration_fit.h). A timeline shows
// every group, so each is an observation of log(measured / proxy): the median of its kind of device, plus a deviation
// of its op type there, plus one of the op, both shrunk towards 0 the more the fewer observations there are. An op that
// was never seen on a kind has that kind's and its type's factor. Groups whose inputs all come from their own units
// speak first, others only of ops that none of these has: what those take longer is the hand-over's price per byte, and
// the median time from the arrival of the last input, where that came from elsewhere, to the start of the group its
// constant.
namespace millrace {

struct ContextFit {
  DurationFit durations;
  TransferGuess hand_over;
};

// Candidates that have a measured timeline teach; nothing where fewer than four do, or for graphs of more than 5000
// ops. `proxy` is as it was before anything was measured.
std::optional<ContextFit> FitContext(const CostModel& proxy, const Machine& machine,
                                     const std::vector<Candidate>& candidates);

// The proxy in context. `proxy` must outlive it.
std::unique_ptr<CostModel> ModelInContext(const CostModel& proxy, const Machine& machine, const ContextFit& fit);

// How well the proxy in context does on plans that it has not seen: each measured candidate is predicted by the fit of
// all others. Nothing where there is no fit.
std::optional<ProxyJudgement> JudgeContext(const CostModel& proxy, const Machine& machine,
                                           const std::vector<Candidate>& candidates);

}  // namespace millrace
