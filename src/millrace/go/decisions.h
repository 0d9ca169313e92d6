// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

// What GO's one-shot policy decides about a whole graph at once: a device for every colocation, and levels that order
// the ready queue and the merges of ops. Plain data; go/decoder.h turns it into a plan.
//
// Source: Zhou et al., "Transferable Graph Optimizers for ML Compilers", NeurIPS 2020.
namespace millrace {

enum class Task { kPlacement, kPriority, kFusion };

// The order in which tasks are decided: each is told what was chosen before it.
inline constexpr std::array kTasks = {Task::kPlacement, Task::kPriority, Task::kFusion};

inline constexpr int kLevels = 20;

// Rows and colocations are those of GoProblem. An empty vector means that its task is switched off and the default
// holds.
struct Decisions {
  std::vector<std::int32_t> device;    // by colocation; off: everything on one device
  std::vector<std::uint8_t> priority;  // by row, 0 .. kLevels - 1, the highest runs first; off: in order of readiness
  std::vector<std::uint8_t> fusion;    // by row: when the op is merged with a producer, the highest level first, level
                                       // 0 never; off: GreedyFusion

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

// What orders the ready queue: the level, and among equal levels GoProblem::urgency(), which is in 0..1.
inline double QueuePriority(int level, double urgency) { return level + urgency / 2; }

}  // namespace millrace
