// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "millrace/random/random.h"
#include "millrace/workloads/task_draft.h"

// How each family of task graphs is built: ops as near to `ops` as it can be, into an empty draft.
namespace millrace {

// Topcuoglu, Hariri and Wu, "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous Computing",
// 2002: of m = 2^k points, a binary tree of 2m - 1 recursive calls whose leaves feed k levels of m butterflies each.
// Every path is as long as every other, 2k + 1 ops. All tasks take equal work.
void DraftFft(std::int64_t ops, TaskDraft& draft);

// The same paper, after Wu and Gajski, "Hypertool", 1990: of an m x m matrix, step k = 1 .. m - 1 has a pivot, then an
// update of each of the m - k columns behind it: (m^2 + m - 2) / 2 ops. Work and sizes fall with the rows left.
void DraftGaussianElimination(std::int64_t ops, TaskDraft& draft);

// Buttari, Langou, Kurzak and Dongarra, "A class of parallel tiled linear algebra algorithms for multicore
// architectures", 2009, without pivoting: t x t tiles, at step k one getrf, two rows of trsm and a square of gemm:
// t (t + 1) (2t + 1) / 6 ops. Work by kind, from the flops: 2/3, 1 and 2. All tiles have one size.
void DraftLu(std::int64_t ops, TaskDraft& draft);

// Bharathi et al., "Characterization of Scientific Workflows", 2008: n images on a grid are projected, every overlap of
// two is fitted, all fits go into one background model, which corrects every image; table, mosaic, shrunken mosaic and
// picture follow. About three overlaps an image, of neighbours in rows and columns first, then on random diagonals.
// Work roughly as measured by Juve et al., "Characterizing and profiling scientific workflows", 2013: what handles all
// images takes long in proportion to their number.
void DraftMontage(std::int64_t ops, Random& random, TaskDraft& draft);

// Xie, Kirillov, Girshick and He, "Exploring Randomly Wired Neural Networks for Image Recognition", 2019: stem, stages
// of about 32 nodes wired as Watts-Strogatz graphs (4 neighbours, links thrown elsewhere with probability 0.75) and
// pointing from the lower to the higher number, head. A stage's first op feeds the nodes without inputs, its last
// averages those without readers. What a node makes halves from stage to stage, its work does not.
void DraftRandwire(std::int64_t ops, Random& random, TaskDraft& draft);

// Zoph et al., "Learning Transferable Architectures for Scalable Image Recognition", 2018, and Real et al., 2019: stem,
// cells of 18 ops, head. A cell adjusts the results of the two cells before it; each of five blocks adds two ops on two
// random results of the cell so far; what no block reads is concatenated. One random normal cell is repeated; after
// each third of them comes a random reduction cell, from which on results are half as large.
void DraftNasCells(std::int64_t ops, Random& random, TaskDraft& draft);

// Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer", 2017: embedding,
// layers of attention, router, E experts and combination, head. Every token goes to two experts, drawn by a random
// popularity, and an expert's work and the sizes on its way are its tokens. The combination also reads the attention's
// result. E is the power of two next to the square root of the ops, 4 to 128.
void DraftMixtureOfExperts(std::int64_t ops, Random& random, TaskDraft& draft);

// A U-Net (Ronneberger, Fischer and Brox, 2015) run as a pipeline (Huang et al., "GPipe", 2019): each micro-batch goes
// through d encoder stages, a middle one and d decoder stages, and what encoder i makes is also read by decoder i. Ops
// of a stage are colocated: its weights lie on one device. Results halve from level to level; decoders take twice the
// work. About as many micro-batches as stages.
void DraftSkipPipeline(std::int64_t ops, TaskDraft& draft);

}  // namespace millrace
