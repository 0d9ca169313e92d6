// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "millrace/cost/cost_model.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/go/network.h"
#include "millrace/go/sampler.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/train/go/demonstration.h"
#include "millrace/train/go/learner.h"
#include "millrace/train/go/memory.h"
#include "millrace/train/go/own_step.h"
#include "millrace/train/torch/plan_reward.h"

namespace millrace {
namespace {

// Independent streams of one seed.
enum Stream : std::uint64_t { kWeights, kUpdates, kDemonstrations, kValidation };

constexpr double kAdvantageLimit = 3;     // in deviations
constexpr double kLeastDeviation = 1e-4;  // of rewards: below it all samples are alike
constexpr double kUnusableRatio = 0.1;    // reference / seconds that counts for what does not fit

double Falling(double from, double to, double progress) { return from + (to - from) * progress; }

std::string Fingerprint(const std::vector<GoTrainingProblem>& problems) {
  std::string text;
  for (const GoTrainingProblem& problem : problems) text += problem.name() + ' ' + GraphHash(problem.graph()) + ' ';
  return text;
}

// The first `count` of a random order.
std::vector<std::size_t> DrawSome(std::size_t of, std::size_t count, Random& random) {
  std::vector<std::size_t> all(of);
  for (std::size_t i = 0; i < of; ++i) all[i] = i;
  for (std::size_t i = 0; i < std::min(count, of); ++i) {
    std::swap(all[i], all[i + random.Below(static_cast<std::uint64_t>(of - i))]);
  }
  all.resize(std::min(count, of));
  return all;
}

// Of one problem: by sample, and the seconds of every iteration's plan, one sample's after the other.
struct SampledPlans {
  std::vector<GoDraw> samples;
  std::vector<double> seconds = {};

  std::size_t iterations() const { return samples.front().iterations.size(); }
  const Decisions& Chosen(std::size_t at) const { return samples[at / iterations()].iterations[at % iterations()]; }
};

class GoTraining final : public TrainingLoop {
 public:
  GoTraining(const std::vector<GoTrainingProblem>& problems, const std::vector<GoTrainingProblem>& validation,
             const GoTrainerOptions& options, const std::optional<Checkpoint>& resume, GoObserver& observer)
      : TrainingLoop(options, kGoCheckpoint,
                     {.settings = SettingsJson(options.settings), .trained_on = Fingerprint(problems)}, resume),
        problems_(problems),
        validation_(validation.empty() ? problems : validation),
        options_(options),
        settings_(ParseSettings<GoSettings>(state().settings)),
        tasks_(TasksOf(settings_)),
        random_(state().seed),
        learner_(StartWeights(), {.average_decay = settings_.average_decay,
                                  .gradient_limit = settings_.gradient_limit,
                                  .threads = options.torch_threads,
                                  .team = &team()}),
        observer_(observer) {
    if (problems.empty()) throw InvalidInput("there is nothing to train on");
    if (settings_.own_margin > 0 && problems.size() > 1) {
      throw InvalidInput(
          fmt::format("own_margin is {}, but logits that are one graph's own cannot be those of {} problems",
                      settings_.own_margin, problems.size()));
    }
    if (settings_.shared_noise > 0) {
      for (const GoTrainingProblem& problem : problems) blocks_.push_back(problem.BlocksOf(settings_.shared_noise));
    }
    if (resume) {
      memory_ = MemoryOf(resume->memory);
      return;
    }
    memory_.problems.resize(problems.size());
    if (settings_.own_margin > 0) memory_.problems.front().own = StartOwn();
    for (GoProblemMemory& memory : memory_.problems) memory.best.seconds = kCannotRun;
  }

  GoSummary Run() {
    GoSummary summary;
    static_cast<TrainingSummary&>(summary) = RunToEnd(settings_.updates, settings_.validate_every);
    summary.evaluations = memory_.evaluations;
    for (const GoProblemMemory& memory : memory_.problems) summary.best.push_back(memory.best);
    return summary;
  }

 private:
  Learner& learner() override { return learner_; }
  Weights Memory() const override { return MemoryPart(memory_); }

