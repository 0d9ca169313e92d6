// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/policy/weights.h"
#include "millrace/train/go_checkpoint.h"
#include "millrace/train/go_problem.h"
#include "millrace/train/go_settings.h"

// Trains GO's one-shot policy on given problems: draws decisions with the plain C++ policy, rewards each iteration's
// plan with -sqrt(time / reference), and has the learner make the better ones likelier, as well as the best ones known.
//
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", 2020; the best known decisions as examples are
// expert iteration (Anthony, Tian, Barber, "Thinking Fast and Slow with Deep Learning and Tree Search", 2017).
namespace millrace {

struct GoTrainerOptions {
  GoSettings settings;
  std::uint64_t seed = 0;
  int threads = 1;  // of rollouts
  int torch_threads = 1;
  std::optional<double> time_limit;  // seconds; the learning rate then reaches its end at whichever limit is nearer
  std::optional<Weights> start;      // to fine-tune; else InitialSageWeights

  std::string output;      // the averaged weights that validated best
  std::string checkpoint;  // empty: none is written
  double checkpoint_seconds = 180;
};

// After an update.
struct GoReport {
  std::int64_t update = 0;
  std::int64_t evaluations = 0;  // of plans, in rollouts
  double seconds = 0;            // since the training began, over all runs
  double mean = 0;    // over the update's problems: reference / mean seconds of the last iteration's plans that fit
  double best = 0;    // likewise: reference / best seconds known
  double usable = 0;  // share of plans that fit in memory
  double best_seconds = 0;  // of the update's first problem, known so far; infinity: none
  double loss = 0;
  double entropy = 0;
  double example_log_probability = 0;
  double gradient_norm = 0;
  double rollout_share = 0;  // of this run's seconds
};

// Over the validation problems: geometric means of reference / seconds; what does not fit counts as a tenth.
struct GoValidation {
  double best = 0;    // of the samples and the greedy plan
  double mean = 0;    // of the samples
  double greedy = 0;  // the plan of the most likely decisions
};

class GoObserver {
 public:
  virtual ~GoObserver() = default;
  virtual void OnUpdate(const GoReport& report) = 0;
  virtual void OnValidation(const GoReport& report, const GoValidation& validation, bool kept) = 0;
};

struct GoSummary {
  std::int64_t updates = 0;
  std::int64_t evaluations = 0;
  double seconds = 0;
  double best_score = 0;                  // GoValidation::best of the weights that were kept
  std::vector<KnownDecisions> best = {};  // by problem: drawn, or of an expert
};

// Trains to the end and writes the output, and checkpoints on the way. `validation` empty: on the problems themselves.
// `resume`: goes on from there, with its settings and seed. Without a time limit the result is a function of settings,
// seed, start and problems alone, however often the training was stopped and resumed and at any number of rollout
// threads. On Interrupted, or WorkFailed for a gradient that is not finite, the last good checkpoint and the best
// weights so far are on disk when it is passed on.
GoSummary TrainGo(const std::vector<GoProblem>& problems, const std::vector<GoProblem>& validation,
                  const GoTrainerOptions& options, const std::optional<GoCheckpoint>& resume, GoObserver& observer);

}  // namespace millrace
