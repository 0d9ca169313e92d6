// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/runtime/kernel.h"

// Any legal fusion group as a kernel: its members (units of fused_units.h) run one after another over buffers inside
// the group's scratch, with a change of layout between two members where they need one.
namespace millrace {

std::unique_ptr<Kernel> MakeSequentialGroup(const KernelRequest& request, const std::vector<std::vector<int>>& units);

}  // namespace millrace
