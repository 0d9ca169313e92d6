// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/segment_layer.h"

#include <algorithm>
#include <limits>

#include "millrace/errors/interrupt.h"
#include "millrace/go/network.h"
#include "millrace/network/blocked_product.h"
#include "millrace/network/row_operations.h"
#include "millrace/vector/vector_math.h"

namespace millrace {
namespace {

using Bias = LinearLayer::Bias;
using Then = LinearLayer::Then;

static_assert(kSegmentHeads * kAttention == kWidth && kAttention == kLanes, "a head is one row of lanes");
static_assert(kSegment % kLanes == 0);

constexpr std::size_t kRows = kSegment;
constexpr std::size_t kHeadKeys = kRows * kAttention;  // numbers of the keys of one segment and head
constexpr std::size_t kMostKeys = 2 * kRows;
constexpr std::size_t kSegmentsAtOnce = 8;  // segments of one task of the loop
constexpr float kScale = 0.25f;
static_assert(kScale * kScale * kAttention == 1);

LaneArray TakeVector(const Weights& weights, const std::string& name) {
  const WeightTensor& tensor = weights.Get(name, {kWidth});
  LaneArray vector(kWidth);
  std::copy(tensor.values.begin(), tensor.values.end(), vector.data());
  return vector;
}

// Turns each of `rows` rows of `keys` scores, kMostKeys apart, into exp(score - the row's largest) and writes their
// sums to `sums`. `keys` is a multiple of kLanes; the scores of padding are -infinity.
template <int Width>
MILLRACE_INLINE void Exponentials(float* scores, std::size_t rows, std::size_t keys, float* sums) {
  for (std::size_t row = 0; row < rows; ++row, scores += kMostKeys) {
    alignas(kLanes * sizeof(float)) float lanes[kLanes];
    for (int lane = 0; lane < kLanes; lane += Width) {
      Vector<Width> most = VectorAt<Width>(scores + lane);
      for (std::size_t key = kLanes; key < keys; key += kLanes) {
        const Vector<Width> other = VectorAt<Width>(scores + key + lane);
        most = other > most ? other : most;
      }
      VectorAt<Width>(lanes + lane) = most;
    }
    const float highest = *std::max_element(lanes, lanes + kLanes);
    for (std::size_t key = 0; key < keys; ++key) scores[key] = vector_math::Exp(scores[key] - highest);
    for (int lane = 0; lane < kLanes; lane += Width) {
      Vector<Width> sum = VectorAt<Width>(scores + lane);
      for (std::size_t key = kLanes; key < keys; key += kLanes) sum += VectorAt<Width>(scores + key + lane);
      VectorAt<Width>(lanes + lane) = sum;
    }
    sums[row] = SumOfLanes(lanes);
  }
}

template <int Width>
MILLRACE_INLINE void MultiplyByFactor(const float* factor, std::size_t rows, float* values) {
  for (std::size_t row = 0; row < rows; ++row, values += kWidth) {
    for (int at = 0; at < kWidth; at += Width) {
      Vector<Width>& value = VectorAt<Width>(values + at);
      value = value * VectorAt<Width>(factor + at);
    }
  }
}

void AddTo(float* states, const float* change, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) states[i] += change[i];
}

}  // namespace

SegmentWorkspace::SegmentWorkspace(std::size_t rows) {
  const std::size_t padded = (rows + kRows - 1) / kRows * kRows;
  queries = LaneArray(padded * kWidth);
  keys = LaneArray(padded * kWidth);
  values = LaneArray(padded * kWidth);
}

ModulatedNorm::ModulatedNorm(const Weights& weights, const std::string& name, const std::string& place)
    : weight_(TakeVector(weights, name + ".norm." + place + ".weight")),
      bias_(TakeVector(weights, name + ".norm." + place + ".bias")),
      super_(weights, name + ".super." + place, kCondition, kWidth, Bias::kNone) {}

LaneArray ModulatedNorm::Factor(const LaneArray& condition) const {
  LaneArray factor(kWidth);
  super_.Apply(condition.data(), 1, Then::kNothing, factor.data());
  for (std::size_t i = 0; i < kWidth; ++i) factor.data()[i] += 1;
  return factor;
}

void ModulatedNorm::Apply(const float* input, std::size_t rows, const LaneArray& factor, float* output) const {
  static const auto multiply = BestBodyOf<&MultiplyByFactor<kLanesOfBaseline>, &MultiplyByFactor<kLanesOfAvx2>,
                                          &MultiplyByFactor<kLanesOfAvx512>>();
  Normalise(weight_, bias_, kWidth, rows, input, output);
  multiply(factor.data(), rows, output);
}

SegmentLayer::SegmentLayer(const Weights& weights, const std::string& name)
    : before_attention_(weights, name, "0"),
      before_feed_(weights, name, "1"),
      query_(weights, name + ".query", kWidth, kWidth, Bias::kNone),
      key_(weights, name + ".key", kWidth, kWidth, Bias::kNone),
      value_(weights, name + ".value", kWidth, kWidth, Bias::kNone),
      join_(weights, name + ".join", kWidth, kWidth, Bias::kOwn),
      first_(weights, name + ".first", kWidth, kFeedForward, Bias::kOwn),
      out_(weights, name + ".out", kFeedForward, kWidth, Bias::kOwn) {}

struct SegmentLayer::Call {
  std::size_t rows;
  LaneArray attention_factor, feed_factor;
  SegmentWorkspace& workspace;
  float* states;

  std::size_t padded() const { return (rows + kRows - 1) / kRows * kRows; }
  std::size_t RowsOf(std::size_t segment) const { return std::min(kRows, rows - segment * kRows); }
};

