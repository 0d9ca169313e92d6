// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Normalisations in loops of our own: GroupNormalization, whose scale and bias are one a group in opsets 18 to 20 and
// one a channel since, and LayerNormalization where its mean or deviation is an output too or its scale is broadcast.
namespace millrace {

std::vector<KernelEntry> GroupNormalizationKernels();

}  // namespace millrace
