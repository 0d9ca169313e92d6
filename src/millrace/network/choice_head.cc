// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/choice_head.h"

#include <algorithm>

#include "millrace/vector/vector_loops.h"

namespace millrace {
namespace {

constexpr std::size_t kFeatures = kChoiceFeatures;
constexpr std::size_t kAhead = kAheadFeatures;
constexpr std::size_t kAheadNumbers = kAhead + 1;

struct Layers {
  const float* features;  // by block of kLanes outputs x feature x kLanes
  const float* ahead;     // likewise
  const float* hidden;    // likewise
  const float* hidden_bias;
  const float* out;
};

// sums[choice] += W input[choice] for a layer of kHidden outputs; the inputs of one choice and the next are `stride`
// numbers apart.
template <int Width, int Choices>
MILLRACE_INLINE void AddProducts(const float* weight, const float* input, std::size_t inputs, std::size_t stride,
                                 Vector<Width> (&sums)[Choices][kHidden / Width]) {
  for (std::size_t i = 0; i < inputs; ++i) {
    for (int part = 0; part < kHidden / Width; ++part) {
      const int block = part * Width / kLanes;
      const Vector<Width> factor =
          VectorAt<Width>(weight + (static_cast<std::size_t>(block) * inputs + i) * kLanes + part * Width % kLanes);
      for (int c = 0; c < Choices; ++c) sums[c][part] += input[static_cast<std::size_t>(c) * stride + i] * factor;
    }
  }
}

template <int Width, int Choices>
MILLRACE_INLINE void ScoreTile(const Layers& layers, const ChoicesToScore& choices, std::size_t start, float* logits) {
  constexpr std::size_t kWide = Width;
  constexpr std::size_t kParts = kHidden / kWide;
  const Vector<Width> zero = {};
  Vector<Width> sums[Choices][kParts];
  for (int c = 0; c < Choices; ++c) {
    const auto id = static_cast<std::size_t>(choices.ids[start + static_cast<std::size_t>(c)]);
    for (std::size_t part = 0; part < kParts; ++part) {
      sums[c][part] =
          VectorAt<Width>(choices.first + id * kHidden + part * kWide) + VectorAt<Width>(choices.shared + part * kWide);
    }
  }
  AddProducts<Width, Choices>(layers.features, choices.features + start * kFeatures, kFeatures, kFeatures, sums);
  if (choices.ahead != nullptr)
    AddProducts<Width, Choices>(layers.ahead, choices.ahead + start * kAheadNumbers, kAhead, kAheadNumbers, sums);

  alignas(kLanes * sizeof(float)) float between[Choices * kHidden];
  for (int c = 0; c < Choices; ++c) {
    for (std::size_t part = 0; part < kParts; ++part) {
      VectorAt<Width>(between + static_cast<std::size_t>(c) * kHidden + part * kWide) =
          sums[c][part] > zero ? sums[c][part] : zero;
      sums[c][part] = VectorAt<Width>(layers.hidden_bias + part * kWide);
    }
  }
  AddProducts<Width, Choices>(layers.hidden, between, kHidden, kHidden, sums);

  for (int c = 0; c < Choices; ++c) {
    alignas(kLanes * sizeof(float)) float products[kLanes];
    for (int lane = 0; lane < kLanes; lane += Width) {
      Vector<Width> product = zero;
      for (std::size_t part = static_cast<std::size_t>(lane) / kWide; part < kParts; part += kLanes / kWide) {
        const Vector<Width> positive = sums[c][part] > zero ? sums[c][part] : zero;
        product += positive * VectorAt<Width>(layers.out + part * kWide);
      }
      VectorAt<Width>(products + lane) = product;
    }
    const std::size_t choice = start + static_cast<std::size_t>(c);
    float logit = SumOfLanes(products) + PriorScore(choices.priors + choice * kChoicePriors, choices.strengths);
    if (choices.ahead != nullptr) logit += choices.ahead_strength * choices.ahead[choice * kAheadNumbers + kAhead];
    logits[choice] = BoundedLogit(logit);
  }
}

// Several choices at once give the adders enough independent sums to work on; what remains goes one by one.
template <int Width, int Choices>
MILLRACE_INLINE void ScoreAll(const Layers& layers, const ChoicesToScore& choices, float* logits) {
  const std::size_t count = choices.ids.size();
  std::size_t start = 0;
  for (; start + Choices <= count; start += Choices) ScoreTile<Width, Choices>(layers, choices, start, logits);
  if constexpr (Choices > 2) {
    for (; start + 2 <= count; start += 2) ScoreTile<Width, 2>(layers, choices, start, logits);
  }
  for (; start < count; ++start) ScoreTile<Width, 1>(layers, choices, start, logits);
}

auto BestScoreAll() {
  return BestBodyOf<&ScoreAll<kLanesOfBaseline, 1>, &ScoreAll<kLanesOfAvx2, 2>, &ScoreAll<kLanesOfAvx512, 4>>();
}

}  // namespace

ChoiceHead::ChoiceHead(const Weights& weights, const std::string& name)
    : features_(weights, name + ".features", kFeatures, kHidden, LinearLayer::Bias::kNone),
      hidden_(weights, name + ".hidden", kHidden, kHidden, LinearLayer::Bias::kOwn),
      out_(kHidden) {
  if (weights.tensors.contains(name + ".ahead.weight"))
    ahead_ = LinearLayer(weights, name + ".ahead", kAheadFeatures, kHidden, LinearLayer::Bias::kNone);
  const WeightTensor& out = weights.Get(name + ".out.weight", {1, kHidden});
  std::copy(out.values.begin(), out.values.end(), out_.data());
}

void ChoiceHead::Score(const ChoicesToScore& choices, std::span<float> logits) const {
  static const auto score_all = BestScoreAll();
  alignas(kLanes * sizeof(float)) float out[kHidden];
  for (std::size_t i = 0; i < kHidden; ++i)
    out[i] = choices.gains == nullptr ? out_.data()[i] : out_.data()[i] * choices.gains[i];
  const Layers layers{features_.weight(), ahead_.weight(), hidden_.weight(), hidden_.bias(), out};
  score_all(layers, choices, logits.data());
}

}  // namespace millrace
