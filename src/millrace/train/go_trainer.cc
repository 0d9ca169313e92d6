// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go_trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/plan/hash.h"
#include "millrace/policy/sage.h"
#include "millrace/rollout/one_shot_sampler.h"
#include "millrace/rollout/parallel.h"
#include "millrace/train/plan_reward.h"
#include "millrace/train/sage_learner.h"
#include "millrace/train/training_loop.h"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

// Independent streams of one seed.
enum Stream : std::uint64_t { kWeights, kUpdates, kExperts, kValidation };

constexpr double kAdvantageLimit = 3;     // in deviations
constexpr double kLeastDeviation = 1e-4;  // of rewards: below it all samples are alike
constexpr double kUnusableRatio = 0.1;    // reference / seconds that counts for what does not fit

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string Fingerprint(const std::vector<GoProblem>& problems) {
  std::string text;
  for (const GoProblem& problem : problems) text += problem.name() + ' ' + GraphHash(problem.graph()) + ' ';
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
struct Draws {
  std::vector<OneShotDraw> samples;
  std::vector<double> seconds = {};

  const Decisions& Chosen(std::size_t at) const {
    const std::size_t iterations = samples.front().iterations.size();
    return samples[at / iterations].iterations[at % iterations];
  }
};

class GoTraining final : public TrainingLoop {
 public:
  GoTraining(const std::vector<GoProblem>& problems, const std::vector<GoProblem>& validation,
             const GoTrainerOptions& options, const std::optional<GoCheckpoint>& resume, GoObserver& observer)
      : problems_(problems),
        validation_(validation.empty() ? problems : validation),
        options_(options),
        settings_(resume ? resume->settings : options.settings),
        tasks_(TasksOf(settings_)),
        random_(resume ? resume->seed : options.seed),
        learner_(StartWeights(), {.average_decay = settings_.average_decay,
                                  .gradient_limit = settings_.gradient_limit,
                                  .threads = options.torch_threads}),
        observer_(observer) {
    if (problems.empty()) throw InvalidInput("there is nothing to train on");
    if (resume) {
      if (resume->problems != Fingerprint(problems)) {
        throw InvalidInput("a resumed training needs the very problems it was started with");
      }
      learner_.Load(resume->learner);
      state_ = *resume;
      state_.time_limit = options.time_limit.value_or(resume->time_limit);
      return;
    }
    state_.settings = settings_;
    state_.seed = options.seed;
    state_.time_limit = options.time_limit.value_or(0);
    state_.problems = Fingerprint(problems);
    state_.memories.resize(problems.size());
    for (GoMemory& memory : state_.memories) memory.best.seconds = std::numeric_limits<double>::infinity();
  }

  GoSummary Run() {
    RunToEnd({.updates = settings_.updates,
              .time_limit = state_.time_limit,
              .validate_every = settings_.validate_every,
              .seconds_before = state_.seconds,
              .checkpoint = options_.checkpoint,
              .checkpoint_seconds = options_.checkpoint_seconds});
    GoSummary summary{.updates = state_.update,
                      .evaluations = state_.evaluations,
                      .seconds = Seconds(),
                      .best_score = state_.best_score};
    for (const GoMemory& memory : state_.memories) summary.best.push_back(memory.best);
    return summary;
  }

 private:
  Weights StartWeights() const {
    if (options_.start) return *options_.start;
    Random random = random_.Fork(kWeights);
    return InitialSageWeights(random);
  }

  std::int64_t UpdatesDone() const override { return state_.update; }
  bool HasBest() const override { return !state_.best.tensors.empty(); }

  // All problems in turn, in an order that changes every round.
  std::vector<std::size_t> ProblemsOfUpdate() const {
    std::vector<std::size_t> chosen;
    const auto count = static_cast<std::int64_t>(problems_.size());
    for (std::int64_t i = 0; i < settings_.problems_per_update; ++i) {
      const std::int64_t turn = state_.update * settings_.problems_per_update + i;
      Random order = random_.Fork(kUpdates).Fork(static_cast<std::uint64_t>(turn / count));
      const std::size_t problem = DrawSome(problems_.size(), problems_.size(), order)[turn % count];
      if (std::find(chosen.begin(), chosen.end(), problem) == chosen.end()) chosen.push_back(problem);
    }
    return chosen;
  }

  // Threads may ask about different problems. Returns the evaluations it took.
  std::int64_t AskExpertsInTurn(std::size_t index) {
    GoMemory& memory = state_.memories[index];
    // Not before the policy's own draws: they may be all that is needed, and are cheap.
    if (memory.baselines.empty() || memory.searches >= settings_.expert_searches || settings_.expert_evaluations <= 0)
      return 0;
    const auto decided = [this](Task task) { return std::find(tasks_.begin(), tasks_.end(), task) != tasks_.end(); };
    Random random = random_.Fork(kExperts).Fork(index).Fork(static_cast<std::uint64_t>(memory.searches));
    ++memory.searches;
    ExpertOptions options;
    options.evaluations = settings_.expert_evaluations;
    if (state_.time_limit > 0) options.seconds = std::max(0.0, state_.time_limit - Seconds());
    if (std::isfinite(memory.best.seconds) && memory.best.decisions.Has(Task::kPlacement))
      options.start = &memory.best.decisions;
    ExpertAnswer answer = AskExperts(problems_[index], options, random);
    // What the policy does not decide keeps its default, also in the examples it is shown.
    Decisions& decisions = answer.known.decisions;
    const Decisions asked = decisions;
    if (!decided(Task::kPlacement)) decisions.device.clear();
    if (!decided(Task::kPriority)) decisions.priority.clear();
    if (!decided(Task::kFusion)) decisions.fusion.clear();
    if (!decisions.Has(Task::kPlacement) && !decisions.Has(Task::kPriority)) return answer.evaluations;
    if (decisions != asked) answer.known.seconds = problems_[index].Seconds(decisions);
    if (answer.known.seconds < memory.best.seconds) memory.best = std::move(answer.known);
    return answer.evaluations;
  }

  void Update() override {
    const Clock::time_point begin = Clock::now();
    const double progress = Progress();
    const std::vector<std::size_t> chosen = ProblemsOfUpdate();
    const Random random = random_.Fork(kUpdates).Fork(~static_cast<std::uint64_t>(state_.update));
    std::vector<std::int64_t> asked(chosen.size());
    RunInParallel(static_cast<int>(chosen.size()), options_.threads, [&](int i) {
      asked[static_cast<std::size_t>(i)] = AskExpertsInTurn(chosen[static_cast<std::size_t>(i)]);
    });
    const OneShotPolicy policy(learner_.weights());
    std::vector<PreparedOneShot> prepared;
    prepared.reserve(chosen.size());
    for (const std::size_t index : chosen) prepared.push_back(policy.Prepare(problems_[index].one_shot()));
    std::vector<Draws> drawn(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      drawn[i] = DrawAndJudge(problems_[chosen[i]], prepared[i], settings_.samples, 1, random.Fork(i));
    }
    const double rollout_seconds = SecondsSince(begin);

    report_ = {};
    std::vector<OneShotLesson> lessons(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      Random stream = random.Fork(chosen.size() + i);
      FillLesson(chosen[i], drawn[i], static_cast<double>(chosen.size()), stream, lessons[i]);
    }
    const auto falling = [progress](double from, double to) { return from + (to - from) * progress; };
    const OneShotTaught taught =
        learner_.Teach(lessons, {.passes = settings_.passes,
                                 .ratio_limit = settings_.ratio_limit,
                                 .entropy_bonus = falling(settings_.entropy_bonus, settings_.last_entropy_bonus),
                                 .imitation = falling(settings_.imitation, settings_.last_imitation),
                                 .learning_rate = falling(settings_.learning_rate, settings_.last_learning_rate)});
    ++state_.update;
    state_.evaluations += static_cast<std::int64_t>(chosen.size()) * settings_.samples * settings_.iterations;
    state_.evaluations = std::accumulate(asked.begin(), asked.end(), state_.evaluations);
    rollout_seconds_ += rollout_seconds;
    report_.update = state_.update;
    report_.evaluations = state_.evaluations;
    report_.seconds = Seconds();
    report_.best_seconds = state_.memories[chosen.front()].best.seconds;
    report_.loss = taught.loss;
    report_.entropy = taught.entropy;
    report_.example_log_probability = taught.example_log_probability;
    report_.gradient_norm = taught.gradient_norm;
    report_.rollout_share = rollout_seconds_ / SecondsHere();
    observer_.OnUpdate(report_);
  }

  Draws DrawAndJudge(const GoProblem& problem, const PreparedOneShot& policy, int count, double softmax_temperature,
                     const Random& random) const {
    OneShotOptions options{.iterations = settings_.iterations,
                           .softmax_temperature = softmax_temperature,
                           .tasks = {},
                           .threads = options_.threads};
    for (const Task task : tasks_) options.tasks[static_cast<std::size_t>(task)] = true;
    Draws draws{.samples = DrawOneShot(problem.one_shot(), policy, count, options, random)};
    draws.seconds.resize(draws.samples.size() * static_cast<std::size_t>(settings_.iterations));
    RunInParallel(static_cast<int>(draws.seconds.size()), options_.threads, [&](int i) {
      StopIfInterrupted();
      const auto at = static_cast<std::size_t>(i);
      draws.seconds[at] = problem.Seconds(draws.Chosen(at));
    });
    return draws;
  }

  // Judges what was drawn for one problem, remembers the best of it, and makes a lesson of a part.
  void FillLesson(std::size_t index, const Draws& draws, double problems, Random& random, OneShotLesson& lesson) {
    const GoProblem& problem = problems_[index];
    GoMemory& memory = state_.memories[index];
    const auto iterations = static_cast<std::size_t>(settings_.iterations);
    const std::size_t all = draws.seconds.size();
    const auto samples = static_cast<double>(draws.samples.size());
    std::vector<double> rewards(all);
    std::vector<double> means(iterations, 0);
    double usable = 0, last_seconds = 0, last_usable = 0;
    for (std::size_t at = 0; at < all; ++at) {
      const double seconds = draws.seconds[at];
      rewards[at] = PlanReward(seconds, problem.reference_seconds());
      means[at % iterations] += rewards[at] / samples;
      if (!std::isfinite(seconds)) continue;
      usable += 1;
      if (at % iterations + 1 == iterations) {
        last_usable += 1;
        last_seconds += seconds;
      }
      if (seconds < memory.best.seconds) memory.best = {draws.Chosen(at), seconds};
    }
    if (last_usable > 0) report_.mean += problem.reference_seconds() * last_usable / last_seconds / problems;
    if (std::isfinite(memory.best.seconds))
      report_.best += problem.reference_seconds() / memory.best.seconds / problems;
    report_.usable += usable / static_cast<double>(all) / problems;

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

    lesson.problem = &problem.one_shot();
    lesson.features = &problem.features();
    lesson.window = PlaceWindow(problem.one_shot().num_rows(), settings_.most_rows, random.Uniform());
    const auto observe = [&](std::size_t at) {
      auto before = std::make_shared<DecisionObservation>();
      ObserveDecisions(problem.one_shot(), at % iterations == 0 ? Decisions{} : draws.Chosen(at - 1), *before);
      return before;
    };
    for (const std::size_t at : DrawSome(all, static_cast<std::size_t>(settings_.most_steps), random)) {
      const double scaled = rewards[at] / std::max(memory.deviation, kLeastDeviation);
      lesson.advantages.push_back(std::clamp(scaled, -kAdvantageLimit, kAdvantageLimit));
      lesson.drawn.push_back(MakeOneShotStep(problem.one_shot(), observe(at), draws.Chosen(at)));
    }
    if (!std::isfinite(memory.best.seconds)) return;
    for (const std::size_t at : DrawSome(all, static_cast<std::size_t>(settings_.examples), random)) {
      lesson.examples.push_back(MakeOneShotStep(problem.one_shot(), observe(at), memory.best.decisions));
    }
  }

  void Validate() override {
    Weights average = learner_.average();
    const OneShotPolicy policy(average);
    GoValidation validation;
    const auto last = static_cast<std::size_t>(settings_.iterations) - 1;
    for (std::size_t i = 0; i < validation_.size(); ++i) {
      StopIfInterrupted();
      const GoProblem& problem = validation_[i];
      const auto ratio = [&](const Draws& draws, std::size_t sample) {
        const double seconds = draws.seconds[sample * (last + 1) + last];
        return std::isfinite(seconds) ? problem.reference_seconds() / seconds : kUnusableRatio;
      };
      const PreparedOneShot prepared = policy.Prepare(problem.one_shot());
      const Random random = random_.Fork(kValidation).Fork(i);
      const double greedy = ratio(DrawAndJudge(problem, prepared, 1, 0, random), 0);
      const Draws draws = DrawAndJudge(problem, prepared, settings_.validation_samples, 1, random);
      double best = greedy;
      for (std::size_t sample = 0; sample < draws.samples.size(); ++sample) {
        best = std::max(best, ratio(draws, sample));
        validation.mean += std::log(ratio(draws, sample)) / static_cast<double>(draws.samples.size());
      }
      validation.greedy += std::log(greedy);
      validation.best += std::log(best);
    }
    const auto count = static_cast<double>(validation_.size());
    validation = {.best = std::exp(validation.best / count),
                  .mean = std::exp(validation.mean / count),
                  .greedy = std::exp(validation.greedy / count)};
    const bool kept = !HasBest() || validation.best > state_.best_score;
    if (kept) {
      average.metadata["trained_updates"] = std::to_string(state_.update);
      average.metadata["training_seed"] = std::to_string(state_.seed);
      state_.best = std::move(average);
      state_.best_score = validation.best;
      SaveBest();
    }
    report_.update = state_.update;
    report_.seconds = Seconds();
    observer_.OnValidation(report_, validation, kept);
  }

  void SaveBest() const override {
    if (HasBest()) WriteWeights(options_.output, state_.best);
  }

  void SaveCheckpoint() override {
    state_.learner = learner_.Save();
    state_.seconds = Seconds();
    WriteGoCheckpoint(options_.checkpoint, state_);
  }

  const std::vector<GoProblem>& problems_;
  const std::vector<GoProblem>& validation_;
  const GoTrainerOptions& options_;
  GoSettings settings_;
  std::vector<Task> tasks_;
  Random random_;
  SageLearner learner_;
  GoObserver& observer_;
  GoCheckpoint state_;  // its learner is filled when it is written
  GoReport report_;
  double rollout_seconds_ = 0;
};

}  // namespace

GoSummary TrainGo(const std::vector<GoProblem>& problems, const std::vector<GoProblem>& validation,
                  const GoTrainerOptions& options, const std::optional<GoCheckpoint>& resume, GoObserver& observer) {
  return GoTraining(problems, validation, options, resume, observer).Run();
}

}  // namespace millrace
