// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/targets/on_targets.h"

// The graphs that experiments on targets use: random ones that no training draws, and public networks in place of the
// proprietary ones of "Robust Scheduling with GFlowNets" (Zhang et al., 2023).
namespace millrace {

// `each` graphs of 50 ops of every random family, CCR 1, seconds uniform in [0, 1). Seeds from kQualitySeed + 20'000.
std::vector<GraphUnderTest> UnseenRandomGraphs(int each);

// Our own networks in small forms, and those of DATA/onnx_light and DATA/pipedream_profiles where `data` is not empty;
// with at most `most_ops` ops. None of their ops can fuse. Throws InvalidInput for a folder that
// cannot be read.
std::vector<GraphUnderTest> PublicNetworks(const std::string& data, int most_ops);

// The family a network belongs to by its name: variants of one architecture go together, so that none is trained on
// while its sister is a test. "other" where it is none we know.
std::string FamilyOfNetwork(const std::string& name);

// Families that trainings on real graphs must leave out: inception, densenet, nasnet, recurrent (GNMT, LSTM), towers.
bool KeptForTesting(const std::string& family);

// Total work over the critical path, transfers free, on the device kind that the seconds are stated for or on one of
// 1e12 flops/s and 1e11 bytes/s: no number of devices speeds the graph up by more.
double Parallelism(const ComputationGraph& graph);

// Those of which `least` or more is to be gained.
std::vector<GraphUnderTest> WithParallelism(std::vector<GraphUnderTest> graphs, double least);

}  // namespace millrace
