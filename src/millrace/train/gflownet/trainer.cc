// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/environment/backward.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/gflownet/sampling/softmax_temperature.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/plan/hash.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/train/gflownet/batch.h"
#include "millrace/train/gflownet/demonstrations.h"
#include "millrace/train/gflownet/exact_batch.h"
#include "millrace/train/gflownet/learner.h"
#include "millrace/train/gflownet/update.h"

namespace millrace {
namespace {

// Independent streams of one seed.
enum TrainingStream : std::uint64_t { kWeights, kDemonstrations, kUpdates };

// Independent streams of one problem.
enum ProblemStream : std::uint64_t { kPlans, kWindows };

// Plans drawn of a problem whose best is opened in windows.
constexpr int kPlansBeforeWindows = 4;

double Falling(double from, double to, double progress) { return from + (to - from) * progress; }

std::string Fingerprint(const std::vector<ComputationGraph>& graphs) {
  std::string text;
  for (const ComputationGraph& graph : graphs) {
    if (!text.empty()) text += ' ';
    text += GraphHash(graph);
  }
  return text;
}

class GFlowNetTraining final : public TrainingLoop {
 public:
  GFlowNetTraining(const GFlowNetTrainerOptions& options, const std::optional<Checkpoint>& resume,
                   GFlowNetObserver& observer)
      : TrainingLoop(options, kGFlowNetCheckpoint,
                     {.settings = SettingsJson(options.settings), .trained_on = Fingerprint(options.graphs)}, resume),
        options_(options),
        settings_(ParseSettings<GFlowNetSettings>(state().settings)),
        random_(state().seed),
        objective_(MakeObjective(settings_.objective, settings_.objective_settings)),
        problems_(settings_.problems, options.graphs),
        demonstrations_(problems_, settings_.demonstration_problems,
                        static_cast<std::int64_t>(settings_.demonstration_visits), random_.Fork(kDemonstrations)),
        learner_(StartWeights(), {.log_partition = objective_->wants_log_partition(),
                                  .entropy = objective_->wants_entropy(),
                                  .average_decay = settings_.average_decay,
                                  .gradient_limit = settings_.gradient_limit,
                                  .threads = options.torch_threads,
                                  .team = &team()}),
        grid_(settings_.validation == "grid" ? MakeValidationGrid(settings_.validation_graphs)
                                             : std::vector<ValidationCell>()),
        exact_grid_(settings_.validation == "exactness"
                        ? MakeExactValidation(problems_, settings_.exact, settings_.validation_graphs)
                        : std::vector<ExactProblem>()),
        observer_(observer) {}

  TrainingSummary Run() { return RunToEnd(settings_.updates, settings_.validate_every); }

 private:
  Learner& learner() override { return learner_; }

  Weights StartWeights() const {
    if (options_.start) CheckEncoder(*options_.start);
    Weights weights = options_.start ? *options_.start : UntrainedWeights();
    if (settings_.outlook != "none") LookAhead(weights);
    if (!options_.start) ScalePriors(settings_.prior_scale, weights);
    return weights;
  }

  Weights UntrainedWeights() const {
    Random random = random_.Fork(kWeights);
    if (settings_.encoder != "topoformer") return InitialMessagePassingWeights(random);
    return InitialTopoformerWeights(Encodes::kState, random,
                                    settings_.backward == "learned" ? Backward::kLearned : Backward::kUniform);
  }

  // Throws InvalidInput where the weights to start from are of another network than the settings.
  void CheckEncoder(const Weights& start) const {
    const bool learned = start.metadata.contains("backward");
    const auto stated = start.metadata.find("architecture");
    if (stated != start.metadata.end() && stated->second == settings_.encoder &&
        learned == (settings_.backward == "learned"))
      return;
    throw InvalidInput("the weights to start from are of another network than the settings ask for: encoder " +
                       settings_.encoder + ", backward " + settings_.backward);
  }

  // What sampled batches and demonstrations have in common.
  BatchSettings HowToRecord() const {
    return {.trajectories = settings_.trajectories,
            .recorded_share = settings_.recorded_share,
            .most_recorded_steps = settings_.most_recorded_steps,
            .reward = RewardFormNamed(settings_.reward),
            .states = settings_.encoder == "topoformer",
            .removals = settings_.backward == "learned"};
  }

  // The batches of one problem whose flow is worked out, at several temperatures.
  std::vector<TrajectoryBatch> SampleExactly(Random random) const {
    const ExactProblem exact = DrawExactProblem(problems_, settings_.exact, random);
    BatchSettings how = HowToRecord();
    how.epsilon = settings_.epsilon;
    std::vector<TrajectoryBatch> batches(static_cast<std::size_t>(settings_.exact.temperatures));
    const double range = settings_.highest_temperature / settings_.lowest_temperature;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const double place = (static_cast<double>(i) + random.Uniform()) / static_cast<double>(batches.size());
      MakeExactBatch(exact.problem->environment(), exact.states, settings_.lowest_temperature * std::pow(range, place),
                     how, random.Fork(i), batches[i]);
    }
    return batches;
  }

