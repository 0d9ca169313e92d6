// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/formats/load.h"
#include "millrace/formats/model_graph.h"
#include "millrace/workloads/models.h"

// Models that experiments build instead of reading them.
namespace millrace::cli {

// A model of the family (workloads/models.h) with its graph, as if it had been loaded. Throws InvalidInput as MakeModel
// does.
inline LoadedGraph BuiltModel(const std::string& family, const ModelOptions& options) {
  LoadedGraph built;
  built.model = MakeModel(family, options);
  built.graph = GraphOfModel(*built.model);
  return built;
}

}  // namespace millrace::cli
