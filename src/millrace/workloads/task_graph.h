// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/workloads/drawn_costs.h"

// Task graphs of known algorithms and networks: the structure is the algorithm's, the costs follow its work.
//
// A family comes in certain sizes; a graph is the one nearest to the ops asked for, the smaller of two. Every op has a
// share of the algorithm's work and every tensor a size. Seconds are the share x a factor drawn from [0.5, 1.5), scaled
// so that shares have a mean of 0.5 s; bytes are the size x such a factor, scaled to the CCR (drawn_costs.h).
//
// Families (task_families.h says how each is built):
//   fft                   recursive calls and butterflies of a fast Fourier transform
//   gaussian_elimination  pivots and updates of a matrix, column by column
//   lu                    LU factorisation by square tiles
//   montage               mosaic of overlapping sky images
//   randwire              stages of randomly wired ops, Watts-Strogatz
//   nas_cells             stacked cells of random blocks, as NASNet and AmoebaNet have them
//   moe                   layers of attention, router, experts and combination
//   skip_pipeline         micro-batches through an encoder and decoder with skips; a stage's ops share a device
namespace millrace {

struct TaskGraphOptions {
  std::int64_t ops = 100;  // 1 .. kMostDrawnOps
  double ccr = 1;
  std::uint64_t seed = 0;  // structure, seconds and bytes are separate streams: the CCR changes only the bytes

  // Where not empty, an op's seconds are stated per device kind (drawn_costs.h).
  KindFactors kinds = {};
  double heterogeneity = 0.5;  // 0 .. 2
};

const std::vector<std::string>& TaskGraphNames();

// Throws InvalidInput for an unknown family or options out of range.
ComputationGraph MakeTaskGraph(std::string_view family, const TaskGraphOptions& options);

}  // namespace millrace
