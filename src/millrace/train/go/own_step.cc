// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/own_step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "millrace/go/decision_features.h"
#include "millrace/go/network.h"

namespace millrace {
namespace {

std::size_t ChoiceOf(const Decisions& decisions, Task task, std::size_t i) {
  if (task == Task::kPlacement) return static_cast<std::size_t>(decisions.device[i]);
  return task == Task::kPriority ? decisions.priority[i] : decisions.fusion[i];
}

float MostOfOthers(std::span<const float> logits, std::size_t chosen) {
  float most = kClosedLogit;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (c != chosen) most = std::max(most, logits[c]);
  }
  return most;
}

// log P of the choice.
double LogProbabilityOf(std::span<const float> logits, std::size_t chosen) {
  const float most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  return logits[chosen] - most - std::log(sum);
}

}  // namespace

double ImitateInOwnLogits(const GoProblem& problem, const PreparedGoPolicy& policy, std::span<const Decisions> before,
                          const Decisions& decisions, double margin, const ParallelLoop& loop, OwnLogits& own) {
  double log_probability = 0;
  double choices = 0;
  OwnLogits learned = own;
  DecisionObservation observation;
  GoPass pass = policy.MakePass(loop);
  for (const Decisions& y : before) {
    ObserveDecisions(problem, y, observation);
    pass.Begin(observation);
    Decisions chosen;
    for (const Task task : kTasks) {
      if (!decisions.Has(task)) continue;
      const std::span<const float> logits = pass.Score(task, chosen);
      const auto at = static_cast<std::size_t>(task);
      const std::size_t wide = task == Task::kPlacement ? static_cast<std::size_t>(problem.num_devices()) : kLevels;
      for (std::size_t i = 0; i < logits.size() / wide; ++i) {
        if (task == Task::kFusion && problem.fusible()[i] == 0) continue;
        const std::size_t choice = ChoiceOf(decisions, task, i);
        const auto row = logits.subspan(i * wide, wide);
        const float missing = MostOfOthers(row, choice) + static_cast<float>(margin) - row[choice];
        const std::size_t cell = i * wide + choice;
        learned.of_task[at][cell] = std::max(learned.of_task[at][cell], own.of_task[at][cell] + missing);
        log_probability += LogProbabilityOf(row, choice);
        choices += 1;
      }
      if (task == Task::kPlacement) chosen.device = decisions.device;
      if (task == Task::kPriority) chosen.priority = decisions.priority;
    }
  }
  own = std::move(learned);
  return choices > 0 ? log_probability / choices : 0;
}

}  // namespace millrace
