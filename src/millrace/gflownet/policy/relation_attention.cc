// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/relation_attention.h"

#include <limits>

#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/vector/vector_math.h"

namespace millrace {
namespace {

static_assert(kAttention == kLanes, "a head's query is one row of lanes");
static_assert(kRelations + kChainRelations <= kMostHeads);

constexpr float kScale = 0.25f;
static_assert(kScale * kScale * kAttention == 1);

template <int Width>
MILLRACE_INLINE void AttendAs(const AttentionRow& row) {
  float most[kMostHeads], totals[kMostHeads];
  for (int head = 0; head < kMostHeads; ++head) {
    most[head] = -std::numeric_limits<float>::infinity();
    totals[head] = 0;
  }
  const auto at = [&row](std::size_t pair) {
    return (static_cast<std::size_t>(row.others[pair]) * static_cast<std::size_t>(row.heads) + row.head_of[pair]) *
           kAttention;
  };
  for (std::size_t pair = 0; pair < row.pairs; ++pair) {
    const float* key = row.keys + at(pair);
    const float* query = row.query + row.head_of[pair] * kAttention;
    alignas(kLanes * sizeof(float)) float products[kLanes];
    for (int lane = 0; lane < kLanes; lane += Width)
      VectorAt<Width>(products + lane) = VectorAt<Width>(query + lane) * VectorAt<Width>(key + lane);
    const float score = row.scores[pair] + kScale * SumOfLanes(products);
    row.scores[pair] = score;
    float& highest = most[row.head_of[pair]];
    highest = score > highest ? score : highest;
  }
  for (std::size_t pair = 0; pair < row.pairs; ++pair) row.scores[pair] -= most[row.head_of[pair]];
  for (std::size_t pair = 0; pair < row.pairs; ++pair) row.scores[pair] = vector_math::Exp(row.scores[pair]);

  const Vector<Width> zero = {};
  for (int lane = 0; lane < row.heads * kAttention; lane += Width) VectorAt<Width>(row.out + lane) = zero;
  for (std::size_t pair = 0; pair < row.pairs; ++pair) {
    const float* value = row.values + at(pair);
    float* out = row.out + row.head_of[pair] * kAttention;
    for (int lane = 0; lane < kLanes; lane += Width)
      VectorAt<Width>(out + lane) += row.scores[pair] * VectorAt<Width>(value + lane);
    totals[row.head_of[pair]] += row.scores[pair];
  }
  for (int head = 0; head < row.heads; ++head) {
    if (totals[head] == 0) continue;
    const float share = 1.0f / totals[head];
    for (int lane = 0; lane < kLanes; lane += Width) {
      Vector<Width>& out = VectorAt<Width>(row.out + head * kAttention + lane);
      out = share * out;
    }
  }
}

}  // namespace

void Attend(const AttentionRow& row) {
  static const auto attend =
      BestBodyOf<&AttendAs<kLanesOfBaseline>, &AttendAs<kLanesOfAvx2>, &AttendAs<kLanesOfAvx512>>();
  attend(row);
}

}  // namespace millrace
