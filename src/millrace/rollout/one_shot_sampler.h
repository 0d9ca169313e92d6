// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "millrace/env/decisions.h"
#include "millrace/env/one_shot_problem.h"
#include "millrace/policy/one_shot_policy.h"
#include "millrace/random/random.h"

// Draws decisions from the one-shot policy: y[0] without any before it, y[1] given y[0], and so on.
namespace millrace {

struct OneShotOptions {
  int iterations = 2;              // at least 1
  double softmax_temperature = 1;  // logits are divided by it; 0: the likeliest choice of each
  std::array<bool, kTasks.size()> tasks = {true, true, true};  // by Task: those that are decided
  int threads = 1;
  std::int64_t first = 0;  // number of the first draw: more of the same batch
};

struct OneShotDraw {
  std::vector<Decisions> iterations;      // y[0], y[1], ..
  std::vector<double> log_probabilities;  // log P(y[t] | y[t-1]) at softmax temperature 1

  const Decisions& decisions() const { return iterations.back(); }
};

// `count` draws. Draw i comes from random.Fork(options.first + i), so the same generator gives the same draws at any
// number of threads. Few draws use several threads each. Throws Interrupted.
std::vector<OneShotDraw> DrawOneShot(const OneShotProblem& problem, const PreparedOneShot& policy, int count,
                                     const OneShotOptions& options, const Random& random);

// log P(decisions | what was decided before) of the tasks that `decisions` has.
double LogProbability(const OneShotProblem& problem, const PreparedOneShot& policy, const Decisions& before,
                      const Decisions& decisions);

// A loop of so many threads for policies (rollout/parallel.h).
ParallelLoop LoopOf(int threads);

}  // namespace millrace
