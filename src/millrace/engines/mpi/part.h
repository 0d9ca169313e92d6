// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "millrace/engines/mpi/part_plan.h"
#include "millrace/formats/model.h"
#include "millrace/runtime/border.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/weight_cache.h"
#include "millrace/runtime/worker_pool.h"

// One rank's part of a plan, ready to run as often as wanted. Seconds.
namespace millrace::mpi {

class Part {
 public:
  virtual ~Part() = default;

  // Where what arrives is to be written and what leaves is to be read, by place in the PartPlan; when, Border says.
  virtual std::span<std::byte> Arrival(std::size_t i) = 0;
  virtual std::span<const std::byte> Departure(std::size_t i) = 0;

  // Inputs of the model that are read here, outputs that are made here, by value; empty for others.
  virtual std::span<std::byte> Input(int value) = 0;
  virtual std::span<const std::byte> Output(int value) = 0;

  // The seconds from the call until the last group is finished. Throws InvalidInput as Executor::Run does.
  virtual double Run(Border& border) = 0;
};

// Executes the model. `cpus`: the rank's processors by their number. Model, pool and weights outlive the part. Throws
// InvalidInput as CompilePart does.
std::unique_ptr<Part> MakeModelPart(const PartPlan& plan, const Model& model, const std::vector<int>& cpus,
                                    WorkerPool& pool, WeightCache& weights, OnFault on_fault);

// Every group sleeps for its seconds: nothing is computed, and what is sent are bytes of no meaning, as many as the
// tensors have. The times of groups are kept on the whole even where each sleep ends a little late.
std::unique_ptr<Part> MakeEmulatedPart(const PartPlan& plan);

}  // namespace millrace::mpi
