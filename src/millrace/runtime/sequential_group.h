// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/runtime/kernel.h"

// Any legal fusion group as a kernel: its members run one after another over buffers inside the group's scratch, with
// a change of layout between two members where they need one. Members that a faster kernel fuses are one member.
namespace millrace {

std::unique_ptr<Kernel> MakeSequentialGroup(const KernelRequest& request);

}  // namespace millrace
