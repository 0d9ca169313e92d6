// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/own_step.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "millrace/go/network.h"
#include "millrace/go/sampler.h"

namespace millrace {
namespace {

float MostOfOthers(std::span<const float> logits, std::size_t chosen) {
  float most = kClosedLogit;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (c != chosen) most = std::max(most, logits[c]);
  }
  return most;
}

}  // namespace

double ImitateInOwnLogits(const GoProblem& problem, const PreparedGoPolicy& policy, std::span<const Decisions> before,
                          const Decisions& decisions, double margin, const ParallelLoop& loop, OwnLogits& own) {
  double log_probability = 0;
  double choices = 0;
  OwnLogits learned = own;
  GoPass pass = policy.MakePass(loop);
  for (const Decisions& y : before) {
    ForEachChoice(problem, pass, y, decisions,
                  [&](Task task, std::size_t i, std::span<const float> logits, std::size_t chosen) {
                    const auto at = static_cast<std::size_t>(task);
                    const std::size_t cell = i * logits.size() + chosen;
                    const float missing = MostOfOthers(logits, chosen) + static_cast<float>(margin) - logits[chosen];
                    learned.of_task[at][cell] = std::max(learned.of_task[at][cell], own.of_task[at][cell] + missing);
                    log_probability += LogProbabilityOf(logits, chosen);
                    choices += 1;
                  });
  }
  own = std::move(learned);
  return choices > 0 ? log_probability / choices : 0;
}

}  // namespace millrace
