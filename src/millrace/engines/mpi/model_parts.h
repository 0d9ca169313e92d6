// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/engines/mpi/leader.h"
#include "millrace/engines/mpi/part_plan.h"
#include "millrace/formats/model.h"
#include "millrace/machine/machine.h"

// A model's plan for a machine of ranks, divided among them.
namespace millrace::mpi {

// By rank. Throws InvalidInput where the machine takes more ranks than there are.
std::vector<PartPlan> PartsOfModel(const Model& model, const Machine& machine, const Plan& plan, int ranks);

// The model's outputs, in its order, after a run: from the ranks that made them, from `inputs` (in the model's order)
// and constants where they are such.
std::vector<std::vector<std::byte>> OutputsOf(Leader& ranks, int number, const Model& model, const Machine& machine,
                                              const Plan& plan, const std::vector<std::vector<std::byte>>& inputs);

// Throws InvalidInput, saying how many there would have to be, where the seats take more ranks than there are.
void CheckRanks(const std::vector<Seat>& seats, int ranks);

}  // namespace millrace::mpi
