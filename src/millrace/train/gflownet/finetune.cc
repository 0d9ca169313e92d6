// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/finetune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/backward.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/simulate/timeline.h"
#include "millrace/train/gflownet/settings.h"
#include "millrace/train/gflownet/update.h"

namespace millrace {
namespace {

// Independent streams of one seed.
enum FinetuneStream : std::uint64_t { kFinetuneUpdates, kEvaluation };

constexpr double kLastLearningRate = 0.1;  // of the first

// The reward that weights were trained by.
RewardForm RewardOf(const Weights& weights) {
  const auto stated = weights.metadata.find("reward");
  return stated == weights.metadata.end() ? RewardForm::kSizeScaled : RewardFormNamed(stated->second);
}

class Finetuning {
 public:
  Finetuning(const Environment& environment, const Weights& start, const FinetuneSettings& settings)
      : environment_(environment),
        settings_(settings),
        reward_(RewardOf(start)),
        random_(settings.seed),
        objective_(MakeLogPartitionVariance({})),
        learner_(start, {.average_decay = settings.average_decay, .threads = settings.torch_threads}),
        plans_(environment.costed(), static_cast<std::size_t>(settings.replay_plans)),
        deadline_(settings.seconds) {}

  Finetuned Run(const Weights& start, const FinetuneObserver& observer) {
    Finetuned result;
    Simulator simulator(environment_.costed());
    for (const Assignment& plan : settings_.demonstrations) plans_.Offer(plan, simulator.Makespan(plan));
    result.before = Evaluate(start);
    const double evaluation_seconds = deadline_.Elapsed();
    while (!Done(evaluation_seconds)) {
      StopIfInterrupted();
      Update();
      observer(updates_, plans_.plans().front().makespan);
    }
    result.weights = learner_.average();
    result.after = Evaluate(result.weights);
    if (result.after.typical_best > result.before.typical_best) {
      result.weights = start;
      result.after = result.before;
    }
    result.updates = updates_;
    result.seconds = deadline_.Elapsed();
    result.plans = plans_.plans();
    return result;
  }

 private:
  bool Done(double evaluation_seconds) const {
    return (settings_.updates && updates_ >= *settings_.updates) || deadline_.Left() <= evaluation_seconds;
  }

  double Progress() const {
    const double by_updates = settings_.updates ? static_cast<double>(updates_) / std::max(1, *settings_.updates) : 0;
    return std::min(1.0, std::max(by_updates, settings_.seconds ? deadline_.Elapsed() / *settings_.seconds : 0));
  }

  // 0: the lowest, 1: the highest.
  double Temperature(double place) const {
    return settings_.lowest_temperature * std::pow(settings_.highest_temperature / settings_.lowest_temperature, place);
  }

  void Update() {
    const double progress = Progress();
    const std::unique_ptr<Policy> policy = MakeMessagePassingPolicy(learner_.weights());
    const Random random = random_.Fork(kFinetuneUpdates).Fork(static_cast<std::uint64_t>(updates_));
    const bool replay = settings_.replay_weight > 0 && !plans_.plans().empty();
    const int sampled = settings_.temperatures_per_update;
    std::vector<TrajectoryBatch> batches(static_cast<std::size_t>(replay ? sampled + 1 : sampled));
    std::vector<std::vector<Trajectory>> trajectories(static_cast<std::size_t>(sampled));
    RunInParallel(static_cast<int>(batches.size()), settings_.threads, [&](int i) {
      Random stream = random.Fork(static_cast<std::uint64_t>(i));
      TrajectoryBatch& batch = batches[static_cast<std::size_t>(i)];
      const BatchSettings how{.trajectories = settings_.trajectories,
                              .recorded_share = settings_.recorded_share,
                              .most_recorded_steps = settings_.most_recorded_steps,
                              .reward = reward_};
      // The best plans are what the sharper half of the rewards asks for.
      const double temperature = Temperature(stream.Uniform() * (i < sampled ? 1 : 0.5));
      const std::unique_ptr<PreparedPolicy> prepared = policy->Prepare(environment_, temperature);
      if (i < sampled) {
        trajectories[static_cast<std::size_t>(i)] =
            SampleBatch(environment_, *prepared, temperature, how, stream, batch);
        return;
      }
      std::vector<std::vector<Action>> actions;
      for (const KeptPlan& plan : plans_.plans()) actions.push_back(TrajectoryByStart(environment_, plan.assignment));
      MakeDemonstrationBatch(environment_, *prepared, temperature, actions, how, stream, batch);
    });
    for (const std::vector<Trajectory>& of_batch : trajectories) {
      for (const Trajectory& trajectory : of_batch) plans_.Offer(trajectory.assignment, trajectory.makespan);
    }
    const double rate = settings_.learning_rate * (1 + (kLastLearningRate - 1) * progress);
    UpdateLearner(batches, *objective_, settings_.replay_weight, rate, progress, learner_);
    ++updates_;
  }

