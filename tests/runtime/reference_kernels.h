// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "tests/runtime/kernel_harness.h"

// The heavy operators and their company written as plainly as their definitions, in double precision, for comparison.
namespace millrace::testing {

// Every value of the model made of these operators, by value id, given its inputs.
std::map<int, TensorData> EvaluateSlowly(const Model& model, const std::map<int, TensorData>& inputs);

// Random tensors for the model's inputs.
std::map<int, TensorData> RandomInputs(const Model& model, Random& random);

// Runs the whole model as one group with 1, 2 and 3 workers, its inputs at hand plain and blocked, and compares every
// output with EvaluateSlowly.
void ExpectGroupMatches(const Model& model, Random& random, double tolerance = 1e-4,
                        const KernelMaker& make = MakeKernel);

}  // namespace millrace::testing
