// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/finetune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "millrace/env/backward.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/policy/message_passing.h"
#include "millrace/rollout/parallel.h"
#include "millrace/simulate/timeline.h"
#include "millrace/train/lesson.h"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

// Independent streams of one seed.
enum Stream : std::uint64_t { kUpdates, kEvaluation };

constexpr double kLastLearningRate = 0.1;  // of the first

void CheckFinetuneSettings(const FinetuneSettings& s) {
  if (!s.seconds && !s.updates) throw InvalidInput("fine-tuning needs a limit: seconds or updates");
  if (!(s.lowest_temperature > 0 && s.highest_temperature >= s.lowest_temperature &&
        std::isfinite(s.highest_temperature))) {
    throw InvalidInput("fine-tuning needs reward temperatures > 0, the lowest first");
  }
  if (s.trajectories < 2 || s.temperatures_per_update < 1 || s.replay_plans < 1 || s.evaluation_samples < 1) {
    throw InvalidInput("fine-tuning needs at least 2 trajectories, and 1 temperature, plan to replay and sample");
  }
}

class Finetuning {
 public:
  Finetuning(const Environment& environment, const Weights& start, const FinetuneSettings& settings)
      : environment_(environment),
        settings_(settings),
        random_(settings.seed),
        objective_(MakeLogPartitionVariance({})),
        learner_(start, {.average_decay = settings.average_decay, .threads = settings.torch_threads}),
        plans_(environment.costed(), static_cast<std::size_t>(settings.replay_plans)) {}

  Finetuned Run(const Weights& start, const FinetuneObserver& observer) {
    Finetuned result;
    Simulator simulator(environment_.costed());
    for (const Assignment& example : settings_.examples) plans_.Offer(example, simulator.Makespan(example));
    result.before = Evaluate(start);
    const double evaluation_seconds = Seconds();
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
    result.seconds = Seconds();
    result.plans = plans_.plans();
    return result;
  }

 private:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  bool Done(double evaluation_seconds) const {
    return (settings_.updates && updates_ >= *settings_.updates) ||
           (settings_.seconds && Seconds() + evaluation_seconds >= *settings_.seconds);
  }

  double Progress() const {
    const double by_updates = settings_.updates ? static_cast<double>(updates_) / std::max(1, *settings_.updates) : 0;
    return std::min(1.0, std::max(by_updates, settings_.seconds ? Seconds() / *settings_.seconds : 0));
  }

  // 0: the lowest, 1: the highest.
  double Temperature(double place) const {
    return settings_.lowest_temperature * std::pow(settings_.highest_temperature / settings_.lowest_temperature, place);
  }

  void Update() {
    const double progress = Progress();
    const std::unique_ptr<Policy> policy = MakeMessagePassingPolicy(learner_.weights());
    const Random random = random_.Fork(kUpdates).Fork(static_cast<std::uint64_t>(updates_));
    const bool replays = settings_.replay_weight > 0 && !plans_.plans().empty();
    const int own = settings_.temperatures_per_update;
    std::vector<Lesson> lessons(static_cast<std::size_t>(replays ? own + 1 : own));
    std::vector<std::vector<Trajectory>> drawn(static_cast<std::size_t>(own));
    RunInParallel(static_cast<int>(lessons.size()), settings_.threads, [&](int i) {
      Random stream = random.Fork(static_cast<std::uint64_t>(i));
      Lesson& lesson = lessons[static_cast<std::size_t>(i)];
      const LessonSettings how{.trajectories = settings_.trajectories,
                               .recorded_share = settings_.recorded_share,
                               .most_recorded_steps = settings_.most_recorded_steps};
      // The best plans are what the sharper half of the rewards asks for.
      const double temperature = Temperature(stream.Uniform() * (i < own ? 1 : 0.5));
      const std::unique_ptr<PreparedPolicy> prepared = policy->Prepare(environment_, temperature);
      if (i < own) {
        drawn[static_cast<std::size_t>(i)] = DrawLesson(environment_, *prepared, temperature, how, stream, lesson);
        return;
      }
      std::vector<std::vector<Action>> actions;
      for (const KeptPlan& plan : plans_.plans()) actions.push_back(TrajectoryByStart(environment_, plan.assignment));
      ExampleLesson(environment_, *prepared, temperature, actions, how, stream, lesson);
    });
    for (const std::vector<Trajectory>& trajectories : drawn) {
      for (const Trajectory& trajectory : trajectories) plans_.Offer(trajectory.assignment, trajectory.makespan);
    }
    const double rate = settings_.learning_rate * (1 + (kLastLearningRate - 1) * progress);
    Teach(lessons, *objective_, settings_.replay_weight, rate, progress, learner_);
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
  Random random_;
  std::unique_ptr<Objective> objective_;
  Learner learner_;
  ReplayBuffer plans_;
  Clock::time_point begin_ = Clock::now();
  std::int64_t updates_ = 0;
};

}  // namespace

Finetuned Finetune(const Environment& environment, const Weights& start, const FinetuneSettings& settings,
                   const FinetuneObserver& observer) {
  CheckFinetuneSettings(settings);
  return Finetuning(environment, start, settings).Run(start, observer);
}

}  // namespace millrace
