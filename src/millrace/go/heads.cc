// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/heads.h"

#include <cmath>
#include <numeric>

#include "millrace/go/network.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

static_assert(kPlaceFeatures == kChoiceFeatures && kPlacePriors == kChoicePriors,
              "places are scored by the same loops as the devices of a step");

constexpr std::size_t kBlock = kLanes;
constexpr std::size_t kOutputs = (kLevels + kBlock - 1) / kBlock * kBlock;  // as LinearLayer fills them up

LaneArray ApplyToOne(const LinearLayer& layer, const LaneArray& input) {
  LaneArray output(static_cast<std::size_t>(layer.outputs()));
  layer.Apply(input.data(), 1, Then::kNothing, output.data());
  return output;
}

// embed u + condition c, rows x kHidden.
LaneArray FirstOf(const LinearLayer& embed, const LaneArray& condition, const float* states, std::size_t count) {
  LaneArray first(count * kHidden);
  embed.Apply(states, count, Then::kNothing, first.data());
  for (std::size_t at = 0; at < count * kHidden; ++at) first.data()[at] += condition.data()[at % kHidden];
  return first;
}

}  // namespace

PlaceHead::PlaceHead(const Weights& weights)
    : embed_(weights, "place.embed", kWidth, kHidden, Bias::kOwn),
      condition_(weights, "place.condition", kCondition, kHidden, Bias::kNone),
      device_first_(weights, "place.device.0", kGoDeviceFeatures, kHidden, Bias::kOwn),
      device_second_(weights, "place.device.1", kHidden, kHidden, Bias::kOwn),
      choice_(weights, "place"),
      strength_(weights, "place") {}

PlaceHead::Tables PlaceHead::Prepare(const GoFeatures& graph, const LaneArray& condition) const {
  const auto devices = static_cast<std::size_t>(graph.num_devices);
  Tables tables;
  LaneArray between(devices * kHidden);
  tables.devices = LaneArray(devices * kHidden);
  device_first_.Apply(graph.devices.data(), devices, Then::kRelu, between.data());
  device_second_.Apply(between.data(), devices, Then::kNothing, tables.devices.data());
  tables.condition = ApplyToOne(condition_, condition);
  tables.strengths = strength_.Of(condition);
  tables.ids.resize(devices);
  std::iota(tables.ids.begin(), tables.ids.end(), 0);
  return tables;
}

void PlaceHead::Score(const Tables& tables, const DecisionObservation& before, const float* states, std::size_t first,
                      std::size_t count, std::span<float> logits) const {
  const std::size_t devices = tables.ids.size();
  const LaneArray shared = FirstOf(embed_, tables.condition, states + first * kWidth, count);
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t at = (first + row) * devices;
    const ChoicesToScore choices{tables.ids,
                                 before.places.data() + at * kPlaceFeatures,
                                 before.place_priors.data() + at * kPlacePriors,
                                 tables.devices.data(),
                                 shared.data() + row * kHidden,
                                 tables.strengths.data()};
    choice_.Score(choices, logits.subspan(at, devices));
  }
}

LevelHead::LevelHead(const Weights& weights, const std::string& name)
    : embed_(weights, name + ".embed", kWidth, kHidden, Bias::kOwn),
      condition_(weights, name + ".condition", kCondition, kHidden, Bias::kNone),
      features_(weights, name + ".features", kLevelFeatures, kHidden, Bias::kNone),
      hidden_(weights, name + ".hidden", kHidden, kHidden, Bias::kOwn),
      out_(weights, name + ".out", kHidden, kLevels, Bias::kOwn),
      strength_(weights, name, kLevelPriors) {}

LevelHead::Tables LevelHead::Prepare(const LaneArray& condition) const {
  return {ApplyToOne(condition_, condition), strength_.Of(condition)};
}

void LevelHead::Score(const Tables& tables, const std::vector<float>& levels, const std::vector<float>& centres,
                      const float* states, std::size_t first, std::size_t count, std::span<float> logits) const {
  LaneArray between = FirstOf(embed_, tables.condition, states + first * kWidth, count);
  LaneArray other(count * kHidden), scores(count * kOutputs);
  features_.Apply(levels.data() + first * kLevelFeatures, count, Then::kNothing, other.data());
  for (std::size_t at = 0; at < count * kHidden; ++at)
    between.data()[at] = std::max(0.0f, between.data()[at] + other.data()[at]);
  hidden_.Apply(between.data(), count, Then::kRelu, other.data());
  out_.Apply(other.data(), count, Then::kNothing, scores.data());
  for (std::size_t row = 0; row < count; ++row) {
    const float* const centre = centres.data() + (first + row) * kLevelPriors;
    for (std::size_t level = 0; level < kLevels; ++level) {
      float logit = scores.data()[row * kOutputs + level];
      for (std::size_t k = 0; k < kLevelPriors; ++k) {
        const float distance = centre[k] < 0 ? 0.0f : std::fabs(static_cast<float>(level) - centre[k]);
        logit -= tables.strengths.data()[k] * distance;
      }
      logits[(first + row) * kLevels + level] = BoundedLogit(logit);
    }
  }
}

void MeanOverColocations(const GoProblem& problem, const std::vector<float>& row_logits, std::vector<float>& logits) {
  const auto devices = static_cast<std::size_t>(problem.num_devices());
  logits.assign(static_cast<std::size_t>(problem.num_colocations()) * devices, 0.0f);
  for (std::int32_t colocation = 0; colocation < problem.num_colocations(); ++colocation) {
    const std::span<const std::int32_t> rows = problem.RowsOf(colocation);
    for (std::size_t d = 0; d < devices; ++d) {
      float& logit = logits[static_cast<std::size_t>(colocation) * devices + d];
      if (!std::isfinite(problem.Seconds(rows.front(), static_cast<int>(d)))) {
        logit = kClosedLogit;
        continue;
      }
      // The sum is in doubles: a colocation may have thousands of rows.
      double sum = 0;
      for (const std::int32_t row : rows) sum += row_logits[static_cast<std::size_t>(row) * devices + d];
      logit = static_cast<float>(sum / static_cast<double>(rows.size()));
    }
  }
}

}  // namespace millrace
