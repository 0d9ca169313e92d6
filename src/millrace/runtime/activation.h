// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "millrace/runtime/kernel_registry.h"

// Activation functions: ONNX's as steps of oneDNN's, applied one after another, alone or as the end of another
// primitive.
namespace millrace {

struct ActivationStep {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
};

using Activation = std::vector<ActivationStep>;

// The node as an activation of its first input; nothing where it is none, or its bounds are computed by the model.
std::optional<Activation> ActivationOf(const Model& model, int node);

void Append(const Activation& activation, dnnl::post_ops& post_ops);

// Whether the function keeps zero at zero, and with it the padding of blocked tensors.
bool KeepsZero(const Activation& activation);

// The kernel of nodes that read one tensor and together apply the activation to it, in the layout it is at hand in.
std::unique_ptr<Kernel> MakeActivationKernel(const KernelRequest& request, const Activation& activation);

std::vector<KernelEntry> ActivationKernels();

}  // namespace millrace
