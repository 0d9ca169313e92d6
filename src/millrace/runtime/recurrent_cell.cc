// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/recurrent_cell.h"

#include "millrace/errors/errors.h"
#include "millrace/runtime/recurrent_matrix.h"
#include "millrace/vector/vector_loops.h"
#include "millrace/vector/vector_math.h"

namespace millrace {
namespace {

MILLRACE_INLINE void ActivateBody(GateActivation activation, float* values) {
  switch (activation) {
    case GateActivation::kLogistic:
      for (std::int64_t i = 0; i < kUnits; ++i) values[i] = vector_math::Logistic(values[i]);
      break;
    case GateActivation::kTanh:
      for (std::int64_t i = 0; i < kUnits; ++i) values[i] = vector_math::Tanh(values[i]);
      break;
    case GateActivation::kRelu:
      for (std::int64_t i = 0; i < kUnits; ++i) values[i] = values[i] > 0.0f ? values[i] : 0.0f;
      break;
  }
}

void Activate(GateActivation activation, float* values) {
  static const auto best = Versions<&ActivateBody>::Best();
  best(activation, values);
}

}  // namespace

std::string ActivationsOf(const Node& node, std::int64_t d, std::array<GateActivation, 3>& activations) {
  const bool plain = node.op_type == "RNN";
  activations = {plain ? GateActivation::kTanh : GateActivation::kLogistic, GateActivation::kTanh,
                 GateActivation::kTanh};
  const auto found = node.attributes.find("activations");
  if (found == node.attributes.end()) return "";
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  if (names == nullptr) {
    throw InvalidInput("node '" + node.name + "' (" + node.op_type + "): attribute 'activations' is no list of names");
  }
  const std::size_t each = plain ? 1 : (node.op_type == "GRU" ? 2 : 3);
  for (std::size_t i = 0; i < each; ++i) {
    const std::size_t at = static_cast<std::size_t>(d) * each + i;
    if (at >= names->size()) break;
    const std::string& name = (*names)[at];
    if (name == "Sigmoid") {
      activations[i] = GateActivation::kLogistic;
    } else if (name == "Tanh") {
      activations[i] = GateActivation::kTanh;
    } else if (name == "Relu") {
      activations[i] = GateActivation::kRelu;
    } else {
      return name;
    }
  }
  return "";
}

void LstmCell(const std::array<GateActivation, 3>& activations, const float* sums, const float* peepholes, float* cell,
              float* state) {
  alignas(64) float input[kUnits], output[kUnits], forget[kUnits], fresh[kUnits];
  for (std::int64_t i = 0; i < kUnits; ++i) {
    input[i] = sums[i] + peepholes[i] * cell[i];
    forget[i] = sums[2 * kUnits + i] + peepholes[2 * kUnits + i] * cell[i];
    fresh[i] = sums[3 * kUnits + i];
  }
  Activate(activations[0], input);
  Activate(activations[0], forget);
  Activate(activations[1], fresh);
  for (std::int64_t i = 0; i < kUnits; ++i) {
    cell[i] = forget[i] * cell[i] + input[i] * fresh[i];
    output[i] = sums[kUnits + i] + peepholes[kUnits + i] * cell[i];
    state[i] = cell[i];
  }
  Activate(activations[0], output);
  Activate(activations[2], state);
  for (std::int64_t i = 0; i < kUnits; ++i) state[i] *= output[i];
}

void RnnCell(const std::array<GateActivation, 3>& activations, const float* sums, float* state) {
  for (std::int64_t i = 0; i < kUnits; ++i) state[i] = sums[i];
  Activate(activations[0], state);
}

void GruCell(const std::array<GateActivation, 3>& activations, const float* sums, const float* candidate_input,
             const float* before, float* after) {
  alignas(64) float update[kUnits], reset[kUnits], candidate[kUnits];
  for (std::int64_t i = 0; i < kUnits; ++i) {
    update[i] = sums[i];
    reset[i] = sums[kUnits + i];
  }
  Activate(activations[0], update);
  Activate(activations[0], reset);
  for (std::int64_t i = 0; i < kUnits; ++i) candidate[i] = candidate_input[i] + reset[i] * sums[2 * kUnits + i];
  GruMix(activations, candidate, update, before, after);
}

void GruGates(const std::array<GateActivation, 3>& activations, const float* sums, const float* before,
              float* reset_state, float* update) {
  alignas(64) float reset[kUnits];
  for (std::int64_t i = 0; i < kUnits; ++i) {
    update[i] = sums[i];
    reset[i] = sums[kUnits + i];
  }
  Activate(activations[0], update);
  Activate(activations[0], reset);
  for (std::int64_t i = 0; i < kUnits; ++i) reset_state[i] = reset[i] * before[i];
}

void GruMix(const std::array<GateActivation, 3>& activations, const float* candidate, const float* update,
            const float* before, float* after) {
  alignas(64) float fresh[kUnits];
  for (std::int64_t i = 0; i < kUnits; ++i) fresh[i] = candidate[i];
  Activate(activations[1], fresh);
  for (std::int64_t i = 0; i < kUnits; ++i) after[i] = (1.0f - update[i]) * fresh[i] + update[i] * before[i];
}

}  // namespace millrace
