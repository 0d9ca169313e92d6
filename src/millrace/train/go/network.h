// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <array>
#include <vector>

#include "millrace/go/features.h"
#include "millrace/go/own_logits.h"
#include "millrace/go/problem.h"
#include "millrace/train/go/step.h"
#include "millrace/train/torch/tensors.h"

// The network of go/network.h once more, in libtorch: for gradients. A parity test holds the two together.
namespace millrace {

struct GoEncoded {
  torch::Tensor states;     // z: rows x kWidth
  torch::Tensor condition;  // c: 1 x kCondition
};

GoEncoded EncodeGo(const Parameters& parameters, const GoFeatures& graph, torch::Device device);

// Of one task, steps x choices: a choice is a colocation for placement, else a row of the window.
struct GoChoices {
  torch::Tensor logits;           // steps x choices x alternatives
  torch::Tensor log_probability;  // of what was chosen
  torch::Tensor entropy;
  torch::Tensor counted;  // choices: 1 where the choice counts, else 0. Left out: rows that lead up, colocations that
                          // reach beyond the window, rows that cannot fuse
};

// By task of kTasks; undefined where the steps do not decide it.
using GoOutputs = std::array<GoChoices, kTasks.size()>;

// All steps at once, on the rows of the window. `own` is added to the logits; null: nothing is.
GoOutputs RunGoNetwork(const Parameters& parameters, const GoEncoded& encoded, const GoProblem& problem,
                       const GoFeatures& graph, const std::vector<const GoStep*>& steps, const RowWindow& window,
                       torch::Device device, const OwnLogits* own);

}  // namespace millrace
