// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/kernel_registry.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/runtime/heavy_kernels.h"
#include "millrace/runtime/light_kernels.h"

namespace millrace {
namespace {

using Registry = std::map<std::string_view, std::vector<KernelEntry>>;

const Registry& AllKernels() {
  static const Registry registry = [] {
    Registry entries;
    for (const KernelEntry& entry : HeavyKernels()) entries[entry.op_type].push_back(entry);
    for (const KernelEntry& entry : LightKernels()) entries[entry.op_type].push_back(entry);
    return entries;
  }();
  return registry;
}

}  // namespace

const KernelEntry* FindKernel(const Model& model, int node, std::string* why) {
  const Node& wanted = model.nodes[static_cast<std::size_t>(node)];
  std::string reason;
  const bool own_domain = wanted.domain.empty() || wanted.domain == "ai.onnx";
  const std::string name = own_domain ? wanted.op_type : wanted.domain + "." + wanted.op_type;
  const auto found = AllKernels().find(name);
  if (found != AllKernels().end()) {
    for (const KernelEntry& entry : found->second) {
      const std::string complaint = entry.unsupported(model, node);
      if (complaint.empty()) return &entry;
      if (reason.empty()) reason = complaint;
    }
  } else {
    reason = "op " + wanted.op_type + (own_domain ? "" : " of domain " + wanted.domain);
  }
  if (why != nullptr) *why = reason;
  return nullptr;
}

}  // namespace millrace
