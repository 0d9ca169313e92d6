// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "millrace/env/backward.h"
#include "millrace/errors/errors.h"
#include "millrace/plan/hash.h"
#include "millrace/policy/learned_policy.h"
#include "millrace/policy/message_passing.h"
#include "millrace/policy/topoformer.h"
#include "millrace/rollout/parallel.h"
#include "millrace/train/experts.h"
#include "millrace/train/learner.h"
#include "millrace/train/lesson.h"
#include "millrace/train/training_loop.h"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

// Independent streams of one seed.
enum Stream : std::uint64_t { kWeights, kExperts, kUpdates };

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double LogUniform(double low, double high, Random& random) {
  return low * std::exp(random.Uniform() * std::log(high / low));
}

std::string Fingerprint(const std::vector<ComputationGraph>& graphs) {
  std::string text;
  for (const ComputationGraph& graph : graphs) {
    if (!text.empty()) text += ' ';
    text += GraphHash(graph);
  }
  return text;
}

class Training final : public TrainingLoop {
 public:
  Training(const TrainerOptions& options, const std::optional<Checkpoint>& resume, TrainingObserver& observer)
      : options_(options),
        settings_(resume ? resume->settings : options.settings),
        random_(resume ? resume->seed : options.seed),
        objective_(MakeObjective(settings_.objective, settings_.objective_settings)),
        problems_(settings_.problems, options.graphs),
        experts_(problems_, settings_.expert_problems, static_cast<std::int64_t>(settings_.expert_visits),
                 random_.Fork(kExperts)),
        learner_(StartWeights(), LearnerSettings{.log_partition = objective_->wants_log_partition(),
                                                 .entropy = objective_->wants_entropy(),
                                                 .average_decay = settings_.average_decay,
                                                 .gradient_limit = settings_.gradient_limit,
                                                 .threads = options.torch_threads}),
        grid_(MakeValidationGrid(settings_.validation_graphs)),
        observer_(observer) {
    state_.settings = settings_;
    state_.seed = options.seed;
    state_.time_limit = options.time_limit.value_or(0);
    state_.graphs = Fingerprint(options.graphs);
    if (!resume) return;
    if (resume->graphs != state_.graphs) {
      throw InvalidInput("--graphs: a resumed training needs the very graphs it was started with");
    }
    learner_.Load(resume->learner);
    const double time_limit = options.time_limit.value_or(resume->time_limit);
    state_ = *resume;
    state_.time_limit = time_limit;
  }

  TrainingSummary Run() {
    RunToEnd({.updates = settings_.updates,
              .time_limit = state_.time_limit,
              .validate_every = settings_.validate_every,
              .seconds_before = state_.seconds,
              .checkpoint = options_.checkpoint,
              .checkpoint_seconds = options_.checkpoint_seconds});
    return {.updates = state_.update, .seconds = Seconds(), .best_score = state_.best_score};
  }

 private:
  Weights StartWeights() const {
    if (options_.start) {
      MatchesEncoder(*options_.start);
      return *options_.start;
    }
    Random random = random_.Fork(kWeights);
    if (settings_.encoder != "topoformer") return InitialMessagePassingWeights(random);
    return InitialTopoformerWeights(Encodes::kState, random,
                                    settings_.backward == "learned" ? Backward::kLearned : Backward::kUniform);
  }

  // Throws InvalidInput where the weights to start from are of another network than the settings.
  void MatchesEncoder(const Weights& start) const {
    const bool learned = start.metadata.contains("backward");
    const auto stated = start.metadata.find("architecture");
    if (stated != start.metadata.end() && stated->second == settings_.encoder &&
        learned == (settings_.backward == "learned"))
      return;
    throw InvalidInput("the weights to start from are of another network than the settings ask for: encoder " +
                       settings_.encoder + ", backward " + settings_.backward);
  }

  std::int64_t UpdatesDone() const override { return state_.update; }
  bool HasBest() const override { return !state_.best.tensors.empty(); }

  // The lessons of one problem, drawn by the policy.
  void DrawOwn(const Policy& policy, Random random, Lesson& lesson) const {
    const std::unique_ptr<Problem> problem = problems_.Draw(random);
    const Environment& environment = problem->environment();
    const double temperature = LogUniform(settings_.lowest_temperature, settings_.highest_temperature, random);
    DrawLesson(environment, *policy.Prepare(environment, temperature), temperature,
               {.trajectories = settings_.trajectories,
                .recorded_share = settings_.recorded_share,
                .most_recorded_steps = settings_.most_recorded_steps,
                .epsilon = settings_.epsilon,
                .states = settings_.encoder == "topoformer",
                .removals = settings_.backward == "learned"},
               random, lesson);
  }

