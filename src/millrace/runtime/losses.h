// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: one class's score out of many at every position, weighted,
// ignored or not, and their mean, sum or neither.
namespace millrace {

std::unique_ptr<Kernel> MakeLoss(const KernelRequest& request);
std::string LossUnsupported(const Model& model, int node);

}  // namespace millrace
