// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/fusion_policy.h"

#include <cmath>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

class UniformFusion final : public FusionPolicy {
 public:
  std::string name() const override { return "uniform"; }
  double Logit(const MergeObservation&, double) const override { return 0; }
};

class SavingFusion final : public FusionPolicy {
 public:
  explicit SavingFusion(double strength) : strength_(strength) {}
  std::string name() const override { return "saving"; }
  double Logit(const MergeObservation& observation, double) const override { return strength_ * observation.saved; }

 private:
  double strength_;
};

}  // namespace

std::unique_ptr<FusionPolicy> MakeUniformFusionPolicy() { return std::make_unique<UniformFusion>(); }

std::unique_ptr<FusionPolicy> MakeSavingFusionPolicy(double strength) {
  if (!std::isfinite(strength))
    throw InvalidInput("the strength of a fusion policy is " + std::to_string(strength) + "; it must be finite");
  return std::make_unique<SavingFusion>(strength);
}

}  // namespace millrace