  // Ways to build an expert's plan.
  void DrawExpert(const Policy& policy, Random random, Lesson& lesson) {
    const Expert& expert = experts_.Get(static_cast<int>(random.Below(static_cast<std::uint64_t>(experts_.size()))));
    const Environment& environment = expert.problem->environment();
    const double temperature = LogUniform(settings_.lowest_temperature, settings_.highest_expert_temperature, random);
    std::vector<std::vector<Action>> actions;
    actions.reserve(static_cast<std::size_t>(settings_.expert_trajectories));
    for (int i = 0; i < settings_.expert_trajectories; ++i) {
      actions.push_back(DrawTrajectory(expert.problem->costed(), expert.assignment, random));
    }
    ExampleLesson(environment, *policy.Prepare(environment, temperature), temperature, actions,
                  {.recorded_share = settings_.recorded_share,
                   .most_recorded_steps = settings_.most_recorded_steps,
                   .states = settings_.encoder == "topoformer",
                   .removals = settings_.backward == "learned"},
                  random, lesson);
  }

  void Update() override {
    const Clock::time_point begin = Clock::now();
    const double progress = Progress();
    const double expert_weight =
        settings_.expert_weight + (settings_.last_expert_weight - settings_.expert_weight) * progress;
    const bool with_expert = expert_weight > 0;
    const bool only_experts = with_expert && progress < settings_.expert_progress;
    const int own = only_experts ? 0 : settings_.graphs_per_update;
    const int experts = only_experts ? settings_.graphs_per_update : with_expert ? 1 : 0;
    const std::unique_ptr<Policy> policy = MakeLearnedPolicy(learner_.weights());
    const Random random = random_.Fork(kUpdates).Fork(static_cast<std::uint64_t>(state_.update));
    std::vector<Lesson> lessons(static_cast<std::size_t>(own + experts));
    RunInParallel(own + experts, options_.threads, [&](int i) {
      Lesson& lesson = lessons[static_cast<std::size_t>(i)];
      const Random stream = random.Fork(static_cast<std::uint64_t>(i));
      if (i < own) {
        DrawOwn(*policy, stream, lesson);
      } else {
        DrawExpert(*policy, stream, lesson);
      }
    });
    const double rollout_seconds = SecondsSince(begin);

    report_ = {};
    report_.learning_rate =
        settings_.learning_rate + (settings_.last_learning_rate - settings_.learning_rate) * progress;
    const Taught taught = Teach(lessons, *objective_, expert_weight, report_.learning_rate, progress, learner_);
    report_.loss = taught.loss;
    report_.gradient_norm = taught.gradient_norm;
    report_.expert_log_probability = taught.example_log_probability;
    ++state_.update;
    Report(lessons, own, rollout_seconds, SecondsSince(begin));
  }

  void Report(const std::vector<Lesson>& lessons, int own, double rollout_seconds, double seconds) {
    rollout_seconds_ += rollout_seconds;
    learner_seconds_ += seconds - rollout_seconds;
    ++updates_here_;
    report_.update = state_.update;
    report_.seconds = Seconds();
    double plans = 0;
    for (const Lesson& lesson : lessons) {
      plans += static_cast<double>(lesson.drawn.log_reward.size());
      if (lesson.example) continue;
      report_.mean += lesson.mean_ratio / own;
      report_.best += lesson.best_ratio / own;
    }
    const double spent = SecondsHere();
    report_.plans_per_second = plans / rollout_seconds;
    report_.updates_per_second = static_cast<double>(updates_here_) / spent;
    report_.rollout_share = rollout_seconds_ / spent;
    report_.learner_share = learner_seconds_ / spent;
    observer_.OnUpdate(report_);
  }

  void Validate() override {
    Weights average = learner_.average();
    const std::unique_ptr<Policy> policy = MakeLearnedPolicy(average);
    const std::vector<ValidationScore> scores = millrace::Validate(*policy, grid_, settings_.validation_temperatures,
                                                                   settings_.validation_samples, options_.threads);
    const double score = Overall(scores).best;
    const bool best = !HasBest() || score > state_.best_score;
    if (best) {
      average.metadata["trained_updates"] = std::to_string(state_.update);
      average.metadata["training_seed"] = std::to_string(state_.seed);
      average.metadata["lowest_temperature"] = fmt::format("{}", settings_.lowest_temperature);
      average.metadata["highest_temperature"] = fmt::format("{}", settings_.highest_temperature);
      state_.best = std::move(average);
      state_.best_score = score;
      SaveBest();
    }
    report_.update = state_.update;
    report_.seconds = Seconds();
    observer_.OnValidation(report_, scores, best);
  }

  void SaveBest() const override {
    if (HasBest()) WriteWeights(options_.output, state_.best);
  }

  void SaveCheckpoint() override {
    state_.learner = learner_.Save();
    state_.seconds = Seconds();
    WriteCheckpoint(options_.checkpoint, state_);
  }

  const TrainerOptions& options_;
  TrainingSettings settings_;
  Random random_;
  std::unique_ptr<Objective> objective_;
  ProblemSource problems_;
  ExpertPool experts_;
  Learner learner_;
  std::vector<ValidationCell> grid_;
  TrainingObserver& observer_;
  Checkpoint state_;  // its learner is filled when it is written
  UpdateReport report_;
  double rollout_seconds_ = 0;
  double learner_seconds_ = 0;
  std::int64_t updates_here_ = 0;
};

}  // namespace

TrainingSummary Train(const TrainerOptions& options, const std::optional<Checkpoint>& resume,
                      TrainingObserver& observer) {
  return Training(options, resume, observer).Run();
}

}  // namespace millrace
