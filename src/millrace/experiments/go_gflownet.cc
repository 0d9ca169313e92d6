// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go_gflownet.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "millrace/experiments/method.h"
#include "millrace/optimize/sources.h"
#include "millrace/policy/fusion_policy.h"
#include "millrace/policy/learned_policy.h"
#include "millrace/rollout/fused_sampler.h"
#include "millrace/rollout/softmax_temperature.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

constexpr std::size_t kMeasured = 16;
constexpr double kLeastDistance = 0.02;
constexpr std::int64_t kMostSamples = 1000;
constexpr double kOutOfMemory = std::numeric_limits<double>::infinity();

constexpr double kRewardTemperature = 0.02;
constexpr double kSavingStrength = 30;  // a merge that saves a tenth of a mean op is accepted 19 times in 20

// The fastest on the target of the plans it is shown, the first of equal ones; nothing while none fits in memory.
class FastestPlan {
 public:
  void Measure(std::shared_ptr<const CostedGraph> costed, Assignment assignment) {
    const double seconds = ContendedSeconds(*costed, assignment).value_or(kOutOfMemory);
    if (seconds >= least_) return;
    least_ = seconds;
    plan_ = GoPlan{std::move(costed), std::move(assignment)};
  }

  std::optional<GoPlan> Take() { return std::move(plan_); }

 private:
  double least_ = kOutOfMemory;
  std::optional<GoPlan> plan_;
};

}  // namespace

GoMethod GoGFlowNet(const SamplerSettings& settings, double seconds) {
  GoMethod method;
  method.name = "gflownet";
  method.seeded = true;
  Method asked;
  asked.name = method.name;
  asked.source = MakeGFlowNetSource(settings);
  asked.budget.samples = kMostSamples;
  asked.budget.seconds = seconds;
  asked.keep = kMeasured;
  asked.least_distance = kLeastDistance;
  method.plan = [asked](const GoRow& problem, std::uint64_t seed) -> std::optional<GoPlan> {
    Random random(seed);
    const Answer answer = Ask(asked, problem.fused, problem.fused, random);
    FastestPlan fastest;
    for (const RatedAssignment& plan : answer.plans) fastest.Measure(OwnedByRow(problem.fused), plan.assignment);
    return fastest.Take();
  };
  return method;
}

GoMethod GoFusedGFlowNet(const SamplerSettings& settings, double seconds) {
  GoMethod method;
  method.name = "gflownet-fused";
  method.seeded = true;
  const std::shared_ptr<const Policy> placing = ReadLearnedPolicy(WeightsOf({settings.weights, {}, 1}));
  method.plan = [placing, seconds](const GoRow& row, std::uint64_t seed) -> std::optional<GoPlan> {
    const auto begin = std::chrono::steady_clock::now();
    FusedSampler sampler(*row.model, MakeSavingFusionPolicy(kSavingStrength), placing, kRewardTemperature);
    const Random random(seed);
    SamplerOptions options;
    options.softmax_temperature = SoftmaxTemperature().Of(row.fused.num_groups);
    std::vector<FusedTrajectory> kept;
    const auto slower = [](const FusedTrajectory& a, const FusedTrajectory& b) {
      return a.placing.makespan < b.placing.makespan;
    };
    for (; options.first < kMostSamples; ++options.first) {
      const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (options.first > 0 &&
          spent * static_cast<double>(options.first + 1) > seconds * static_cast<double>(options.first))
        break;
      FusedTrajectory drawn = std::move(sampler.Sample(1, options, random).front());
      kept.insert(std::upper_bound(kept.begin(), kept.end(), drawn, slower), std::move(drawn));
      if (kept.size() > kMeasured) kept.pop_back();
    }
    FastestPlan fastest;
    for (FusedTrajectory& drawn : kept) {
      fastest.Measure(std::make_shared<const CostedGraph>(MakeCostedGraph(*row.model, std::move(drawn.groups))),
                      std::move(drawn.placing.assignment));
    }
    return fastest.Take();
  };
  return method;
}

}  // namespace millrace
