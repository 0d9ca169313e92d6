// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/cost/steering.h"
#include "millrace/machine/machine.h"
#include "millrace/optimize/candidate.h"
#include "millrace/optimize/pool.h"

// What a plan has to beat: the orders everybody gets without planning.
namespace millrace {

struct Baseline {
  std::string name;
  std::string meaning;  // one line for people
  Candidate candidate;
  bool keeps = true;  // to the steering
};

// sequential: one op after the other on one single-unit device. all-cores: the same on the device with the most units,
// the usual default of runtimes; only where the machine has a gang. heft: the classical heuristic. expert: layers in
// blocks, one per device; only where the graph states layers and the machine has several memories. Each with the fusion
// choice that suits it best by the proxy; one that does not fit in memory is left out.
std::vector<Baseline> MakeBaselines(const Pool& pool, const Machine& machine);

// The same where plans must keep to `steering`, which the pool was made under: heft does, the others are what one gets
// without, under the model `free` that knows of no steering, and may not.
std::vector<Baseline> MakeSteeredBaselines(const Pool& pool, const Machine& machine, const CostModel& free,
                                           const Steering& steering);

}  // namespace millrace
