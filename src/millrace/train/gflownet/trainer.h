// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/train/gflownet/settings.h"
#include "millrace/train/gflownet/validation.h"
#include "millrace/train/torch/training_loop.h"

// Trains the GFlowNet's policy: draws problems, samples plans for them with the plain C++ policy, lets the objective
// say how far the samples' probabilities are from their rewards, and has the learner change them. Times are seconds.
//
// Source: Zhang et al., "Robust Scheduling with GFlowNets", ICLR 2023.
namespace millrace {

struct GFlowNetTrainerOptions : TrainingOptions {
  GFlowNetSettings settings;
  std::vector<ComputationGraph> graphs;  // real ones, to train on pieces of
};

// The reference of its ratios is HEFT.
struct GFlowNetReport : UpdateReport {
  double learning_rate = 0;
  double plans_per_second = 0;    // of the rollouts alone
  double updates_per_second = 0;  // of this run
  double learner_share = 0;       // of this run's seconds
};

// Told how a training goes.
class GFlowNetObserver {
 public:
  virtual ~GFlowNetObserver() = default;
  virtual void OnUpdate(const GFlowNetReport& report) = 0;
  virtual void OnValidation(const GFlowNetReport& report, const std::vector<ValidationScore>& scores, bool kept) = 0;
  virtual void OnExactness(const GFlowNetReport& report, const std::vector<ExactnessScore>& scores, bool kept) = 0;
};

extern const CheckpointKind kGFlowNetCheckpoint;

// Trains to the end and writes the output, and checkpoints on the way. The best score is ValidationScore::resampled
// over all cells, or where settings validate exactness 1 - the mean of ExactnessScore::mean. `resume`: goes on from
// there, with its settings and seed. Without a time limit the result is a function of settings, seed, start and graphs
// alone, however often the training was stopped and resumed and at any number of rollout threads.
//
// Throws InvalidInput for settings out of range, weights to start from of another network, and graphs that are not
// those of `resume`. On Interrupted, or WorkFailed for weights or a gradient that are not finite, the last good
// checkpoint and the best weights so far are on disk when it is passed on.
TrainingSummary TrainGFlowNet(const GFlowNetTrainerOptions& options, const std::optional<Checkpoint>& resume,
                              GFlowNetObserver& observer);

}  // namespace millrace
