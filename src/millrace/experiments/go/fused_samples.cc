// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/fused_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "millrace/gflownet/policy/fusion_policy.h"
#include "millrace/gflownet/sampling/fused_sampler.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

constexpr double kSavingStrength = 30;  // a merge that saves a tenth of a mean op is accepted 19 times in 20

// The best by the proxy, ascending.
class BestTrajectories {
 public:
  explicit BestTrajectories(std::size_t most) : most_(most) {}

  void Take(FusedTrajectory drawn) {
    const auto faster = [](const FusedTrajectory& a, const FusedTrajectory& b) {
      return a.placing.makespan < b.placing.makespan;
    };
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), drawn, faster), std::move(drawn));
    if (kept_.size() > most_) kept_.pop_back();
  }

  std::vector<FusedTrajectory>& kept() { return kept_; }

 private:
  std::size_t most_;
  std::vector<FusedTrajectory> kept_;
};

// Draws for so many seconds at each of the planner's temperatures in turn.
BestTrajectories DrawFor(const GoRow& row, const std::shared_ptr<const Policy>& placing, double seconds,
                         std::size_t measured, const Random& random) {
  const SamplingPlannerOptions usual;
  SamplerOptions sampling;
  sampling.softmax_temperature = usual.softmax_temperature.Of(row.fused.num_groups, CommunicationRatio(row.fused));
  BestTrajectories best(measured);
  for (std::size_t level = 0; level < usual.reward_temperatures.size(); ++level) {
    const Deadline deadline(seconds / static_cast<double>(usual.reward_temperatures.size()));
    FusedSampler sampler(*row.model, MakeSavingFusionPolicy(kSavingStrength), placing,
                         usual.reward_temperatures[level]);
    const Random stream = random.Fork(level);
    // No more than are likely to end in time.
    for (sampling.first = 0; sampling.first == 0 || deadline.Gone() * static_cast<double>(sampling.first + 1) <=
                                                        static_cast<double>(sampling.first);
         ++sampling.first)
      best.Take(std::move(sampler.Sample(1, sampling, stream).front()));
  }
  return best;
}

}  // namespace

GoMethod FusedSamples(std::string name, std::shared_ptr<const Policy> placing, double seconds, std::size_t measured) {
  GoMethod method;
  method.name = std::move(name);
  method.budget = fmt::format("{} s", seconds);
  method.seeded = true;
  method.seconds = seconds;
  method.plan = [placing = std::move(placing), seconds, measured](const GoRow& row, std::uint64_t seed,
                                                                  std::optional<double>) -> std::optional<GoPlan> {
    std::optional<GoPlan> fastest;
    double least = std::numeric_limits<double>::infinity();
    BestTrajectories best = DrawFor(row, placing, seconds, measured, Random(seed));
    for (FusedTrajectory& drawn : best.kept()) {
      GoPlan plan{std::make_shared<const CostedGraph>(MakeCostedGraph(*row.model, std::move(drawn.groups))),
                  std::move(drawn.placing.assignment)};
      const std::optional<double> taken = ContendedSeconds(*plan.costed, plan.assignment);
      if (!taken || *taken >= least) continue;
      least = *taken;
      fastest = std::move(plan);
    }
    return fastest;
  };
  return method;
}

}  // namespace millrace