// Computes queries, keys and values of some segments, laid out for Attend.
void SegmentLayer::Project(const Call& call, std::size_t first_segment, std::size_t end_segment) const {
  LaneArray normed(kRows * kWidth), rows_of(kRows * kWidth);
  for (std::size_t segment = first_segment; segment < end_segment; ++segment) {
    StopIfInterrupted();
    const std::size_t rows = call.RowsOf(segment);
    before_attention_.Apply(call.states + segment * kRows * kWidth, rows, call.attention_factor, normed.data());
    float* const queries = call.workspace.queries.data() + segment * kRows * kWidth;
    query_.Apply(normed.data(), rows, Then::kNothing, queries);
    for (std::size_t i = 0; i < rows * kWidth; ++i) queries[i] *= kScale;

    key_.Apply(normed.data(), rows, Then::kNothing, rows_of.data());
    float* const keys = call.workspace.keys.data() + segment * kRows * kWidth;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t block = row / kLanes * kLanes * kAttention + row % kLanes;
      for (std::size_t head = 0; head < kSegmentHeads; ++head) {
        for (std::size_t i = 0; i < kAttention; ++i)
          keys[head * kHeadKeys + block + i * kLanes] = rows_of.data()[row * kWidth + head * kAttention + i];
      }
    }

    value_.Apply(normed.data(), rows, Then::kNothing, rows_of.data());
    for (std::size_t head = 0; head < kSegmentHeads; ++head) {
      float* const values = call.workspace.values.data() + (head * call.padded() + segment * kRows) * kAttention;
      for (std::size_t row = 0; row < rows; ++row)
        std::copy_n(rows_of.data() + row * kWidth + head * kAttention, kAttention, values + row * kAttention);
    }
  }
}

void SegmentLayer::Attend(const Call& call, std::size_t first_segment, std::size_t end_segment) const {
  static const auto exponentials =
      BestBodyOf<&Exponentials<kLanesOfBaseline>, &Exponentials<kLanesOfAvx2>, &Exponentials<kLanesOfAvx512>>();
  LaneArray scores(kRows * kMostKeys), attended(kRows * kWidth), sums(kRows), change(kRows * kWidth);
  LaneArray between(kRows * kFeedForward);
  for (std::size_t segment = first_segment; segment < end_segment; ++segment) {
    StopIfInterrupted();
    const std::size_t rows = call.RowsOf(segment);
    const std::size_t memory = segment > 0 ? kRows : 0;
    const std::size_t blocks = (rows + kLanes - 1) / kLanes;
    const std::size_t first_key = segment * kRows - memory;
    for (std::size_t head = 0; head < kSegmentHeads; ++head) {
      const float* const queries = call.workspace.queries.data() + segment * kRows * kWidth + head * kAttention;
      const auto score = [&](std::size_t of_segment, std::size_t key_blocks, std::size_t at) {
        const float* const keys = call.workspace.keys.data() + of_segment * kRows * kWidth + head * kHeadKeys;
        Multiply({keys, nullptr, kAttention, key_blocks, rows, false, queries, kWidth, scores.data() + at, kMostKeys});
      };
      if (memory > 0) score(segment - 1, kRows / kLanes, 0);
      score(segment, blocks, memory);
      const std::size_t keys = memory + rows;
      const std::size_t padded_keys = memory + blocks * kLanes;
      for (std::size_t row = 0; row < rows && keys < padded_keys; ++row) {
        std::fill(scores.data() + row * kMostKeys + keys, scores.data() + row * kMostKeys + padded_keys,
                  -std::numeric_limits<float>::infinity());
      }
      exponentials(scores.data(), rows, padded_keys, sums.data());
      const float* const values = call.workspace.values.data() + (head * call.padded() + first_key) * kAttention;
      Multiply({values, nullptr, keys, 1, rows, false, scores.data(), kMostKeys, attended.data() + head * kAttention,
                kWidth});
      for (std::size_t row = 0; row < rows; ++row) {
        const float share = 1.0f / sums.data()[row];
        float* const out = attended.data() + row * kWidth + head * kAttention;
        for (std::size_t i = 0; i < kAttention; ++i) out[i] *= share;
      }
    }
    float* const states = call.states + segment * kRows * kWidth;
    join_.Apply(attended.data(), rows, Then::kNothing, change.data());
    AddTo(states, change.data(), rows * kWidth);
    before_feed_.Apply(states, rows, call.feed_factor, attended.data());
    first_.Apply(attended.data(), rows, Then::kRelu, between.data());
    out_.Apply(between.data(), rows, Then::kNothing, change.data());
    AddTo(states, change.data(), rows * kWidth);
  }
}

void SegmentLayer::Apply(const LaneArray& condition, std::size_t rows, SegmentWorkspace& workspace,
                         const ParallelLoop& loop, LaneArray& states) const {
  const Call call{rows, before_attention_.Factor(condition), before_feed_.Factor(condition), workspace, states.data()};
  const std::size_t segments = call.padded() / kRows;
  const auto tasks = static_cast<int>((segments + kSegmentsAtOnce - 1) / kSegmentsAtOnce);
  const auto first = [](int task) { return static_cast<std::size_t>(task) * kSegmentsAtOnce; };
  const auto end = [segments, &first](int task) { return std::min(segments, first(task + 1)); };
  // All keys and values come first: a segment changes its own states, and the next one attends to what they were.
  loop(tasks, [&](int task) { Project(call, first(task), end(task)); });
  loop(tasks, [&](int task) { Attend(call, first(task), end(task)); });
}

}  // namespace millrace
