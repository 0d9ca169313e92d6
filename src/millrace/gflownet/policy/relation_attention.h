// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/vector/lanes.h"

// The attention of one group to others where every pair belongs to one head. It gives what the Topoformer's seven
// masked heads give, at a seventh of the cost. The formulas are in topoformer.h.
namespace millrace {

inline constexpr int kMostHeads = 9;

struct AttentionRow {
  int heads = 0;                          // at most kMostHeads
  const float* query = nullptr;           // LaneArray; heads x kAttention
  const float* keys = nullptr;            // LaneArray; by group x heads x kAttention
  const float* values = nullptr;          // LaneArray; by group x heads x kAttention
  const std::int32_t* others = nullptr;   // by pair: the group that is attended to
  const std::uint8_t* head_of = nullptr;  // by pair: its head
  std::size_t pairs = 0;
  float* scores = nullptr;  // by pair: a number added to its score; overwritten
  float* out = nullptr;     // LaneArray; heads x kAttention; 0 for a head without pairs
};

void Attend(const AttentionRow& row);

}  // namespace millrace
