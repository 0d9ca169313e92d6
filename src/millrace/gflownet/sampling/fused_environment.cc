// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/fused_environment.h"

#include <utility>

namespace millrace {

std::shared_ptr<const FusedEnvironment> FusedEnvironments::For(const FusionGroups& groups) {
  {
    const std::lock_guard<std::mutex> lock(guard_);
    const auto found = entries_.find(groups);
    if (found != entries_.end()) {
      uses_.splice(uses_.begin(), uses_, found->second.use);
      return found->second.made;
    }
  }
  // This takes long, so it is done outside the lock.
  auto made = std::make_shared<const FusedEnvironment>(model_, groups);
  const std::lock_guard<std::mutex> lock(guard_);
  ++made_;
  const auto [entry, first] = entries_.emplace(groups, Entry{made, {}});
  if (!first) return entry->second.made;
  uses_.push_front(&entry->first);
  entry->second.use = uses_.begin();
  if (entries_.size() > capacity_) {
    const auto oldest = entries_.find(*uses_.back());
    uses_.pop_back();
    entries_.erase(oldest);
  }
  return made;
}

}  // namespace millrace
