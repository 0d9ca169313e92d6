// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "millrace/env/fusion_choices.h"

// What a policy is shown of an offered merge. Seconds are in units of the mean op's (over ops and the devices that run
// them), bytes in units of the mean tensor's, both squashed by x / sqrt(1 + |x|) among the features.
namespace millrace {

inline constexpr int kMergeFeatures = 12;

struct MergeObservation {
  // 0 seconds saved on the union's fastest device; 1 the most saved on any device; 2 bytes that would stay inside; 3,
  // 4, 5 seconds of the union, the producer's and the consumer's group on that device; 6, 7 size of the two groups as
  // shares of the most; 8 has the union an anchor; 9 readers of what the producer makes, log; 10 producers that the
  // consumer reads, log; 11 share of candidates passed.
  std::array<float, kMergeFeatures> features{};
  double saved = 0;  // feature 0 before it is squashed: what fusing is worth by the proxy
};

// Describes the offers of one problem, which must outlive it. Remembers what the model said about a union, by a 64-bit
// digest of its ops, so that many walks ask it little more than one does. One object serves one thread.
class MergeObserver {
 public:
  explicit MergeObserver(const FusionProblem& problem);

  // Of state.offer(). The state must be of this problem and not done.
  void Observe(const FusionState& state, MergeObservation& observation);

 private:
  std::size_t SecondsOf(std::span<const OpId> ops);
  double BytesSaved(const FusionState& state) const;

  const FusionProblem& problem_;
  double mean_seconds_ = 1;
  double mean_bytes_ = 1;
  std::unordered_map<std::uint64_t, std::size_t> rows_;  // where the seconds of a group by device are in seconds_
  std::vector<double> seconds_;
  std::vector<OpId> first_, second_;
};

}  // namespace millrace
