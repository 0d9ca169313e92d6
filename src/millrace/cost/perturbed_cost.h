// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "millrace/cost/cost_model.h"

// Copies of a cost model that are wrong in a known way: what the simulated targets are made of.
namespace millrace {

// How the copy differs. Defaults: not at all.
struct Perturbation {
  double noise_sigma = 0;  // durations x lognormal(0, sigma), once per (op, device kind, seed)
  std::uint64_t seed = 0;
  struct LinearTransfer {
    double seconds = 0;
    double seconds_per_byte = 0;
    bool operator==(const LinearTransfer&) const = default;
  };
  // Set: every transfer that is not free takes this instead of what the link says.
  const LinearTransfer* transfer = nullptr;
  // On top of what the link, or `transfer`, says, for every transfer between devices that share no unit.
  LinearTransfer added = {};
};

// A group's factor is the mean of its ops' factors, weighted by the time each would take alone. Devices that share a
// unit, and a device and itself, still transfer for free; pairs that had no link no longer do when `transfer` is set or
// something is added. `base` must outlive the copy.
std::unique_ptr<CostModel> MakePerturbedCostModel(const CostModel& base, const Machine& machine,
                                                  const Perturbation& perturbation);

}  // namespace millrace
