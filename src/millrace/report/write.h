// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

// The folder an optimisation leaves behind.
namespace millrace {

// Makes the folder (and those above it) and checks that files can be written there. Throws InvalidInput saying why not:
// called before hours of work rather than after.
void PrepareOutputFolder(const std::string& folder);

// Writes plan.json, baselines/NAME.plan.json, graph.json (with measured times: what the proxy saw), result.json,
// report.html and timeline.trace.json, and challenger.plan.json where there is one, each whole or not at all. Throws
// WorkFailed.
void WriteResult(const OptimizeResult& result, const std::string& folder);

// report.html and timeline.trace.json alone.
void WriteReport(const OptimizeResult& result, const std::string& folder);

// How long writing the result of such a graph takes at most, on a busy machine.
double ExpectedWritingSeconds(const ComputationGraph& graph);

}  // namespace millrace
