// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/kernel.h"

#include "millrace/errors/errors.h"
#include "millrace/runtime/kernel_registry.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/sequential_group.h"

namespace millrace {

std::size_t TensorSpec::bytes() const {
  std::int64_t elements = ElementsOf(shape);
  if (layout == Layout::kBlocked16 && shape[1] > 0) {
    elements = elements / shape[1] * ((shape[1] + kBlock - 1) / kBlock * kBlock);
  }
  return static_cast<std::size_t>(elements) * BytesOf(type);
}

std::unique_ptr<Kernel> MakeKernel(const KernelRequest& request) {
  if (request.nodes.size() != 1) return MakeSequentialGroup(request);
  const int node = request.nodes.front();
  std::string why;
  const KernelEntry* entry = FindKernel(*request.model, node, &why);
  if (entry == nullptr) {
    const Node& lacking = request.model->nodes[static_cast<std::size_t>(node)];
    throw InvalidInput("node '" + lacking.name + "': the runtime cannot execute " + why);
  }
  return entry->make(request);
}

std::string UnsupportedReason(const Model& model, int node) {
  std::string why;
  FindKernel(model, node, &why);
  return why;
}

}  // namespace millrace
