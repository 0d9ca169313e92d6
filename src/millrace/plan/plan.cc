// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/plan.h"

namespace millrace {

FusionGroups SingleOpGroups(const ComputationGraph& graph) {
  FusionGroups groups(static_cast<std::size_t>(graph.num_ops()));
  for (OpId op = 0; op < graph.num_ops(); ++op) groups[static_cast<std::size_t>(op)] = {op};
  return groups;
}

}  // namespace millrace
