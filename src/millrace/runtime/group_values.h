// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "millrace/runtime/kernel.h"

// Which values cross the border of a fusion group.
namespace millrace {

// Value ids the nodes read from outside the group: constants excluded, none twice, in order of first use.
std::vector<int> GroupInputs(const Model& model, std::span<const int> nodes);

// Value ids the nodes make for outside the group, in order of making: those with a reader elsewhere, those with no
// reader at all, and outputs of the model.
std::vector<int> GroupOutputs(const Model& model, std::span<const int> nodes);

// The value's type and shape, in this layout.
TensorSpec SpecOf(const Model& model, int value, Layout layout = Layout::kPlain);

}  // namespace millrace
