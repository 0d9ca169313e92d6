// SPDX-License-Identifier: Apache-2.0
#include "millrace/rollout/sampled_source.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "millrace/rollout/sampler.h"

namespace millrace {
namespace {

// Plans between two looks at the clock, per thread.
constexpr std::int64_t kBatchPerThread = 16;

class SampledSource final : public CandidateSource {
 public:
  SampledSource(std::shared_ptr<const Policy> policy, const SampledSourceOptions& options)
      : policy_(std::move(policy)), options_(options) {}

  std::string name() const override { return options_.name; }

  void Propose(const CostedGraph& costed, const SourceBudget& budget, Random& random,
               const std::function<void(Assignment)>& offer) const override {
    if (costed.num_groups == 0) {
      offer({});
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto spent = [start] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const auto late = [&budget, spent](double share) { return budget.seconds && spent() > *budget.seconds * share; };
    const Environment environment(costed);
    const auto levels = static_cast<std::int64_t>(options_.temperatures.size());
    for (std::int64_t level = 0; level < levels; ++level) {
      const std::int64_t samples = budget.samples / levels + (level < budget.samples % levels ? 1 : 0);
      if (samples == 0 || (level > 0 && late(1))) continue;
      const std::unique_ptr<PreparedPolicy> prepared =
          policy_->Prepare(environment, options_.temperatures[static_cast<std::size_t>(level)]);
      offer(GreedyTrajectory(environment, *prepared).assignment);
      const Random stream = random.Fork(static_cast<std::uint64_t>(level));
      const double share = static_cast<double>(level + 1) / static_cast<double>(levels);
      const double begin = spent();
      for (std::int64_t drawn = 1; drawn < samples && !late(share);) {
        std::int64_t count = std::min(samples - drawn, kBatchPerThread * options_.threads);
        if (budget.seconds) {
          // No more at a time than may be done in time, going by those so far; the first ones to see how long it takes.
          const double left = *budget.seconds * share - spent();
          const auto likely = drawn == 1 ? 1.0 : left / (spent() - begin) * static_cast<double>(drawn - 1);
          count = std::min(count, std::max<std::int64_t>(options_.threads, std::llround(std::min(likely, 1e9))));
        }
        Draw(environment, *prepared, static_cast<int>(count), stream, drawn, offer);
        drawn += count;
      }
    }
  }

 private:
  void Draw(const Environment& environment, const PreparedPolicy& prepared, int count, const Random& stream,
            std::int64_t first, const std::function<void(Assignment)>& offer) const {
    SamplerOptions sampling;
    sampling.softmax_temperature = options_.softmax_temperature.Of(environment.costed().num_groups);
    sampling.epsilon = options_.epsilon;
    sampling.threads = options_.threads;
    sampling.first = first;
    for (Trajectory& trajectory : SampleTrajectories(environment, prepared, count, sampling, stream, nullptr))
      offer(std::move(trajectory.assignment));
  }

  std::shared_ptr<const Policy> policy_;
  SampledSourceOptions options_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeSampledSource(std::shared_ptr<const Policy> policy,
                                                   const SampledSourceOptions& options) {
  return std::make_unique<SampledSource>(std::move(policy), options);
}

}  // namespace millrace
