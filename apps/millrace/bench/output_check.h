// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "millrace/formats/model.h"
#include "millrace/machine/machine.h"
#include "millrace/plan/plan.h"

// Whether a plan computes what it should, so that a table of times is one of right plans.
namespace millrace::cli {

struct OutputCheck {
  std::string against;  // what the outputs were compared with, for people
  double error = 0;     // the largest difference of two elements / the largest magnitude of an element, worst output
  double allowed_error = 0;

  // Also false for an error that is no number.
  bool passed() const { return error <= allowed_error; }
};

// Runs the plan on this host and compares its first output with the tensor in the file, as the ONNX project publishes
// them beside its networks: made from inputs that rise evenly from 0 to 1. Throws InvalidInput for another shape.
OutputCheck CheckAgainstFile(const Model& model, const Machine& machine, const Plan& plan, const std::string& path);

// Runs the plan, and every op by itself in order on the machine's first device, on the same random inputs, and compares
// all outputs.
OutputCheck CheckAgainstSingleOps(const Model& model, const Machine& machine, const Plan& plan, std::uint64_t seed);

}  // namespace millrace::cli
