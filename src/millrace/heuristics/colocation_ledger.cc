// SPDX-License-Identifier: Apache-2.0
#include "millrace/heuristics/colocation_ledger.h"

#include <algorithm>

namespace millrace {

ColocationLedger::ColocationLedger(const CostedGraph& costed)
    : costed_(&costed),
      seconds_(static_cast<std::size_t>(costed.num_colocations) * static_cast<std::size_t>(costed.num_devices)),
      device_(static_cast<std::size_t>(costed.num_colocations), -1),
      owed_(static_cast<std::size_t>(costed.topology.num_units), 0.0) {
  const auto devices = static_cast<std::size_t>(costed.num_devices);
  for (std::size_t group = 0; group < costed.colocation.size(); ++group) {
    if (costed.colocation[group] < 0) continue;
    const std::size_t row = static_cast<std::size_t>(costed.colocation[group]) * devices;
    for (std::size_t d = 0; d < devices; ++d) seconds_[row + d] += costed.seconds[group * devices + d];
  }
}

void ColocationLedger::Clear() {
  std::fill(device_.begin(), device_.end(), -1);
  std::fill(owed_.begin(), owed_.end(), 0.0);
}

double ColocationLedger::RestOfOpen(int group, int device) const {
  const auto row = static_cast<std::size_t>(ColocationOf(group)) * static_cast<std::size_t>(costed_->num_devices);
  return seconds_[row + static_cast<std::size_t>(device)] - costed_->Seconds(group, device);
}

double ColocationLedger::Owed(int device) const {
  double most = 0;
  for (const std::int32_t unit : costed_->topology.UnitsAt(device))
    most = std::max(most, owed_[static_cast<std::size_t>(unit)]);
  return most;
}

void ColocationLedger::Place(int group, int device) {
  if (ColocationOf(group) < 0) return;
  const double change = Settled(group) ? -costed_->Seconds(group, device) : RestOfOpen(group, device);
  for (const std::int32_t unit : costed_->topology.UnitsAt(device)) owed_[static_cast<std::size_t>(unit)] += change;
  device_[static_cast<std::size_t>(ColocationOf(group))] = device;
}

}  // namespace millrace
