// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "millrace/target/target.h"

// The target "ort": this host, executing the model with the user's ONNX Runtime, a session for each stretch of the plan
// (engines/onnxruntime/conductor.h).
//
// Load makes the sessions ready, fills the model's inputs with seeded random data, runs once to warm up and holds the
// outputs against those of the whole model in one session (engines/onnxruntime/agreement.h); a plan whose outputs
// differ has failed. A model that gives other outputs at every run is not checked. Runs of one target exclude each
// other.
namespace millrace {

// `words`: ort[,library=PATH]. The context's graph, machine and model are needed and outlive the target and its plans.
// Throws InvalidInput without a model, without the library or for one that is too old, for a model that it does not
// run, and on a machine whose units are not processors this process may run on.
std::unique_ptr<Target> MakeOrtTarget(std::string_view words, const TargetContext& context);

}  // namespace millrace
