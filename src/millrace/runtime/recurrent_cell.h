// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "millrace/formats/model.h"

// What recurrent layers do with 16 units after their matrix products. Sums are [gate][16]; states are 16 floats each.
namespace millrace {

enum class GateActivation { kLogistic, kTanh, kRelu };

// The activations of direction `d` of an LSTM, GRU or RNN node, in ONNX's order; those left out are the usual ones.
// Returns the name of one that is not known, or nothing.
std::string ActivationsOf(const Node& node, std::int64_t d, std::array<GateActivation, 3>& activations);

// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget. `cell` is updated.
void LstmCell(const std::array<GateActivation, 3>& activations, const float* sums, const float* peepholes, float* cell,
              float* state);

void RnnCell(const std::array<GateActivation, 3>& activations, const float* sums, float* state);

// Gates in the order update, reset, candidate. With the reset after the product: sums hold the state's part of the
// candidate, `candidate_input` the input's.
void GruCell(const std::array<GateActivation, 3>& activations, const float* sums, const float* candidate_input,
             const float* before, float* after);

// With the reset before the product: first the gates, then, given the candidate's sum, the mix.
void GruGates(const std::array<GateActivation, 3>& activations, const float* sums, const float* before,
              float* reset_state, float* update);
void GruMix(const std::array<GateActivation, 3>& activations, const float* candidate, const float* update,
            const float* before, float* after);

}  // namespace millrace
