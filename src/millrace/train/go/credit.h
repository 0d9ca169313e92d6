// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "millrace/go/blocks.h"
#include "millrace/go/decoder.h"
#include "millrace/go/features.h"
#include "millrace/go/problem.h"
#include "millrace/heuristics/cluster_levels.h"
#include "millrace/random/random.h"
#include "millrace/workloads/go_corpus.h"

// What each block of a placement is to be credited with: how much faster the plan is with that block alone elsewhere,
// judged exactly, one plan for each block and device. A reward for a whole plan says nearly nothing of its thousand
// choices; this says it of every one. Seconds.
//
// Source: the counterfactual baseline of Foerster et al., "Counterfactual Multi-Agent Policy Gradients", 2018, with the
// simulator in place of a learnt critic.
namespace millrace {

// A case that moves of blocks are learned on: greedily fused groups under the contended proxy. Immutable once made.
class MoveProblem {
 public:
  MoveProblem(GoCase of, std::span<const int> fewest_blocks);

  const GoCase& of() const { return of_; }
  const GoProblem& problem() const { return *problem_; }
  const GoDecoder& decoder() const { return *decoder_; }
  const GoFeatures& features() const { return features_; }
  const CostedGraph& costed() const { return *costed_; }  // of the groups
  const std::vector<GoBlocks>& levels() const { return levels_; }
  const std::vector<ClusterLevel>& clusters() const { return clusters_; }  // that move by chance

  // Where plans begin: the placement by hand (PlaceByLayers), in the better of two orders, and how long it takes.
  const Decisions& start() const { return start_; }
  double start_seconds() const { return start_seconds_; }

  // Of the plan that decisions come to; infinity where it does not fit in memory.
  double Seconds(const Decisions& decisions) const;

 private:
  GoCase of_;
  std::unique_ptr<const ComputationGraph> graph_;
  std::unique_ptr<const CostModel> model_;
  std::unique_ptr<const GoProblem> problem_;
  std::unique_ptr<const CostedGraph> costed_;
  std::unique_ptr<const GoDecoder> decoder_;
  GoFeatures features_;
  std::vector<GoBlocks> levels_;
  std::vector<ClusterLevel> clusters_;
  Decisions start_;
  double start_seconds_ = 0;
};

struct Credit {
  std::vector<std::int32_t> blocks;  // that were judged
  std::vector<float> gains;          // those blocks x devices: share of the makespan saved; -1 where it cannot be
};

// Judges `most` of the blocks, drawn by chance, or all where there are no more. `now` is the plan's time. Threads may
// be many. Throws Interrupted.
Credit FindCredit(const MoveProblem& problem, const GoBlocks& blocks, const Decisions& decisions, double now, int most,
                  int threads, Random& random);

}  // namespace millrace
