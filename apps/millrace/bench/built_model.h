// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/formats/load.h"
#include "millrace/workloads/models.h"

// Models that experiments build instead of reading them.
namespace millrace::cli {

// As it is built, or as a quantisation tool would write it (workloads/quantized_form.h).
enum class NumberForm { kFloat, kQuantized };

// A model of the family (workloads/models.h) with its graph, as if it had been loaded. Throws InvalidInput as MakeModel
// does.
LoadedGraph BuiltModel(const std::string& family, const ModelOptions& options, NumberForm form = NumberForm::kFloat);

}  // namespace millrace::cli
