// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/learned_policy.h"

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/network/network_layout.h"

namespace millrace {

std::unique_ptr<Policy> MakeLearnedPolicy(const Weights& weights) {
  const std::string& architecture = StatedBy(weights, "architecture");
  if (architecture == "mpnn") return MakeMessagePassingPolicy(weights);
  if (architecture == "topoformer") return MakeTopoformerPolicy(weights);
  throw InvalidInput("these weights are of the architecture '" + Shown(architecture) +
                     "'; 'mpnn' and 'topoformer' are known here");
}

std::unique_ptr<Policy> ReadLearnedPolicy(const std::string& path) {
  const Weights weights = ReadWeights(path);
  try {
    return MakeLearnedPolicy(weights);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

}  // namespace millrace
