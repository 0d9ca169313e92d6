// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "millrace/go/blocks.h"
#include "millrace/go/decisions.h"
#include "millrace/go/policy.h"
#include "millrace/go/problem.h"
#include "millrace/random/random.h"

// Draws decisions from GO's policy: y[0] without any before it, y[1] given y[0], and so on.
namespace millrace {

struct GoDrawOptions {
  int iterations = 2;              // at least 1
  double softmax_temperature = 1;  // logits are divided by it; 0: the likeliest choices are taken
  std::array<bool, kTasks.size()> tasks = {true, true, true};  // by Task: is it decided?
  Decisions given = {};  // part of every y[t]: decisions of tasks that are not decided, and of no others
  // The choices of a block share what chance adds to their logits, so that most of its ops go together; each still has
  // its own probability. Null: every choice has a chance of its own. Blocks must outlive the drawing.
  const GoBlocks* blocks = nullptr;
  int threads = 1;
  std::int64_t first = 0;                        // number of the first draw: later calls continue a batch
  std::optional<double> seconds = std::nullopt;  // of wall time, after which no draw is decided once more
};

struct GoDraw {
  std::vector<Decisions> iterations;      // y[0], y[1], ..; at least one
  std::vector<double> log_probabilities;  // log P(y[t] | y[t-1]) at softmax temperature 1

  const Decisions& decisions() const { return iterations.back(); }
};

// Makes `count` draws. Draw i comes from random.Fork(options.first + i), so the same generator gives the same draws at
// any number of threads. Where draws are few, each uses several threads. Throws Interrupted.
std::vector<GoDraw> DrawGo(const GoProblem& problem, const PreparedGoPolicy& policy, int count,
                           const GoDrawOptions& options, const Random& random);

// Calls visit for every choice of the tasks that `decisions` has, after what was decided before: its task, its number
// among them (row or colocation), the logits of what could be chosen, and what is. Logits are valid until the next
// task.
void ForEachChoice(const GoProblem& problem, GoPass& pass, const Decisions& before, const Decisions& decisions,
                   const std::function<void(Task, std::size_t, std::span<const float>, std::size_t)>& visit);

// log P of a choice.
double LogProbabilityOf(std::span<const float> logits, std::size_t chosen);

// log P(decisions | what was decided before) of the tasks that `decisions` has.
double LogProbability(const GoProblem& problem, const PreparedGoPolicy& policy, const Decisions& before,
                      const Decisions& decisions);

// A loop of so many threads for policies (planning/parallel.h).
ParallelLoop LoopOf(int threads);

}  // namespace millrace
