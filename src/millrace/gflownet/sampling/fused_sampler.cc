// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/fused_sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "millrace/cost/steering.h"
#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/backward.h"
#include "millrace/gflownet/environment/merge_observation.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

constexpr std::uint64_t kFusingStream = 2;
constexpr std::uint64_t kPlacingStream = 3;
constexpr std::size_t kEnvironmentsKept = 64;

// log 1 / (1 + exp(-x)), without overflow.
double LogSigmoid(double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }

}  // namespace

// Answers the offers of one walk after the other, for one thread.
class FusedSampler::Fuser {
 public:
  explicit Fuser(const FusedSampler& sampler)
      : sampler_(sampler), state_(sampler.problem_), observer_(sampler.problem_) {}

  template <typename Answer>
  FusedTrajectory Walk(Answer answer) {
    FusedTrajectory trajectory;
    state_.Clear();
    while (!state_.done()) {
      observer_.Observe(state_, observation_);
      const double logit = sampler_.fusing_->Logit(observation_, sampler_.temperature_);
      const bool accepted = answer(state_.answers().size(), logit);
      trajectory.log_fusing += LogSigmoid(accepted ? logit : -logit);
      if (accepted) {
        state_.Accept();
      } else {
        state_.Decline();
      }
    }
    trajectory.answers = state_.answers();
    trajectory.groups = state_.groups();
    return trajectory;
  }

 private:
  const FusedSampler& sampler_;
  FusionState state_;
  MergeObserver observer_;
  MergeObservation observation_;
};

FusedSampler::FusedSampler(const CostModel& model, std::shared_ptr<const FusionPolicy> fusing,
                           std::shared_ptr<const Policy> placing, double temperature)
    : problem_(model),
      fusing_(std::move(fusing)),
      placing_(std::move(placing)),
      temperature_(temperature),
      environments_(model, kEnvironmentsKept) {
  CheckTemperature(temperature);
  scale_ = RewardScaleOf(FusedEnvironment(model, UnfusedGroups(model)).environment);
}

double FusedSampler::PlacingTemperature(const Environment& environment) const {
  return MatchingTemperature(RewardScaleOf(environment), scale_, temperature_);
}

std::unique_ptr<PreparedPolicy> FusedSampler::Prepare(const Environment& environment) const {
  return placing_->Prepare(environment, PlacingTemperature(environment));
}

FusedSampler::LogAnswers FusedSampler::Answer(const MergeObservation& offered) const {
  const double logit = fusing_->Logit(offered, temperature_);
  return {LogSigmoid(logit), LogSigmoid(-logit)};
}

std::vector<FusedTrajectory> FusedSampler::Sample(int count, const SamplerOptions& options, const Random& random) {
  std::vector<FusedTrajectory> trajectories(static_cast<std::size_t>(count));
  const int threads = std::clamp(options.threads, 1, std::max(1, count));
  RunInParallel(threads, threads, [&](int thread) {
    Fuser fuser(*this);
    const auto bound = [count, threads](int t) {
      return static_cast<int>(static_cast<std::int64_t>(count) * t / threads);
    };
    for (int i = bound(thread); i < bound(thread + 1); ++i) {
      StopIfInterrupted();
      Random stream = random.Fork(static_cast<std::uint64_t>(options.first + i)).Fork(kFusingStream);
      trajectories[static_cast<std::size_t>(i)] = fuser.Walk([&options, &stream](std::size_t, double logit) {
        const double point = stream.Uniform();
        if (options.epsilon > 0 && stream.Uniform() < options.epsilon) return point < 0.5;
        return point < std::exp(LogSigmoid(logit / options.softmax_temperature));
      });
    }
  });

  std::map<std::vector<char>, std::vector<std::size_t>> by_answers;
  for (std::size_t i = 0; i < trajectories.size(); ++i) by_answers[trajectories[i].answers].push_back(i);
  std::vector<const std::vector<std::size_t>*> alike;
  alike.reserve(by_answers.size());
  for (const auto& entry : by_answers) alike.push_back(&entry.second);
  const auto different = static_cast<int>(alike.size());
  const bool one_each = different >= options.threads;
  RunInParallel(different, one_each ? options.threads : 1, [&](int fusion) {
    const std::vector<std::size_t>& members = *alike[static_cast<std::size_t>(fusion)];
    const auto fused = environments_.For(trajectories[members.front()].groups);
    SamplerOptions placing = options;
    placing.first = 0;
    placing.threads = one_each ? 1 : options.threads;
    const Random stream = random.Fork(static_cast<std::uint64_t>(options.first) + members.front()).Fork(kPlacingStream);
    std::vector<Trajectory> placed = SampleTrajectories(fused->environment, *Prepare(fused->environment),
                                                        static_cast<int>(members.size()), placing, stream, nullptr);
    for (std::size_t k = 0; k < members.size(); ++k) trajectories[members[k]].placing = std::move(placed[k]);
  });
  return trajectories;
}

std::optional<FusedTrajectory> FusedSampler::DrawBackwards(const Plan& plan, const Random& random) {
  const std::optional<std::vector<char>> answers = AnswersFor(problem_, plan.groups);
  if (!answers) return std::nullopt;
  FusedTrajectory trajectory = Fuser(*this).Walk([&answers](std::size_t i, double) { return (*answers)[i] != 0; });

  // By first op: the number that its group has in the trajectory.
  std::vector<int> number_of(static_cast<std::size_t>(problem_.graph().num_ops()));
  for (std::size_t g = 0; g < trajectory.groups.size(); ++g)
    number_of[static_cast<std::size_t>(trajectory.groups[g].front())] = static_cast<int>(g);
  const auto number = [&](std::size_t group) {
    return number_of[static_cast<std::size_t>(plan.groups[group].front())];
  };
  Assignment assignment;
  assignment.placement.resize(plan.placement.size());
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    assignment.placement[static_cast<std::size_t>(number(g))] = plan.placement[g];
  for (const int group : plan.sequence) assignment.sequence.push_back(number(static_cast<std::size_t>(group)));

  const auto fused = environments_.For(trajectory.groups);
  Random stream = random.Fork(kPlacingStream);
  const std::vector<std::vector<Action>> actions{DrawTrajectory(fused->costed, assignment, stream)};
  trajectory.placing =
      std::move(RescoreTrajectories(fused->environment, *Prepare(fused->environment), actions, {}, random, nullptr)[0]);
  return trajectory;
}

}  // namespace millrace
