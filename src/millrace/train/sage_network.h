// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <array>
#include <vector>

#include "millrace/env/one_shot_features.h"
#include "millrace/env/one_shot_problem.h"
#include "millrace/train/one_shot_step.h"
#include "millrace/train/tensors.h"

// The network of policy/sage.h once more, in libtorch: for gradients. A parity test holds the two together.
namespace millrace {

struct SageEncoded {
  torch::Tensor states;     // z: rows x kWidth
  torch::Tensor condition;  // c: 1 x kCondition
};

SageEncoded EncodeSage(const Parameters& parameters, const OneShotFeatures& graph, torch::Device device);

// Of one task, steps x choices: a choice is a tie for placement, else a row of the window.
struct SageChoices {
  torch::Tensor log_probability;  // of what was chosen
  torch::Tensor entropy;
  torch::Tensor counted;  // choices: 1 where the choice counts, else 0. Left out: rows that lead up, ties that reach
                          // beyond the window, rows that cannot fuse
};

// By task of kTasks; undefined where the steps do not decide it.
using SageOutputs = std::array<SageChoices, kTasks.size()>;

// All steps at once, on the rows of the window.
SageOutputs RunSage(const Parameters& parameters, const SageEncoded& encoded, const OneShotProblem& problem,
                    const OneShotFeatures& graph, const std::vector<const OneShotStep*>& steps, const RowWindow& window,
                    torch::Device device);

}  // namespace millrace
