// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "millrace/graph/computation_graph.h"

// Training profiles as PipeDream's profiler writes them (Narayanan et al., "PipeDream: generalized pipeline parallelism
// for DNN training", 2019).
namespace millrace {

// Node lines "nodeK -- op -- forward_compute_time=ms, backward_compute_time=ms, activation_size=bytes,
// parameter_size=bytes" with an optional " -- stage_id=N", and edge lines "nodeA -- nodeB", in any order.
//
// Op i is the i-th node line. Its type is the op's first word; its seconds are those of the forward and the backward
// pass together (a layer's share of a training step); its weight bytes the parameter size. A node of type Input carries
// the time of loading data and gets 0 seconds. Each node makes one tensor of its activation size ("[a; b]" is summed),
// an output of the graph where nobody reads it. Throws InvalidInput naming the line.
ComputationGraph ParsePipeDream(std::string_view text, const std::string& name);

}  // namespace millrace
