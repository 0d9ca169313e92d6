// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/outlook.h"

// Shows states of one environment to a policy. One serves one thread.
namespace millrace {

class Observer {
 public:
  // With an outlook (outlook.h), unless there are colocations, or without. The environment must outlive the observer.
  Observer(const Environment& environment, bool looks_ahead);

  // The state that is shown until the next call. It must not change meanwhile.
  void See(const State& state);

  // ObserveGroups, and what those Outlook::kMostGroups lead to that could start first; of equals those of the highest
  // upward rank. A single choice is not looked into.
  void Groups(Observation& observation);

  // ObserveDevices, and what each device leads to.
  void Devices(std::int32_t group, Observation& observation);

 private:
  // Whether there is something to look into; the outlook is zeros until then.
  bool LooksAheadOf(Observation& observation) const;

  const State* state_ = nullptr;
  std::optional<Outlook> outlook_;
  std::vector<std::size_t> asked_;
};

}  // namespace millrace
