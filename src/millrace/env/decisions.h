// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

// What a one-shot policy decides about a whole graph at once: a device for every tie, and levels that order the ready
// queue and the merges of ops. Plain data; rollout/one_shot_plan.h makes a plan of it.
//
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", NeurIPS 2020.
namespace millrace {

enum class Task { kPlacement, kPriority, kFusion };

// In the order in which they are decided: each is told what was chosen before it.
inline constexpr std::array kTasks = {Task::kPlacement, Task::kPriority, Task::kFusion};

inline constexpr int kLevels = 20;

// Rows and ties as OneShotProblem counts them. An empty vector: the task is switched off, and its default holds.
struct Decisions {
  std::vector<std::int32_t> device;    // by tie; off: everything on one device
  std::vector<std::uint8_t> priority;  // by row, 0 .. kLevels - 1, the highest runs first; off: in order of readiness
  std::vector<std::uint8_t> fusion;    // by row: when the op is merged with a producer, the highest first, 0 never;
                                       // off: GreedyFusion

  bool Has(Task task) const {
    switch (task) {
      case Task::kPlacement:
        return !device.empty();
      case Task::kPriority:
        return !priority.empty();
      case Task::kFusion:
        break;
    }
    return !fusion.empty();
  }

  bool operator==(const Decisions&) const = default;
};

// What orders the ready queue: the level, and among equals where the upward rank stands among all, in 0..1.
inline double QueuePriority(int level, double urgency) { return level + urgency / 2; }

}  // namespace millrace
