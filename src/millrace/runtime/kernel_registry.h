// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// Which operators the runtime knows and how it makes a kernel for one node of each. The heavy ones (oneDNN) come from
// heavy_kernels.h, the light ones from light_kernels.h. An operator may be in both lists: the first entry that can
// execute the node wins.
namespace millrace {

// Makes the kernel of a request of exactly one node; for an anchor, of the node and its epilogue (see fused_units.h).
using KernelFactory = std::unique_ptr<Kernel> (*)(const KernelRequest& request);

// Why the entry cannot execute this node, in a few words; empty if it can. Never looks at the operator's name.
using UnsupportedQuestion = std::string (*)(const Model& model, int node);

struct KernelEntry {
  const char* op_type;  // of the ONNX domain; of another with that in front, "com.microsoft.QGemm"
  KernelFactory make;
  UnsupportedQuestion unsupported;
};

// The entry that executes this node; null where none can, with the reason in `why` if it is given.
const KernelEntry* FindKernel(const Model& model, int node, std::string* why = nullptr);

}  // namespace millrace
