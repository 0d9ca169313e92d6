// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/replay_buffer.h"

#include <algorithm>

namespace millrace {

ReplayBuffer::ReplayBuffer(const CostedGraph& costed, std::size_t capacity)
    : capacity_(std::max<std::size_t>(1, capacity)), offered_(costed) {}

bool ReplayBuffer::Offer(const Assignment& assignment, double makespan) {
  // A plan that is not good enough now never will be, for the kept plans only get better.
  if (plans_.size() == capacity_ && makespan >= plans_.back().makespan) return false;
  if (!offered_.Insert(assignment)) return false;
  const auto place = std::upper_bound(plans_.begin(), plans_.end(), makespan,
                                      [](double value, const KeptPlan& plan) { return value < plan.makespan; });
  plans_.insert(place, KeptPlan{assignment, makespan});
  if (plans_.size() > capacity_) plans_.pop_back();
  return true;
}

}  // namespace millrace