  Weights StartWeights() const {
    if (options_.start) return *options_.start;
    Random random = random_.Fork(kWeights);
    return InitialGoWeights(random);
  }

  // Those of the weights to start from, if they have some; else of no effect.
  OwnLogits StartOwn() const {
    const GoProblem& problem = problems_.front().problem();
    std::optional<OwnLogits> own;
    if (options_.start) own = TakeOwnLogits(*options_.start);
    if (!own) return NoOwnLogits(problem);
    CheckOwnLogits(*own, problem);
    return *own;
  }

  void Complete(Weights& average) const override {
    if (memory_.problems.front().own) PutOwnLogits(*memory_.problems.front().own, average);
  }

  // All problems in turn, in an order that changes every round.
  std::vector<std::size_t> ProblemsOfUpdate() const {
    std::vector<std::size_t> chosen;
    const auto count = static_cast<std::int64_t>(problems_.size());
    for (std::int64_t i = 0; i < settings_.problems_per_update; ++i) {
      const std::int64_t turn = state().update * settings_.problems_per_update + i;
      Random order = random_.Fork(kUpdates).Fork(static_cast<std::uint64_t>(turn / count));
      const std::size_t problem = DrawSome(problems_.size(), problems_.size(), order)[turn % count];
      if (std::find(chosen.begin(), chosen.end(), problem) == chosen.end()) chosen.push_back(problem);
    }
    return chosen;
  }

  bool Decides(Task task) const { return std::find(tasks_.begin(), tasks_.end(), task) != tasks_.end(); }

  // Of one problem in an update: evaluations of its search, and what is reported of its samples.
  struct Sampled {
    std::int64_t evaluations = 0;
    double mean = 0, best = 0, usable = 0;
  };

  // Searches for better decisions than the best known, if it is the problem's turn. Safe on several threads for
  // different problems. Returns the evaluations it took.
  std::int64_t SearchInTurn(std::size_t index) {
    GoProblemMemory& memory = memory_.problems[index];
    // Not before the policy's own samples: they may be all that is needed, and are cheap.
    if (memory.baselines.empty() || memory.searches >= settings_.demonstration_searches ||
        settings_.demonstration_evaluations <= 0)
      return 0;
    Random random = random_.Fork(kDemonstrations).Fork(index).Fork(static_cast<std::uint64_t>(memory.searches));
    ++memory.searches;
    DemonstrationOptions options;
    options.evaluations = settings_.demonstration_evaluations;
    options.order_is_decided = Decides(Task::kPriority);
    if (state().time_limit > 0) options.seconds = std::max(0.0, state().time_limit - Seconds());
    if (std::isfinite(memory.best.seconds) && memory.best.decisions.Has(Task::kPlacement))
      options.start = &memory.best.decisions;
    GoDemonstration found = SearchDemonstration(problems_[index], options, random);
    // What the policy does not decide keeps its default, also in what it is shown.
    Decisions& decisions = found.known.decisions;
    const Decisions all = decisions;
    if (!Decides(Task::kPlacement)) decisions.device.clear();
    if (!Decides(Task::kPriority)) decisions.priority.clear();
    if (!Decides(Task::kFusion)) decisions.fusion.clear();
    if (!decisions.Has(Task::kPlacement) && !decisions.Has(Task::kPriority)) return found.evaluations;
    if (decisions != all) found.known.seconds = problems_[index].Seconds(decisions);
    if (found.known.seconds < memory.best.seconds) memory.best = std::move(found.known);
    return found.evaluations;
  }

  void Update() override {
    const Deadline clock;
    const std::vector<std::size_t> chosen = ProblemsOfUpdate();
    const Random random = random_.Fork(kUpdates).Fork(~static_cast<std::uint64_t>(state().update));
    std::vector<Sampled> of_problems(chosen.size());
    RunInParallel(static_cast<int>(chosen.size()), options_.threads, [&](int at) {
      const auto i = static_cast<std::size_t>(at);
      if (team().Owns(i)) of_problems[i].evaluations = SearchInTurn(chosen[i]);
    });
    const GoPolicy policy = Policy();
    std::vector<SampledPlans> sampled(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!team().Owns(i)) continue;
      const GoTrainingProblem& problem = problems_[chosen[i]];
      const GoBlocks* blocks = blocks_.empty() ? nullptr : &blocks_[chosen[i]];
      sampled[i] =
          SampleAndEvaluate(problem, policy.Prepare(problem.problem()), settings_.samples, 1, random.Fork(i), blocks);
    }
    rollout_seconds_ += clock.Elapsed();

