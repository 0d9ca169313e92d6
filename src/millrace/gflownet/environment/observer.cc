// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/environment/observer.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace millrace {

Observer::Observer(const Environment& environment, bool looks_ahead) {
  if (looks_ahead && environment.costed().num_colocations == 0) outlook_.emplace(environment);
}

void Observer::See(const State& state) {
  state_ = &state;
  if (outlook_) outlook_->From(state);
}

bool Observer::LooksAheadOf(Observation& observation) const {
  observation.outlook.assign(outlook_ ? observation.size() * kOutlookNumbers : 0, 0.0f);
  return outlook_ && observation.size() > 1;
}

void Observer::Groups(Observation& observation) {
  ObserveGroups(*state_, observation);
  if (!LooksAheadOf(observation)) return;
  // What could start first comes first, and upward rank counts a little.
  constexpr float kRankShare = 1.0f / 30;
  asked_.resize(observation.size());
  std::iota(asked_.begin(), asked_.end(), std::size_t{0});
  const auto most = std::min(asked_.size(), static_cast<std::size_t>(Outlook::kMostGroups));
  const auto score = [&observation](std::size_t choice) {
    const auto prior = RowAt<GroupPrior>(std::as_const(observation.priors), choice);
    return prior[GroupPrior::kStart] + kRankShare * prior[GroupPrior::kUpwardRank];
  };
  std::partial_sort(
      asked_.begin(), asked_.begin() + static_cast<std::ptrdiff_t>(most), asked_.end(),
      [&score](std::size_t a, std::size_t b) { return std::pair(-score(a), a) < std::pair(-score(b), b); });
  asked_.resize(most);
  outlook_->OfGroups(observation.choices, asked_, observation.outlook);
}

void Observer::Devices(std::int32_t group, Observation& observation) {
  ObserveDevices(*state_, group, observation);
  if (!LooksAheadOf(observation)) return;
  outlook_->OfDevices(group, observation.choices, observation.outlook);
}

}  // namespace millrace