  // The batches of one problem, sampled from the policy.
  std::vector<TrajectoryBatch> Sample(const Policy& policy, Random random) const {
    if (objective_->wants_exact_flow()) return SampleExactly(random);
    const bool in_windows = settings_.window_share > 0 && random.Uniform() < settings_.window_share;
    const std::unique_ptr<Problem> problem =
        in_windows ? problems_.Draw(settings_.most_window_ops, random) : problems_.Draw(random);
    const Environment& environment = problem->environment();
    const double temperature = LogUniform(settings_.lowest_temperature, settings_.highest_temperature, random);
    BatchSettings how = HowToRecord();
    how.epsilon = settings_.epsilon;
    const std::unique_ptr<PreparedPolicy> prepared = policy.Prepare(environment, temperature);
    if (in_windows) return SampleWindows(environment, *prepared, temperature, how, random);
    std::vector<TrajectoryBatch> batches(1);
    SampleBatch(environment, *prepared, temperature, how, random, batches.front());
    return batches;
  }

  // Windows of a plan, each of the best plan that the ones before have left.
  std::vector<TrajectoryBatch> SampleWindows(const Environment& environment, const PreparedPolicy& policy,
                                             double temperature, const BatchSettings& how, Random random) const {
    const auto better = [](const Trajectory& a, const Trajectory& b) { return a.makespan < b.makespan; };
    const auto groups = static_cast<std::size_t>(environment.num_groups());
    const SamplerOptions sharp{.softmax_temperature = SoftmaxTemperature().Of(
                                   environment.num_groups(), CommunicationRatio(environment.costed()))};
    std::vector<Trajectory> drawn =
        SampleTrajectories(environment, policy, kPlansBeforeWindows, sharp, random.Fork(kPlans), nullptr);
    Trajectory best = *std::min_element(drawn.begin(), drawn.end(), better);
    std::vector<TrajectoryBatch> batches(static_cast<std::size_t>(settings_.windows));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const Window window = PlaceWindow(DrawWindowSteps(settings_.window_sizes, groups, random), groups, random);
      drawn = SampleWindowBatch(environment, policy, temperature, how, best.assignment, window,
                                random.Fork(kWindows).Fork(i), batches[i]);
      Trajectory& found = *std::min_element(drawn.begin(), drawn.end(), better);
      if (better(found, best)) best = std::move(found);
    }
    return batches;
  }

  // Ways to build a plan to imitate.
  void Demonstrate(const Policy& policy, Random random, TrajectoryBatch& batch) {
    const Demonstration& demonstration =
        demonstrations_.Get(static_cast<int>(random.Below(static_cast<std::uint64_t>(demonstrations_.size()))));
    const Environment& environment = demonstration.problem->environment();
    const double temperature =
        LogUniform(settings_.lowest_temperature, settings_.highest_demonstration_temperature, random);
    std::vector<std::vector<Action>> actions;
    actions.reserve(static_cast<std::size_t>(settings_.demonstration_trajectories));
    for (int i = 0; i < settings_.demonstration_trajectories; ++i) {
      actions.push_back(DrawTrajectory(demonstration.problem->costed(), demonstration.assignment, random));
    }
    MakeDemonstrationBatch(environment, *policy.Prepare(environment, temperature), temperature, actions, HowToRecord(),
                           random, batch);
  }

  void Update() override {
    const Deadline clock;
    const double progress = Progress();
    const double demonstration_weight =
        Falling(settings_.demonstration_weight, settings_.last_demonstration_weight, progress);
    const bool demonstrated = demonstration_weight > 0;
    const bool only_demonstrations = demonstrated && progress < settings_.demonstration_progress;
    const int sampled = only_demonstrations ? 0 : settings_.graphs_per_update;
    const int demonstrations = only_demonstrations ? settings_.graphs_per_update : demonstrated ? 1 : 0;
    const std::unique_ptr<Policy> policy = MakeLearnedPolicy(learner_.weights());
    const Random random = random_.Fork(kUpdates).Fork(static_cast<std::uint64_t>(state().update));
    std::vector<UpdatePart> by_problem(static_cast<std::size_t>(sampled + demonstrations));
    RunInParallel(sampled + demonstrations, options_.threads, [&](int i) {
      UpdatePart& own = by_problem[static_cast<std::size_t>(i)];
      if (!team().Owns(static_cast<std::size_t>(i))) return;
      const Random stream = random.Fork(static_cast<std::uint64_t>(i));
      if (i < sampled) {
        own = Sample(*policy, stream);
      } else {
        own.resize(1);
        Demonstrate(*policy, stream, own.front());
      }
    });
    const double rollout_seconds = clock.Elapsed();

    report_ = {};
    report_.learning_rate = Falling(settings_.learning_rate, settings_.last_learning_rate, progress);
    const UpdateResult result =
        UpdateLearner(by_problem, *objective_, demonstration_weight, report_.learning_rate, progress, team(), learner_);
    report_.loss = result.loss;
    report_.gradient_norm = result.gradient_norm;
    report_.demonstration_log_probability = result.demonstration_log_probability;
    ReportSampled(by_problem, rollout_seconds);
    rollout_seconds_ += rollout_seconds;
    learner_seconds_ += clock.Elapsed() - rollout_seconds;
    ++updates_here_;
  }

