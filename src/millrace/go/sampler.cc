// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

// Makes one choice after the other, one for each colocation or row of a task, and adds up their log-probabilities.
class Chooser {
 public:
  Chooser(const GoDrawOptions& options, Random& random)
      : softmax_temperature_(options.softmax_temperature), blocks_(options.blocks), random_(random) {}

  double log_probability() const { return log_probability_; }

  // Before the choices of a task, of which each has so many ways.
  void Begin(std::size_t ways) {
    if (blocks_ == nullptr || softmax_temperature_ <= 0) return;
    noise_.resize(static_cast<std::size_t>(blocks_->count()) * ways);
    for (double& noise : noise_) noise = random_.Gumbel();
  }

  std::size_t Choose(std::int32_t colocation, std::span<const float> logits) {
    const std::size_t likeliest =
        static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    const std::size_t chosen = softmax_temperature_ <= 0 ? likeliest
                               : blocks_ != nullptr      ? DrawWithBlock(colocation, logits)
                                                         : Draw(logits, logits[likeliest]);
    log_probability_ += LogProbabilityOf(logits, chosen, logits[likeliest]);
    return chosen;
  }

  static double LogProbabilityOf(std::span<const float> logits, std::size_t chosen, float most) {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - most);
    return logits[chosen] - most - std::log(sum);
  }

 private:
  std::size_t DrawWithBlock(std::int32_t colocation, std::span<const float> logits) const {
    const auto block = static_cast<std::size_t>(blocks_->block_of[static_cast<std::size_t>(colocation)]);
    const std::span<const double> noise = std::span(noise_).subspan(block * logits.size(), logits.size());
    std::size_t chosen = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double score = logits[i] / softmax_temperature_ + noise[i];
      if (score > most) chosen = i, most = score;
    }
    return chosen;
  }

  std::size_t Draw(std::span<const float> logits, float most) {
    weights_.clear();
    double sum = 0;
    for (const float logit : logits) {
      weights_.push_back(std::exp((logit - most) / softmax_temperature_));
      sum += weights_.back();
    }
    double left = random_.Uniform() * sum;
    std::size_t last = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0) continue;
      last = i;
      left -= weights_[i];
      if (left < 0) break;
    }
    return last;  // rounding can leave some of `left` over
  }

  double softmax_temperature_;
  const GoBlocks* blocks_;  // null: choices share nothing
  Random& random_;
  double log_probability_ = 0;
  std::vector<double> weights_;
  std::vector<double> noise_;  // block x way
};

std::size_t Choices(const GoProblem& problem, Task task) {
  return task == Task::kPlacement ? static_cast<std::size_t>(problem.num_devices()) : kLevels;
}

// Calls choose(row or colocation, its logits) for all of them that the task decides.
template <typename Choose>
void ForChoosers(const GoProblem& problem, Task task, std::span<const float> logits, Choose choose) {
  const std::size_t choices = Choices(problem, task);
  for (std::size_t i = 0; i < logits.size() / choices; ++i) {
    if (task == Task::kFusion && problem.fusible()[i] == 0) continue;
    choose(i, logits.subspan(i * choices, choices));
  }
}

void Decide(const GoProblem& problem, Task task, std::span<const float> logits, Chooser& chooser,
            Decisions& decisions) {
  chooser.Begin(Choices(problem, task));
  if (task == Task::kPlacement) {
    decisions.device.resize(static_cast<std::size_t>(problem.num_colocations()));
    ForChoosers(problem, task, logits, [&](std::size_t colocation, std::span<const float> of_colocation) {
      decisions.device[colocation] =
          static_cast<std::int32_t>(chooser.Choose(static_cast<std::int32_t>(colocation), of_colocation));
    });
    return;
  }
  std::vector<std::uint8_t>& levels = task == Task::kPriority ? decisions.priority : decisions.fusion;
  levels.assign(static_cast<std::size_t>(problem.num_rows()), 0);
  ForChoosers(problem, task, logits, [&](std::size_t row, std::span<const float> of_row) {
    const std::int32_t colocation = problem.ColocationOf(static_cast<std::int32_t>(row));
    levels[row] = static_cast<std::uint8_t>(chooser.Choose(colocation, of_row));
  });
}

