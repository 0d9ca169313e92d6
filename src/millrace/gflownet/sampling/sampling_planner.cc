// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/sampling_planner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "millrace/gflownet/sampling/plan_set.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/planning/deadline.h"

namespace millrace {
namespace {

// Plans between two looks at the clock, per thread.
constexpr std::int64_t kBatchPerThread = 16;

// How much flatter to draw, by how many draws of a block were of plans that had not been drawn. Blocks are of draws by
// number, so what is drawn is the same at any number of threads.
class Flattening {
 public:
  Flattening(const CostedGraph& costed, bool looks) : seen_(costed), looks_(looks) {}

  double factor() const { return factor_; }

  // Draws from `drawn` on that one factor is for.
  std::int64_t Until(std::int64_t drawn, std::int64_t samples) const {
    return looks_ ? std::min(samples, (drawn / kBlock + 1) * kBlock) : samples;
  }

  void Note(const Assignment& assignment) {
    if (looks_) fresh_ += seen_.Insert(assignment) ? 1 : 0;
  }

  // `drawn` draws are done: ends a block if this is its end.
  void End(std::int64_t drawn) {
    if (!looks_ || drawn % kBlock != 0) return;
    const double share = static_cast<double>(fresh_) / static_cast<double>(kBlock);
    fresh_ = 0;
    if (share < kManyRepeats) factor_ = std::min(kMost, kGrowth * factor_);
    // Far from repeating, and never flattened: a graph too large for that.
    if (share > kFewRepeats && factor_ == 1) looks_ = false;
  }

 private:
  static constexpr std::int64_t kBlock = 64;
  static constexpr double kManyRepeats = 0.7;
  static constexpr double kFewRepeats = 0.9;
  static constexpr double kGrowth = 2;
  static constexpr double kMost = 64;

  PlanSet seen_;
  bool looks_;
  double factor_ = 1;
  std::int64_t fresh_ = 0;
};

class SamplingPlanner final : public Planner {
 public:
  SamplingPlanner(PlannerTraits traits, std::shared_ptr<const Policy> policy, const SamplingPlannerOptions& options)
      : Planner(std::move(traits)), policy_(std::move(policy)), options_(options) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override {
    return SampledPlansFor(problem, wanted);
  }

  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random,
               const Offer& offer) const override {
    const CostedGraph& costed = problem.costed();
    if (costed.num_groups == 0) {
      offer(Assignment{});
      return;
    }
    const Deadline deadline(budget.seconds);
    const auto late = [&deadline](double share) { return deadline.Gone() > share; };
    const Environment environment(costed);
    const double ccr = CommunicationRatio(costed);
    const auto levels = static_cast<std::int64_t>(options_.reward_temperatures.size());
    for (std::int64_t level = 0; level < levels; ++level) {
      const std::int64_t samples = budget.samples / levels + (level < budget.samples % levels ? 1 : 0);
      if (samples == 0 || (level > 0 && late(1))) continue;
      const std::unique_ptr<PreparedPolicy> prepared =
          policy_->Prepare(environment, options_.reward_temperatures[static_cast<std::size_t>(level)]);
      if (options_.greedy) offer(GreedyTrajectory(environment, *prepared).assignment);
      const Random stream = random.Fork(static_cast<std::uint64_t>(level));
      const double share = static_cast<double>(level + 1) / static_cast<double>(levels);
      const double begin = deadline.Elapsed();
      const auto at = static_cast<std::size_t>(level);
      const double softmax_temperature = options_.softmax_temperature.Of(costed.num_groups, ccr) *
                                         (options_.flatter.empty() ? 1 : options_.flatter[at]);
      const std::int64_t before = options_.greedy ? 1 : 0;
      Flattening flattening(costed, options_.flatter_on_repeats);
      for (std::int64_t drawn = before; drawn < samples && !late(share);) {
        std::int64_t count = std::min(flattening.Until(drawn, samples) - drawn, kBatchPerThread * options_.threads);
        if (budget.seconds) {
          // A batch has no more plans than are likely to end in time, judged by those drawn so far. The first batch is
          // small, to see how long a plan takes.
          const double left = *budget.seconds * share - deadline.Elapsed();
          const auto likely =
              drawn == before ? 1.0 : left / (deadline.Elapsed() - begin) * static_cast<double>(drawn - before);
          count = std::min(count, std::max<std::int64_t>(options_.threads, std::llround(std::min(likely, 1e9))));
        }
        Draw(environment, *prepared, softmax_temperature * flattening.factor(), static_cast<int>(count), stream, drawn,
             [&](ProposedPlan plan) {
               flattening.Note(plan.assignment);
               offer(std::move(plan));
             });
        drawn += count;
        flattening.End(drawn);
      }
    }
  }

 private:
  void Draw(const Environment& environment, const PreparedPolicy& prepared, double softmax_temperature, int count,
            const Random& stream, std::int64_t first, const Offer& offer) const {
    SamplerOptions sampling;
    sampling.softmax_temperature = softmax_temperature;
    sampling.epsilon = options_.epsilon;
    sampling.threads = options_.threads;
    sampling.first = first;
    for (Trajectory& trajectory : SampleTrajectories(environment, prepared, count, sampling, stream, nullptr))
      offer(std::move(trajectory.assignment));
  }

  std::shared_ptr<const Policy> policy_;
  SamplingPlannerOptions options_;
};

}  // namespace

std::int64_t SampledPlansFor(const PlanningProblem& problem, std::int64_t wanted) {
  constexpr std::int64_t kVisits = 4'000'000;
  // Two at least: a local search takes a budget of 1 sample for leave to choose the number itself.
  constexpr std::int64_t kFewest = 2;
  return std::clamp<std::int64_t>(kVisits / std::max<std::int64_t>(1, problem.costed().Visits()), kFewest,
                                  std::max(kFewest, wanted));
}

std::unique_ptr<Planner> MakeSamplingPlanner(PlannerTraits traits, std::shared_ptr<const Policy> policy,
                                             const SamplingPlannerOptions& options) {
  return std::make_unique<SamplingPlanner>(std::move(traits), std::move(policy), options);
}

}  // namespace millrace