  void ReportSampled(const std::vector<UpdatePart>& by_problem, double seconds) {
    struct Sums {
      double plans = 0, batches = 0, mean = 0, best = 0;
    };
    std::vector<Sums> by_part(by_problem.size());
    for (std::size_t i = 0; i < by_problem.size(); ++i) {
      for (const TrajectoryBatch& batch : by_problem[i]) {
        by_part[i].plans += static_cast<double>(batch.sampled.log_reward.size());
        if (batch.demonstration) continue;
        by_part[i].batches += 1;
        by_part[i].mean += batch.mean_ratio;
        by_part[i].best += batch.best_ratio;
      }
    }
    team().Share(by_part);
    Sums sums;
    for (const Sums& part : by_part) {
      sums.plans += part.plans;
      sums.batches += part.batches;
      sums.mean += part.mean;
      sums.best += part.best;
    }
    report_.mean = sums.batches > 0 ? sums.mean / sums.batches : 0;
    report_.best = sums.batches > 0 ? sums.best / sums.batches : 0;
    report_.plans_per_second = sums.plans / seconds;
  }

  void ReportUpdate() override {
    const double spent = SecondsHere();
    report_.update = state().update;
    report_.seconds = Seconds();
    report_.updates_per_second = static_cast<double>(updates_here_) / spent;
    report_.rollout_share = rollout_seconds_ / spent;
    report_.learner_share = learner_seconds_ / spent;
    observer_.OnUpdate(report_);
  }

  double Validate(const Weights& average) override {
    if (settings_.validation == "exactness") return ValidateExactness(average);
    scores_ = millrace::Validate(*MakeLearnedPolicy(average), grid_, settings_.validation_temperatures,
                                 settings_.validation_samples, options_.threads);
    return Overall(scores_).resampled;
  }

  double ValidateExactness(const Weights& average) {
    exactness_ = ScoreExactness(*MakeLearnedPolicy(average), exact_grid_, settings_.validation_temperatures,
                                RewardFormNamed(settings_.reward), options_.threads);
    double sum = 0;
    for (const ExactnessScore& score : exactness_) sum += score.mean;
    return 1 - sum / static_cast<double>(exactness_.size());
  }

  void ReportValidation(bool kept) override {
    report_.update = state().update;
    report_.seconds = Seconds();
    if (settings_.validation == "exactness") {
      observer_.OnExactness(report_, exactness_, kept);
      return;
    }
    observer_.OnValidation(report_, scores_, kept);
  }

  // Weights without a "reward" were trained by the size-scaled one.
  void Describe(std::map<std::string, std::string>& metadata) const override {
    metadata["lowest_temperature"] = fmt::format("{}", settings_.lowest_temperature);
    metadata["highest_temperature"] = fmt::format("{}", settings_.highest_temperature);
    metadata.erase("reward");
    metadata.erase("prior_scale");
    if (settings_.prior_scale != 1) metadata["prior_scale"] = fmt::format("{}", settings_.prior_scale);
    if (RewardFormNamed(settings_.reward) != RewardForm::kSizeScaled) metadata["reward"] = settings_.reward;
  }

  const GFlowNetTrainerOptions& options_;
  GFlowNetSettings settings_;
  Random random_;
  std::unique_ptr<Objective> objective_;
  ProblemSource problems_;
  DemonstrationPool demonstrations_;
  GFlowNetLearner learner_;
  std::vector<ValidationCell> grid_;
  std::vector<ExactProblem> exact_grid_;
  GFlowNetObserver& observer_;
  GFlowNetReport report_;
  std::vector<ValidationScore> scores_;  // of the last validation
  std::vector<ExactnessScore> exactness_;
  double rollout_seconds_ = 0;
  double learner_seconds_ = 0;
  std::int64_t updates_here_ = 0;
};

}  // namespace

const CheckpointKind kGFlowNetCheckpoint = {
    .format = "millrace.checkpoint", .trained_on = "graphs", .check = [](const Checkpoint& checkpoint) {
      ParseSettings<GFlowNetSettings>(checkpoint.settings);
    }};

TrainingSummary TrainGFlowNet(const GFlowNetTrainerOptions& options, const std::optional<Checkpoint>& resume,
                              GFlowNetObserver& observer) {
  return GFlowNetTraining(options, resume, observer).Run();
}

}  // namespace millrace
