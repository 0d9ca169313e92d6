// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/kernel.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "millrace/errors/errors.h"
#include "millrace/runtime/activation.h"
#include "millrace/runtime/channel_affine_kernel.h"
#include "millrace/runtime/elementwise_kernel.h"
#include "millrace/runtime/fused_units.h"
#include "millrace/runtime/kernel_registry.h"
#include "millrace/runtime/one_openmp_thread.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/sequential_group.h"

namespace millrace {

std::size_t TensorSpec::bytes() const {
  std::int64_t elements = ElementsOf(shape);
  if (layout == Layout::kBlocked && shape[1] > 0) {
    elements = elements / shape[1] * ((shape[1] + ChannelBlock() - 1) / ChannelBlock() * ChannelBlock());
  }
  return static_cast<std::size_t>(elements) * BytesOf(type);
}

std::unique_ptr<Kernel> MakeKernel(const KernelRequest& request) {
  const OneOpenMpThread one_thread;
  std::vector<std::vector<int>> units = FusedUnitsOf(*request.model, request.nodes);
  if (units.size() > 1) return MakeSequentialGroup(request, units);
  KernelRequest unit = request;
  unit.nodes = units.front();
  return MakeUnitKernel(unit);
}

std::unique_ptr<Kernel> MakeUnitKernel(const KernelRequest& request) {
  const int node = request.nodes.front();
  const Node& first = request.model->nodes[static_cast<std::size_t>(node)];
  try {
    if (request.nodes.size() > 1 && PatternStartingWith(*request.model, request.nodes, node))
      return MakeActivationKernel(request, GeluActivation());
    if (request.nodes.size() > 1 && ChannelAffineChain(*request.model, request.nodes, node).size() <= 1) {
      if (std::unique_ptr<Kernel> chain = MakeElementwiseKernel(request)) return chain;
    }
    std::string why;
    const KernelEntry* entry = FindKernel(*request.model, node, &why);
    if (entry == nullptr) throw InvalidInput("node '" + first.name + "': the runtime cannot execute " + why);
    return entry->make(request);
  } catch (const dnnl::error& refusal) {
    throw InvalidInput("node '" + first.name + "' (" + first.op_type +
                       "): oneDNN refuses its shapes: " + refusal.what());
  }
}

std::string UnsupportedReason(const Model& model, int node) {
  std::string why;
  FindKernel(model, node, &why);
  return why;
}

}  // namespace millrace
