// SPDX-License-Identifier: Apache-2.0
#pragma once

// How wide the layers are that the networks of both learned planners are made of. Weights that ship have these sizes.
namespace millrace {

inline constexpr int kWidth = 64;      // of the embedding of an op or a group
inline constexpr int kMessage = 32;    // of a message along an edge
inline constexpr int kCondition = 32;  // of what conditions a whole graph: temperature, globals
inline constexpr int kHidden = 32;     // between the layers of a head

// Of attention: a head's queries, keys and values; the layer after it.
inline constexpr int kAttention = 16;
inline constexpr int kFeedForward = 128;

// Of a choice that a head scores: what describes it, and what heuristics say of it.
inline constexpr int kChoiceFeatures = 16;
inline constexpr int kChoicePriors = 4;

// What a policy that looks ahead is shown of a choice besides: features, then a prior.
inline constexpr int kAheadFeatures = 4;

}  // namespace millrace
