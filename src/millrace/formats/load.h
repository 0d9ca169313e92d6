// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/graph/computation_graph.h"

// One door for every graph format, for every verb.
namespace millrace {

struct LoadedGraph {
  ComputationGraph graph;
  std::optional<Model> model;         // set where the file holds something to execute (ONNX)
  std::vector<std::string> warnings;  // for the person at the keyboard
};

// By the file's ending and content: .onnx; .gguf; .json (millrace.graph, or the dnn-partitioning workloads); .stg; .txt
// (PipeDream profiles). `dimensions` binds an ONNX model's symbolic dimensions, and of a GGUF model how many "tokens"
// run at once (1) after a "context" of others (0). Throws InvalidInput naming the file.
LoadedGraph LoadGraph(const std::string& path, const std::map<std::string, std::int64_t>& dimensions = {});

}  // namespace millrace
