// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "millrace/gflownet/policy/policy.h"

namespace millrace {
namespace {

class PreparedUniform final : public PreparedPolicy {
 public:
  void ScoreGroups(const State&, const Observation&, std::span<float> logits) override {
    std::fill(logits.begin(), logits.end(), 0.0f);
  }
  void ScoreDevices(const State&, int, const Observation&, std::span<float> logits) override {
    std::fill(logits.begin(), logits.end(), 0.0f);
  }
  std::unique_ptr<PreparedPolicy> Clone() const override { return std::make_unique<PreparedUniform>(); }
};

class UniformPolicy final : public Policy {
 public:
  std::string name() const override { return "uniform"; }
  std::unique_ptr<PreparedPolicy> Prepare(const Environment&, double temperature) const override {
    CheckTemperature(temperature);
    return std::make_unique<PreparedUniform>();
  }
};

}  // namespace

std::unique_ptr<Policy> MakeUniformPolicy() { return std::make_unique<UniformPolicy>(); }

}  // namespace millrace
