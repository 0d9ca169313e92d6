// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

#include "millrace/train/learner.h"

// The network of policy/message_passing.h once more, in libtorch: for gradients. A parity test holds the two together.
namespace millrace {

using Parameters = std::map<std::string, torch::Tensor>;  // by the tensor names of MessagePassingShapes

// By step of all replays, one replay's steps after the other.
struct ChoiceOutputs {
  torch::Tensor log_probability;  // of the taken choice
  torch::Tensor entropy;          // of all choices; undefined unless asked for
};

struct NetworkOutputs {
  ChoiceOutputs groups;
  ChoiceOutputs devices;
  torch::Tensor log_partition;  // by replay; undefined unless asked for
};

// Name and shape of the weights that log Z is learned with:
//   log Z = groups x (log_partition.1 relu(log_partition.0 [t, globals, log groups]))
std::vector<std::pair<std::string, std::vector<std::int64_t>>> LogPartitionShapes();

// All replays at once: their graphs as one graph of several pieces, their choices as one list.
NetworkOutputs RunNetwork(const Parameters& parameters, const std::vector<Replay>& replays, bool entropy,
                          bool log_partition, torch::Device device);

}  // namespace millrace
