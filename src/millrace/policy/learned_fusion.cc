// SPDX-License-Identifier: Apache-2.0
#include "millrace/policy/learned_fusion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "millrace/policy/linear_layer.h"
#include "millrace/policy/network_layout.h"

namespace millrace {
namespace {

constexpr double kMostStrength = 8;
constexpr double kMostLogit = 1e9;

// As LinearLayer writes it.
struct alignas(kLanes * sizeof(float)) Hidden {
  std::array<float, kMergeHidden> values;
  float* data() { return values.data(); }
};

NetworkLayout Layout() {
  NetworkLayout layout;
  layout.AddWeight("condition", kMergeHidden, 1, 1);
  layout.AddBias("condition", kMergeHidden);
  layout.AddWeight("first", kMergeHidden, kMergeFeatures, kMergeFeatures);
  layout.AddBias("first", kMergeHidden);
  layout.AddZeroWeight("scale", kMergeHidden, kMergeHidden);
  layout.AddZeroWeight("shift", kMergeHidden, kMergeHidden);
  layout.AddWeight("hidden", kMergeHidden, kMergeHidden, kMergeHidden);
  layout.AddBias("hidden", kMergeHidden);
  layout.AddZeroWeight("out", 1, kMergeHidden);
  layout.AddBias("out", 1);
  layout.AddZeroWeight("strength", 1, kMergeHidden);
  layout.AddBias("strength", 1);
  return layout;
}

// One output of many inputs.
struct LastLayer {
  LastLayer(const Weights& weights, const std::string& name)
      : weight(weights.Get(name + ".weight", {1, kMergeHidden}).values),
        bias(weights.Get(name + ".bias", {1}).values.front()) {}
  double Of(const Hidden& x) const {
    float sum = bias;
    for (std::size_t i = 0; i < kMergeHidden; ++i) sum += weight[i] * x.values[i];
    return sum;
  }
  std::vector<float> weight;
  float bias;
};

class LearnedFusion final : public FusionPolicy {
 public:
  explicit LearnedFusion(const Weights& weights)
      : condition_(weights, "condition", 1, kMergeHidden, LinearLayer::Bias::kOwn),
        first_(weights, "first", kMergeFeatures, kMergeHidden, LinearLayer::Bias::kOwn),
        scale_(weights, "scale", kMergeHidden, kMergeHidden, LinearLayer::Bias::kNone),
        shift_(weights, "shift", kMergeHidden, kMergeHidden, LinearLayer::Bias::kNone),
        hidden_(weights, "hidden", kMergeHidden, kMergeHidden, LinearLayer::Bias::kOwn),
        out_(weights, "out"),
        strength_(weights, "strength") {}

  std::string name() const override { return "learned"; }

  double Logit(const MergeObservation& observation, double temperature) const override {
    using Then = LinearLayer::Then;
    const auto t = static_cast<float>(std::log(temperature));
    Hidden condition, first, scale, shift, hidden;
    condition_.Apply(&t, 1, Then::kRelu, condition.data());
    first_.Apply(observation.features.data(), 1, Then::kNothing, first.data());
    scale_.Apply(condition.data(), 1, Then::kNothing, scale.data());
    shift_.Apply(condition.data(), 1, Then::kNothing, shift.data());
    for (std::size_t i = 0; i < kMergeHidden; ++i)
      first.values[i] = std::max(first.values[i] * (1 + scale.values[i]) + shift.values[i], 0.0f);
    hidden_.Apply(first.data(), 1, Then::kRelu, hidden.data());
    const double strength = std::exp(std::clamp(strength_.Of(condition), -kMostStrength, kMostStrength));
    const double logit = out_.Of(hidden) + strength * observation.saved;
    return logit > -kMostLogit ? std::min(logit, kMostLogit) : -kMostLogit;
  }

 private:
  LinearLayer condition_, first_, scale_, shift_, hidden_;
  LastLayer out_, strength_;
};

}  // namespace

std::vector<std::pair<std::string, std::vector<std::int64_t>>> LearnedFusionShapes() { return Layout().Shapes(); }

Weights InitialFusionWeights(Random& random) { return Layout().Start("fusion", random); }

std::unique_ptr<FusionPolicy> MakeLearnedFusionPolicy(const Weights& weights) {
  CheckArchitecture(weights, "fusion");
  return std::make_unique<LearnedFusion>(weights);
}

}  // namespace millrace
