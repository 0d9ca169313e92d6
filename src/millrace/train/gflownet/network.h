// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "millrace/train/gflownet/learner.h"
#include "millrace/train/torch/tensors.h"

// The networks of gflownet/policy once more, in libtorch: for gradients. Parity tests hold the two together.
namespace millrace {

// By step of all problems, one problem's steps after the other.
struct ChoiceOutputs {
  torch::Tensor log_probability;  // of the taken choice
  torch::Tensor entropy;          // of all choices; undefined unless asked for
};

struct NetworkOutputs {
  ChoiceOutputs groups;
  ChoiceOutputs devices;
  ChoiceOutputs removals;       // log P_B; undefined where it is uniform
  torch::Tensor log_partition;  // by problem; undefined unless asked for
};

// Name and shape of the weights that log Z is learned with:
//   log Z = groups x (log_partition.1 relu(log_partition.0 [t, globals, log groups]))
std::vector<std::pair<std::string, std::vector<std::int64_t>>> LogPartitionShapes();

// gflownet/policy/message_passing.h. All problems at once: their graphs as one graph of several pieces, their choices
// as one list.
NetworkOutputs RunNetwork(const Parameters& parameters, const std::vector<RecordedSteps>& problems, bool entropy,
                          bool log_partition, torch::Device device);

// gflownet/policy/topoformer.h where it encodes states: each problem has them. Neither entropies nor log Z.
NetworkOutputs RunStateNetwork(const Parameters& parameters, const std::vector<RecordedSteps>& problems,
                               torch::Device device);

}  // namespace millrace
