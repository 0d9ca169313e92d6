// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// LSTM, GRU and RNN on float32: one or both directions, initial states, peepholes, lengths of sequences, both layouts,
// the activations Sigmoid, Tanh and Relu. Weights must be constants; they are packed once. First the inputs of all
// time steps are multiplied at once, then step follows step; several workers share the units of a layer and meet after
// every step.
namespace millrace {

std::unique_ptr<Kernel> MakeRecurrent(const KernelRequest& request);
std::string RecurrentUnsupported(const Model& model, int node);

}  // namespace millrace