  // The same chance every time, so that two sets of weights are compared on equal terms.
  SampleQuality Evaluate(const Weights& weights) {
    constexpr int kTemperatures = 3;
    const std::unique_ptr<Policy> policy = MakeMessagePassingPolicy(weights);
    SampleQuality quality{.best = std::numeric_limits<double>::infinity()};
    const int samples = (settings_.evaluation_samples + kTemperatures - 1) / kTemperatures;
    for (int i = 0; i < kTemperatures; ++i) {
      const std::unique_ptr<PreparedPolicy> prepared =
          policy->Prepare(environment_, Temperature(static_cast<double>(i) / (kTemperatures - 1)));
      const Random random = random_.Fork(kEvaluation).Fork(static_cast<std::uint64_t>(i));
      double best = std::numeric_limits<double>::infinity();
      for (const Trajectory& trajectory :
           SampleTrajectories(environment_, *prepared, samples, {.threads = settings_.threads}, random, nullptr)) {
        best = std::min(best, trajectory.makespan);
        quality.mean += trajectory.makespan / (kTemperatures * samples);
        plans_.Offer(trajectory.assignment, trajectory.makespan);
      }
      quality.best = std::min(quality.best, best);
      quality.typical_best += best / kTemperatures;
    }
    return quality;
  }

  const Environment& environment_;
  const FinetuneSettings& settings_;
  RewardForm reward_;
  Random random_;
  std::unique_ptr<Objective> objective_;
  GFlowNetLearner learner_;
  ReplayBuffer plans_;
  Deadline deadline_;
  std::int64_t updates_ = 0;
};

}  // namespace

SettingsTable TableOf(FinetuneSettings& s) {
  return {
      {"lowest_temperature", &s.lowest_temperature, Between(1e-6, 1e6),
       "lowest reward temperature; they are drawn log-uniformly"},
      {"highest_temperature", &s.highest_temperature, From("lowest_temperature", s.lowest_temperature, 1e6),
       "highest reward temperature"},
      {"temperatures_per_update", &s.temperatures_per_update, Between(1, 1024), "reward temperatures of an update"},
      {"trajectories", &s.trajectories, Between(2, 1 << 16), "plans sampled at each temperature"},
      {"recorded_share", &s.recorded_share, Between(1e-3, 1), "share of steps that the gradient is taken of"},
      {"most_recorded_steps", &s.most_recorded_steps, Between(1, 1e9),
       "about how many steps per temperature the gradient is taken of at most"},
      {"learning_rate", &s.learning_rate, Between(0, 1),
       "learning rate of the first update; it falls linearly to a tenth"},
      {"average_decay", &s.average_decay, Between(0, 1), "decay of the weights' moving average, which is what is kept"},
      {"replay_weight", &s.replay_weight, Between(0, 100),
       "weight of the best plans known, which are imitated, against 1 for the objective; 0: none"},
      {"replay_plans", &s.replay_plans, Between(1, 1 << 16), "best plans that are kept, each imitated every update"},
      {"evaluation_samples", &s.evaluation_samples, Between(1, 1e6),
       "plans sampled to compare weights before and after"}};
}

void CheckSettings(const FinetuneSettings& settings) {
  if (!settings.seconds && !settings.updates) throw InvalidInput("fine-tuning needs a limit: seconds or updates");
  CheckRowsOf(settings);
}

Finetuned Finetune(const Environment& environment, const Weights& start, const FinetuneSettings& settings,
                   const FinetuneObserver& observer) {
  CheckSettings(settings);
  return Finetuning(environment, start, settings).Run(start, observer);
}

}  // namespace millrace
