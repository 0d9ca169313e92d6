// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "millrace/cost/cost_model.h"
#include "millrace/cost/perturbed_cost.h"
#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/planning/deadline.h"

// What the proxy is most often wrong about: handing tensors from device to device costs more than the machine file
// says, be it for a bus, a driver's latency or cold caches. Plans made for several guesses at that cost go to the
// target, and the times they take there tell which guess is right.
namespace millrace {

// Seconds that a transfer takes beyond what the proxy says: so much for each, and so much per byte.
using TransferGuess = Perturbation::LinearTransfer;

// The proxy under a guess. `proxy` must outlive it.
std::unique_ptr<CostModel> GuessedModel(const CostModel& proxy, const Machine& machine, const TransferGuess& guess);

// Guesses to make plans for before anything is known: none, and a mean transfer that takes 0.3, 1 and 3 times a mean
// op, half of it per byte and half constant. Just none where nothing can be transferred: no two devices without a
// shared unit.
std::vector<TransferGuess> FirstGuesses(const CostModel& proxy, const Machine& machine);

struct TransferFit {
  TransferGuess guess;
  double error_before = 0;  // standard deviation of log(measured / proxy) over the candidates, without a guess
  double error = 0;         // the same under the guess
};

// The guess under which the proxy times of the measured candidates are the nearest to proportional to what was measured
// (least error): a grid first, then small steps from its best. None where fewer than four were measured, where all took
// the same time, or where no guess is a tenth better. Large graphs get fewer questions, so that it stays a matter of
// seconds; at the deadline the best guess so far is the answer.
TransferFit FitTransfers(const CostModel& proxy, const Machine& machine, const std::vector<Candidate>& candidates,
                         const Deadline& deadline = Deadline());

}  // namespace millrace
