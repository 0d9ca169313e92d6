// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "millrace/graph/computation_graph.h"

// Small graphs written down in a line.
namespace millrace::testing {

// Adds an op of this type that reads these tensors and makes one, of the op's number, which it returns.
inline int AddReading(GraphData& data, const std::string& type, const std::vector<int>& reads, double bytes = 8) {
  const int op = static_cast<int>(data.ops.size());
  data.ops.emplace_back();
  data.ops.back().type = type;
  data.ops.back().name = "op" + std::to_string(op);
  for (const int read : reads) data.tensors[static_cast<std::size_t>(read)].consumers.push_back(op);
  Tensor made;
  made.producer = op;
  made.bytes = bytes;
  data.tensors.push_back(made);
  return op;
}

// Ops in topological order, each of a type and reading the tensors, of 8 bytes, that others make.
inline GraphData Reading(const std::vector<std::pair<std::string, std::vector<int>>>& ops) {
  GraphData data;
  for (const auto& [type, reads] : ops) AddReading(data, type, reads);
  return data;
}

}  // namespace millrace::testing
