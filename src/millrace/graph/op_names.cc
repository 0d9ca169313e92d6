// SPDX-License-Identifier: Apache-2.0
#include "millrace/graph/op_names.h"

#include <fnmatch.h>

namespace millrace {

bool NameMatches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::vector<OpId> OpsNamed(const ComputationGraph& graph, const std::string& pattern) {
  std::vector<OpId> ops;
  for (OpId op = 0; op < graph.num_ops(); ++op) {
    if (NameMatches(pattern, graph.op(op).name)) ops.push_back(op);
  }
  return ops;
}

}  // namespace millrace
