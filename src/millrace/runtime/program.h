// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"
#include "millrace/runtime/border.h"
#include "millrace/runtime/kernel.h"
#include "millrace/runtime/memory_planner.h"
#include "millrace/runtime/weight_cache.h"

// A plan made executable: for every processor the steps it runs, in the plan's order, with the waits between processors
// and a place in memory for every tensor.
//
// A step is one kernel on one device: a group of the plan, or a change of layout right before the first group that
// wants a value in another layout than it was made in (on that group's device; later readers of that layout use it
// too). Values are kept per layout, so one value may lie in two buffers.
//
// Each worker runs its steps in order and publishes how many it has finished. A step starts on a worker once, for every
// buffer it reads, all workers of the writing step have finished it; of these waits only those are kept that the worker
// does not already know to be over. The workers of a gang wait each for themselves. Waits point backwards in the plan's
// one sequence, so there is no deadlock. memory_planner.h says why sharing memory is safe under this order.
//
// The inputs of the model are buffers the caller writes, plain and kept from run to run; so are the outputs. An output
// that is an input is that input's buffer; an output that is a constant is a buffer filled once.
//
// A program may be one part of a plan, which other parts run beside elsewhere (border.h): tensors that arrive and leave
// lie plain in buffers that nobody shares, and a worker's first step that reads an arriving one waits for it.
namespace millrace {

// This many steps of that worker have to be finished.
struct Wait {
  int worker = 0;
  std::uint32_t steps = 0;
};

struct ProgramStep {
  int group = -1;            // of the plan: its kernel, or a change of layout made for it
  std::vector<int> workers;  // who run it: indices into Program::cpus, ascending
  std::unique_ptr<Kernel> kernel;
  std::vector<int> inputs, outputs;  // buffers, as the kernel lists them
  int scratch = -1;                  // buffer, -1: none
  std::vector<int> departures;       // what is complete after it: indices into Program::departures
};

// One worker's part in a step.
struct Instruction {
  int step = 0;
  int share = 0;  // its number within the step's workers
  std::vector<Wait> waits;
  std::vector<int> arrivals;  // to be waited for: indices into Program::arrivals
};

// An input or output of the model, or what crosses the border.
struct ProgramTensor {
  int value = -1;
  TensorSpec spec;  // always plain
  int buffer = -1;
};

struct Program {
  std::vector<int> cpus;                               // the processors that have work, ascending; worker i is cpus[i]
  std::vector<ProgramStep> steps;                      // in the plan's order
  std::vector<std::vector<Instruction>> instructions;  // by worker
  std::vector<ProgramTensor> inputs, outputs;          // in the model's order; of a part those it reads and makes
  std::vector<ProgramTensor> arrivals, departures;     // in the order of BorderValues
  std::vector<BufferLife> buffers;
  MemoryLayout memory;
  std::vector<std::pair<int, std::shared_ptr<const ConstantData>>> constants;  // buffers that hold one from the start
};

// Throws InvalidInput where the runtime lacks ops of the model: one line with all of them and how many nodes use each.
void CheckExecutable(const Model& model);

// The plan must be valid for the model's graph and the machine; the model outlives the program. Prepared weights are
// shared through `weights` where it is given. Throws InvalidInput as CheckExecutable and CheckRunsHere do.
Program CompileProgram(const Model& model, const Machine& machine, const Plan& plan, WeightCache* weights = nullptr);

// The part of a plan that runs here: the plan holds only its groups, which read nothing that is made outside it but
// what arrives. At least one group. Throws InvalidInput as above.
Program CompilePart(const Model& model, const Machine& machine, const Plan& part, const BorderValues& border,
                    WeightCache* weights = nullptr);

}  // namespace millrace
