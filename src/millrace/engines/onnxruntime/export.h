// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/plan/plan.h"

// A plan as files that other programs can follow with ONNX Runtime: part_0.onnx, part_1.onnx, ..., and manifest.json,
// which says where each part runs, with how many threads, what it waits for and where its tensors come from. The format
// is millrace.parts in docs/formats.md. ONNX Runtime itself is not needed.
namespace millrace {

struct ExportedParts {
  std::vector<std::string> files;  // as written, manifest.json the last
  int parts = 0;
};

// Writes into `folder`, which is made where it is missing; a manifest that is there already is replaced after all parts
// are written. The plan must be valid for the model's graph and the record's machine. Throws WorkFailed where a file
// cannot be written, InvalidInput where the folder cannot be made.
ExportedParts ExportParts(const Model& model, const ComputationGraph& graph, const PlanRecord& record,
                          const std::string& folder);

}  // namespace millrace
