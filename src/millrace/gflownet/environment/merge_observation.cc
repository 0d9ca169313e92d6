// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/merge_observation.h"

#include <algorithm>
#include <cmath>

#include "millrace/network/squash.h"
#include "millrace/plan/fusion_table.h"
#include "millrace/random/split_mix.h"

namespace millrace {
namespace {

// Groups whose seconds are remembered at a time. They take some tens of megabytes.
constexpr std::size_t kMostRows = 1 << 19;

// Sums over two different sets of ops are equal only by chance.
std::uint64_t ScatteredOp(OpId op) { return Scattered(static_cast<std::uint64_t>(op) * kSplitMixStep); }

}  // namespace

MergeObserver::MergeObserver(const FusionProblem& problem) : problem_(problem) {
  double sum = 0;
  std::int64_t count = 0;
  for (OpId op = 0; op < problem.graph().num_ops(); ++op) {
    for (const double seconds : problem.Seconds(op)) {
      if (!std::isfinite(seconds)) continue;
      sum += seconds;
      ++count;
    }
  }
  if (sum > 0) mean_seconds_ = sum / static_cast<double>(count);
  sum = 0;
  for (const Tensor& tensor : problem.graph().tensors()) sum += tensor.bytes;
  if (sum > 0) mean_bytes_ = sum / problem.graph().num_tensors();
}

void MergeObserver::Observe(const FusionState& state, MergeObservation& observation) {
  const Merge merge = state.offer();
  const OpId first_group = state.GroupOf(merge.producer);
  first_.clear();
  second_.clear();
  bool anchor = false;
  for (const OpId op : state.union_ops()) {
    (state.GroupOf(op) == first_group ? first_ : second_).push_back(op);
    anchor = anchor || problem_.anchor(op);
  }
  if (rows_.size() > kMostRows) {
    rows_.clear();
    seconds_.clear();
  }
  const std::size_t fused_row = SecondsOf(state.union_ops());
  const std::size_t first_row = SecondsOf(first_);
  const std::size_t second_row = SecondsOf(second_);

  // Only devices that can run the union and both groups count.
  std::size_t best = 0;
  double most_saved = 0;
  const auto saved_on = [&](std::size_t device) {
    return seconds_[first_row + device] + seconds_[second_row + device] - seconds_[fused_row + device];
  };
  const auto devices = static_cast<std::size_t>(problem_.num_devices());
  bool any = false;
  for (std::size_t device = 0; device < devices; ++device) {
    if (!std::isfinite(seconds_[fused_row + device]) || !std::isfinite(saved_on(device))) continue;
    if (!any || seconds_[fused_row + device] < seconds_[fused_row + best]) best = device;
    most_saved = any ? std::max(most_saved, saved_on(device)) : saved_on(device);
    any = true;
  }
  const auto in_means = [this](double seconds) { return static_cast<float>(seconds / mean_seconds_); };
  observation.saved = any ? saved_on(best) / mean_seconds_ : 0;
  const FeatureRow<MergeFeature> f(observation.features.data());
  f[MergeFeature::kSaved] = Squash(static_cast<float>(observation.saved));
  f[MergeFeature::kMostSaved] = Squash(in_means(most_saved));
  f[MergeFeature::kBytesSaved] = Squash(static_cast<float>(BytesSaved(state) / mean_bytes_));
  f[MergeFeature::kSeconds] = any ? Squash(in_means(seconds_[fused_row + best])) : 0;
  f[MergeFeature::kProducerSeconds] = any ? Squash(in_means(seconds_[first_row + best])) : 0;
  f[MergeFeature::kConsumerSeconds] = any ? Squash(in_means(seconds_[second_row + best])) : 0;
  f[MergeFeature::kProducerSize] = static_cast<float>(first_.size()) / kMostOpsPerGroup;
  f[MergeFeature::kConsumerSize] = static_cast<float>(second_.size()) / kMostOpsPerGroup;
  f[MergeFeature::kHasAnchor] = anchor ? 1.0f : 0.0f;
  f[MergeFeature::kReaders] = std::log1p(static_cast<float>(problem_.graph().Successors(merge.producer).size()));
  f[MergeFeature::kProducers] = std::log1p(static_cast<float>(problem_.graph().Predecessors(merge.consumer).size()));
  f[MergeFeature::kPassed] =
      static_cast<float>(state.candidates_passed()) / static_cast<float>(problem_.candidates().size());
}

// Where the seconds of the group are in seconds_. Asks the model if they are not there yet.
std::size_t MergeObserver::SecondsOf(std::span<const OpId> ops) {
  std::uint64_t digest = 0;
  for (const OpId op : ops) digest += ScatteredOp(op);
  const auto [entry, unknown] = rows_.emplace(digest, seconds_.size());
  if (unknown) {
    for (int device = 0; device < problem_.num_devices(); ++device)
      seconds_.push_back(problem_.model().GroupSeconds(ops, device));
  }
  return entry->second;
}

// Bytes of the tensors between the two groups that nobody else reads.
double MergeObserver::BytesSaved(const FusionState& state) const {
  const auto among = [](std::span<const OpId> ops, OpId op) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  };
  double bytes = 0;
  for (const OpId op : first_) {
    for (const TensorId id : problem_.graph().Outputs(op)) {
      const Tensor& tensor = problem_.graph().tensor(id);
      if (tensor.output) continue;
      bool crosses = false;
      bool leaves = false;
      for (const OpId consumer : tensor.consumers) {
        leaves = !among(state.union_ops(), consumer);
        if (leaves) break;
        crosses = crosses || among(second_, consumer);
      }
      if (crosses && !leaves) bytes += tensor.bytes;
    }
  }
  return bytes;
}

}  // namespace millrace
