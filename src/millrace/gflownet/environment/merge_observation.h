// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "millrace/fusion/fusion_choices.h"
#include "millrace/network/feature_row.h"

// What a policy is shown of an offered merge: the union of a producer's and a consumer's group. Among the features
// seconds are in units of the mean op's (over ops and the devices that run them), bytes in units of the mean tensor's,
// both squashed (network/squash.h).
namespace millrace {

inline constexpr int kMergeFeatures = 12;

// "There" is the union's fastest device. Without a device that can run the union and both groups, features that tell of
// seconds are 0.
enum class MergeFeature : std::size_t {
  kSaved,            // seconds that merging saves there
  kMostSaved,        // the most seconds that merging saves on any device
  kBytesSaved,       // bytes of the tensors between the two groups that nobody else reads
  kSeconds,          // seconds of the union there
  kProducerSeconds,  // seconds of the producer's group there
  kConsumerSeconds,  // seconds of the consumer's group there
  kProducerSize,     // ops of the producer's group / kMostOpsPerGroup
  kConsumerSize,     // ops of the consumer's group / kMostOpsPerGroup
  kHasAnchor,        // 1 where the union has an anchor
  kReaders,          // log(1 + number of ops that read what the producer makes)
  kProducers,        // log(1 + number of ops whose tensors the consumer reads)
  kPassed,           // share of all candidates that come before this one
  kCount
};
static_assert(kCountOf<MergeFeature> == kMergeFeatures);

struct MergeObservation {
  std::array<float, kMergeFeatures> features{};
  double saved = 0;  // MergeFeature::kSaved before it is squashed: what fusing is worth by the proxy
};

// Describes the offers of one problem, which must outlive it. Remembers the model's seconds of a group by a 64-bit
// digest of its ops, so that many walks ask the model little more than one walk does. One object serves one thread.
class MergeObserver {
 public:
  explicit MergeObserver(const FusionProblem& problem);

  // Describes state.offer(). The state must be of this problem and not done.
  void Observe(const FusionState& state, MergeObservation& observation);

 private:
  std::size_t SecondsOf(std::span<const OpId> ops);
  double BytesSaved(const FusionState& state) const;

  const FusionProblem& problem_;
  double mean_seconds_ = 1;
  double mean_bytes_ = 1;
  std::unordered_map<std::uint64_t, std::size_t> rows_;  // by digest: where the seconds of a group are in seconds_
  std::vector<double> seconds_;
  std::vector<OpId> first_, second_;
};

}  // namespace millrace