GoDraw DrawOne(const GoProblem& problem, GoPass& pass, const GoDrawOptions& options, const Deadline& deadline,
               Random random) {
  GoDraw draw;
  DecisionObservation before;
  for (int t = 0; t < options.iterations; ++t) {
    if (t > 0 && deadline.Passed()) break;
    ObserveDecisions(problem, t > 0 ? draw.iterations.back() : Decisions{}, before);
    pass.Begin(before);
    Decisions decisions = options.given;
    Chooser chooser(options, random);
    for (const Task task : kTasks) {
      StopIfInterrupted();
      if (!options.tasks[static_cast<std::size_t>(task)]) continue;
      Decide(problem, task, pass.Score(task, decisions), chooser, decisions);
    }
    draw.iterations.push_back(std::move(decisions));
    draw.log_probabilities.push_back(chooser.log_probability());
  }
  return draw;
}

}  // namespace

ParallelLoop LoopOf(int threads) {
  if (threads <= 1) return RunInTurn;
  return [threads](int count, const std::function<void(int)>& work) { RunInParallel(count, threads, work); };
}

std::vector<GoDraw> DrawGo(const GoProblem& problem, const PreparedGoPolicy& policy, int count,
                           const GoDrawOptions& options, const Random& random) {
  const Deadline deadline(options.seconds);
  std::vector<GoDraw> draws(static_cast<std::size_t>(count));
  const int at_once = std::clamp(options.threads, 1, std::max(1, count));
  RunInParallel(at_once, at_once, [&](int thread) {
    GoPass pass = policy.MakePass(LoopOf(options.threads / at_once));
    for (int i = thread; i < count; i += at_once) {
      draws[static_cast<std::size_t>(i)] =
          DrawOne(problem, pass, options, deadline, random.Fork(static_cast<std::uint64_t>(options.first + i)));
    }
  });
  return draws;
}

void ForEachChoice(const GoProblem& problem, GoPass& pass, const Decisions& before, const Decisions& decisions,
                   const std::function<void(Task, std::size_t, std::span<const float>, std::size_t)>& visit) {
  DecisionObservation observation;
  ObserveDecisions(problem, before, observation);
  pass.Begin(observation);
  Decisions chosen;
  for (const Task task : kTasks) {
    if (!decisions.Has(task)) continue;
    const auto choice_of = [&](std::size_t i) -> std::size_t {
      if (task == Task::kPlacement) return static_cast<std::size_t>(decisions.device[i]);
      return task == Task::kPriority ? decisions.priority[i] : decisions.fusion[i];
    };
    ForChoosers(problem, task, pass.Score(task, chosen),
                [&](std::size_t i, std::span<const float> logits) { visit(task, i, logits, choice_of(i)); });
    if (task == Task::kPlacement) chosen.device = decisions.device;
    if (task == Task::kPriority) chosen.priority = decisions.priority;
  }
}

double LogProbabilityOf(std::span<const float> logits, std::size_t chosen) {
  return Chooser::LogProbabilityOf(logits, chosen, *std::max_element(logits.begin(), logits.end()));
}

double LogProbability(const GoProblem& problem, const PreparedGoPolicy& policy, const Decisions& before,
                      const Decisions& decisions) {
  GoPass pass = policy.MakePass();
  double sum = 0;
  ForEachChoice(problem, pass, before, decisions,
                [&](Task, std::size_t, std::span<const float> logits, std::size_t chosen) {
                  sum += LogProbabilityOf(logits, chosen);
                });
  return sum;
}

}  // namespace millrace
