// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/remembered_policy.h"

#include <gtest/gtest.h>

#include <map>

#include "millrace/gflownet/environment/state_key.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "tests/gflownet/environment/random_environment.h"

namespace millrace {
namespace {

// Counts how often it is asked about each state, and leans on what it is shown.
class AskedPolicy final : public PreparedPolicy {
 public:
  explicit AskedPolicy(std::map<StateKey, int>& asked) : asked_(asked) {}

  void ScoreGroups(const State& state, const Observation& observation, std::span<float> logits) override {
    ++asked_[KeyOf(state)];
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = RowAt<GroupFeature>(observation.features, i)[GroupFeature::kUpwardRank];
  }
  void ScoreDevices(const State&, int, const Observation& observation, std::span<float> logits) override {
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = 2 * RowAt<DeviceChoiceFeature>(observation.features, i)[DeviceChoiceFeature::kFinish];
  }
  std::unique_ptr<PreparedPolicy> Clone() const override { return std::make_unique<AskedPolicy>(asked_); }

 private:
  std::map<StateKey, int>& asked_;
};

TEST(RememberedPolicy, AnswersAsThePolicyDoesAndAsksItOnceAboutAState) {
  int shared = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const testing::EnvironmentProblem problem(random, {});
    std::map<StateKey, int> asked, asked_by_memory;
    const AskedPolicy policy(asked), behind_memory(asked_by_memory);
    const auto plain = SampleTrajectories(problem.environment, policy, 20, {}, Random(1), nullptr);
    const auto remembered =
        SampleTrajectories(problem.environment, *Remembering(behind_memory), 20, {}, Random(1), nullptr);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(plain[i].actions, remembered[i].actions);
      EXPECT_EQ(plain[i].log_forward, remembered[i].log_forward);
    }
    ASSERT_EQ(asked.size(), asked_by_memory.size());
    for (const auto& entry : asked_by_memory) EXPECT_EQ(entry.second, 1);
    for (const auto& entry : asked) shared += entry.second - 1;
  }
  EXPECT_GT(shared, 0);
}

}  // namespace
}  // namespace millrace
