// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "millrace/cost/costed_graph.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/plan/plan.h"
#include "millrace/train/torch/settings_table.h"

// HDP, the hierarchical placer, learned anew for every graph: the baseline that GO is held against. It decides
// placement alone; its plans run in the order of upward ranks, as a list scheduler would run them.
//
// Source: Mirhoseini et al., "A Hierarchical Model for Device Placement", ICLR 2018: REINFORCE on -sqrt(run time) with
// a moving baseline. Run times are those under contention (simulate/contention.h), in seconds; a plan that does not fit
// in memory earns kUnusableReward.
namespace millrace {

// The rows of TableOf say what the settings that are numbers mean.
struct HdpSettings {
  std::optional<int> updates = {};  // one of the two limits is needed; with this one alone the result is deterministic
  std::optional<double> seconds = {};  // wall time
  int groups = 64;
  int samples = 8;
  double learning_rate = 1e-2;
  double baseline_decay = 0.9;
  double entropy_bonus = 1e-3;
  int entropy_updates = 200;
  std::uint64_t seed = 0;
  int threads = 1;  // that evaluate plans
  int torch_threads = 1;
};

SettingsTable TableOf(HdpSettings& settings);

// Throws InvalidInput, naming the setting, and where there is no limit.
void CheckSettings(const HdpSettings& settings);

// After an update.
struct HdpProgress {
  std::int64_t updates = 0;
  std::int64_t evaluations = 0;  // of plans on the target
  double seconds = 0;            // since it began
  double best_seconds = 0;       // makespan of the best plan so far; infinity while none fits in memory
  double mean_seconds = 0;       // of this update's plans that fit; 0 where none does
};

struct HdpResult {
  std::optional<Assignment> best;  // nothing where no plan it tried fits in memory
  HdpProgress progress;
};

// `costed` is the graph's own. Throws InvalidInput for settings out of range, Interrupted, and WorkFailed where the
// gradient is not finite.
HdpResult TrainHdp(const ComputationGraph& graph, const CostedGraph& costed, const HdpSettings& settings,
                   const std::function<void(const HdpProgress&)>& observer);

}  // namespace millrace