    std::vector<std::vector<double>> advantages(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!team().Owns(i)) continue;
      Remember(chosen[i], sampled[i], of_problems[i]);
      advantages[i] = Advantages(chosen[i], sampled[i]);
    }
    team().Share(of_problems);
    ShareMemory(chosen);
    Report(of_problems);
    const double rate = Falling(settings_.learning_rate, settings_.last_learning_rate, Progress());
    const GoUpdateResult result = rate > 0 ? LearnNetwork(chosen, sampled, advantages, rate, random) : GoUpdateResult{};
    report_.loss = result.loss;
    report_.entropy = result.entropy;
    report_.demonstration_log_probability = result.demonstration_log_probability;
    report_.gradient_norm = result.gradient_norm;
    LearnOwn();
    memory_.evaluations += static_cast<std::int64_t>(chosen.size()) * settings_.samples * settings_.iterations;
    for (const Sampled& problem : of_problems) memory_.evaluations += problem.evaluations;
    report_.evaluations = memory_.evaluations;
    report_.best_seconds = memory_.problems[chosen.front()].best.seconds;
  }

  GoUpdateResult LearnNetwork(const std::vector<std::size_t>& chosen, const std::vector<SampledPlans>& sampled,
                              const std::vector<std::vector<double>>& advantages, double rate, const Random& random) {
    std::vector<GoBatch> batches(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!team().Owns(i)) continue;
      Random stream = random.Fork(chosen.size() + i);
      batches[i] = MakeBatch(chosen[i], sampled[i], advantages[i], stream);
    }
    const double progress = Progress();
    return learner_.Update(
        batches,
        {.passes = settings_.passes,
         .ratio_limit = settings_.ratio_limit,
         .entropy_bonus = Falling(settings_.entropy_bonus, settings_.last_entropy_bonus, progress),
         .demonstration_weight = Falling(settings_.demonstration_weight, settings_.last_demonstration_weight, progress),
         .learning_rate = rate});
  }

  GoPolicy Policy() const {
    Weights weights = learner_.weights();
    Complete(weights);
    return GoPolicy(weights);
  }

  // Towards the best decisions known, from nothing and from themselves. Every rank does, as all of them know the same.
  void LearnOwn() {
    GoProblemMemory& memory = memory_.problems.front();
    if (!memory.own || !std::isfinite(memory.best.seconds)) return;
    const GoProblem& problem = problems_.front().problem();
    const std::array before = {Decisions{}, memory.best.decisions};
    const ParallelLoop loop = LoopOf(options_.threads);
    report_.demonstration_log_probability =
        ImitateInOwnLogits(problem, Policy().Prepare(problem, loop), before, memory.best.decisions,
                           settings_.own_margin, loop, *memory.own);
  }

  void ReportUpdate() override {
    report_.update = state().update;
    report_.seconds = Seconds();
    report_.rollout_share = rollout_seconds_ / SecondsHere();
    observer_.OnUpdate(report_);
  }

  SampledPlans SampleAndEvaluate(const GoTrainingProblem& problem, const PreparedGoPolicy& policy, int count,
                                 double softmax_temperature, const Random& random,
                                 const GoBlocks* blocks = nullptr) const {
    GoDrawOptions options{.iterations = settings_.iterations,
                          .softmax_temperature = softmax_temperature,
                          .tasks = {},
                          .blocks = blocks,
                          .threads = options_.threads};
    for (const Task task : tasks_) options.tasks[static_cast<std::size_t>(task)] = true;
    SampledPlans plans{.samples = DrawGo(problem.problem(), policy, count, options, random)};
    plans.seconds.resize(plans.samples.size() * static_cast<std::size_t>(settings_.iterations));
    RunInParallel(static_cast<int>(plans.seconds.size()), options_.threads, [&](int i) {
      StopIfInterrupted();
      const auto at = static_cast<std::size_t>(i);
      plans.seconds[at] = problem.Seconds(plans.Chosen(at));
    });
    return plans;
  }

  // Keeps the best of a problem's samples.
  void Remember(std::size_t index, const SampledPlans& plans, Sampled& sampled) {
    const double reference = problems_[index].reference_seconds();
    KnownDecisions& best = memory_.problems[index].best;
    double usable = 0, last_seconds = 0, last_usable = 0;
    for (std::size_t at = 0; at < plans.seconds.size(); ++at) {
      const double seconds = plans.seconds[at];
      if (!std::isfinite(seconds)) continue;
      usable += 1;
      if (at % plans.iterations() + 1 == plans.iterations()) {
        last_usable += 1;
        last_seconds += seconds;
      }
      if (seconds < best.seconds) best = {plans.Chosen(at), seconds};
    }
    if (last_usable > 0) sampled.mean = reference * last_usable / last_seconds;
    if (std::isfinite(best.seconds)) sampled.best = reference / best.seconds;
    sampled.usable = usable / static_cast<double>(plans.seconds.size());
  }

  // A checkpoint has all of it, and any rank may own the problem next time.
  void ShareMemory(const std::vector<std::size_t>& chosen) {
    if (team().size() == 1) return;
    std::vector<std::string> texts(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (team().Owns(i)) texts[i] = WeightsBytes(ProblemPart(memory_.problems[chosen[i]]));
    }
    team().Share(texts);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!team().Owns(i))
        memory_.problems[chosen[i]] = ProblemMemoryOf(ParseWeights(texts[i], "what a rank knows of a problem"));
    }
  }

  void Report(const std::vector<Sampled>& of_problems) {
    report_ = {};
    const auto count = static_cast<double>(of_problems.size());
    for (const Sampled& problem : of_problems) {
      report_.mean += problem.mean / count;
      report_.best += problem.best / count;
      report_.usable += problem.usable / count;
    }
  }

  // Rewards against their moving mean by iteration, in units of their moving deviation from it.
  std::vector<double> Advantages(std::size_t index, const SampledPlans& plans) {
    GoProblemMemory& memory = memory_.problems[index];
    const std::size_t iterations = plans.iterations();
    const std::size_t all = plans.seconds.size();
    std::vector<double> rewards(all);
    std::vector<double> means(iterations, 0);
    for (std::size_t at = 0; at < all; ++at) {
      rewards[at] = PlanReward(plans.seconds[at], problems_[index].reference_seconds());
      means[at % iterations] += rewards[at] / static_cast<double>(plans.samples.size());
    }
    const bool first = memory.baselines.empty();
    if (first) memory.baselines = means;
    double square = 0;
    for (std::size_t t = 0; t < iterations; ++t) {
      double& baseline = memory.baselines[t];
      baseline = settings_.baseline_decay * baseline + (1 - settings_.baseline_decay) * means[t];
      for (std::size_t at = t; at < all; at += iterations) {
        rewards[at] -= baseline;
        square += rewards[at] * rewards[at] / static_cast<double>(all);
      }
    }
    const double deviation = std::sqrt(square);
    memory.deviation =
        first ? deviation : settings_.baseline_decay * memory.deviation + (1 - settings_.baseline_decay) * deviation;
    for (double& reward : rewards) {
      reward = std::clamp(reward / std::max(memory.deviation, kLeastDeviation), -kAdvantageLimit, kAdvantageLimit);
    }
    return rewards;
  }

  // A part of what was sampled for one problem, and demonstrations of the best decisions known for it.
  GoBatch MakeBatch(std::size_t index, const SampledPlans& plans, const std::vector<double>& advantages,
                    Random& random) const {
    const GoProblem& problem = problems_[index].problem();
    const std::size_t all = plans.seconds.size();
    GoBatch batch;
    batch.problem = &problem;
    batch.features = &problems_[index].features();
    if (memory_.problems[index].own) batch.own = &*memory_.problems[index].own;
    batch.window = PlaceWindow(problem.num_rows(), settings_.most_rows, random.Uniform());
    const auto observe = [&](std::size_t at) {
      auto before = std::make_shared<DecisionObservation>();
      ObserveDecisions(problem, at % plans.iterations() == 0 ? Decisions{} : plans.Chosen(at - 1), *before);
      return before;
    };
    for (const std::size_t at : DrawSome(all, static_cast<std::size_t>(settings_.most_steps), random)) {
      batch.advantages.push_back(advantages[at]);
      batch.sampled.push_back(MakeGoStep(problem, observe(at), plans.Chosen(at)));
    }
    const KnownDecisions& best = memory_.problems[index].best;
    if (!std::isfinite(best.seconds)) return batch;
    for (const std::size_t at : DrawSome(all, static_cast<std::size_t>(settings_.demonstrations), random)) {
      batch.demonstrations.push_back(MakeGoStep(problem, observe(at), best.decisions));
    }
    return batch;
  }

  double Validate(const Weights& average) override {
    const GoPolicy policy(average);
    GoValidation sums;  // of logarithms
    const auto last = static_cast<std::size_t>(settings_.iterations) - 1;
    for (std::size_t i = 0; i < validation_.size(); ++i) {
      StopIfInterrupted();
      const GoTrainingProblem& problem = validation_[i];
      const auto ratio = [&](const SampledPlans& plans, std::size_t sample) {
        const double seconds = plans.seconds[sample * (last + 1) + last];
        return std::isfinite(seconds) ? problem.reference_seconds() / seconds : kUnusableRatio;
      };
      const PreparedGoPolicy prepared = policy.Prepare(problem.problem());
      const Random random = random_.Fork(kValidation).Fork(i);
      const double greedy = ratio(SampleAndEvaluate(problem, prepared, 1, 0, random), 0);
      const SampledPlans plans = SampleAndEvaluate(problem, prepared, settings_.validation_samples, 1, random);
      double best = greedy;
      for (std::size_t sample = 0; sample < plans.samples.size(); ++sample) {
        best = std::max(best, ratio(plans, sample));
        sums.mean += std::log(ratio(plans, sample)) / static_cast<double>(plans.samples.size());
      }
      sums.greedy += std::log(greedy);
      sums.best += std::log(best);
    }
    const auto count = static_cast<double>(validation_.size());
    scores_ = {.best = std::exp(sums.best / count),
               .mean = std::exp(sums.mean / count),
               .greedy = std::exp(sums.greedy / count)};
    return scores_.best;
  }

  void ReportValidation(bool kept) override {
    report_.update = state().update;
    report_.seconds = Seconds();
    observer_.OnValidation(report_, scores_, kept);
  }

  const std::vector<GoTrainingProblem>& problems_;
  const std::vector<GoTrainingProblem>& validation_;
  const GoTrainerOptions& options_;
  GoSettings settings_;
  std::vector<Task> tasks_;
  Random random_;
  GoLearner learner_;
  GoObserver& observer_;
  std::vector<GoBlocks> blocks_;  // by problem, where their ops share chance; else none
  GoMemory memory_;
  GoReport report_;
  GoValidation scores_;  // of the last validation
  double rollout_seconds_ = 0;
};

}  // namespace

const CheckpointKind kGoCheckpoint = {
    .format = "millrace.go-checkpoint", .trained_on = "problems", .check = [](const Checkpoint& checkpoint) {
      ParseSettings<GoSettings>(checkpoint.settings);
      MemoryOf(checkpoint.memory);
    }};

GoSummary TrainGo(const std::vector<GoTrainingProblem>& problems, const std::vector<GoTrainingProblem>& validation,
                  const GoTrainerOptions& options, const std::optional<Checkpoint>& resume, GoObserver& observer) {
  return GoTraining(problems, validation, options, resume, observer).Run();
}

}  // namespace millrace
