// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/target/hand_over.h"

// Do the processors lie where they lay? The host of a virtual machine may move them from one last cache to two and
// back, every few seconds or minutes. What one hands to another then takes five times as long, or a fifth, work on
// several takes up to half longer or less, and times from before do not compare with times from after. Seconds.
namespace millrace {

class ProcessorWatch {
 public:
  // Watches nothing: nothing is measured, and nothing ever moves.
  ProcessorWatch() = default;

  // The units of a machine; watches nothing where what its transfers cost is no guess (GuessesHandOvers).
  ProcessorWatch(const Machine& machine, HandOverMeter meter);

  bool watches() const { return machine_.has_value(); }

  // The machine with hand-overs as they are now. Precondition: watches().
  Machine Measure();

  // Whether hand-overs take twice as long as when they were last measured, here or by Measure, or half.
  bool Moved();

  // The latency that was measured last; 0 before.
  double latest() const { return latest_; }

  // How often they have moved since the last Measure, as far as anybody asked.
  int moves() const { return moves_; }

  // One line where they have.
  std::optional<std::string> Warning() const;

 private:
  Machine Look() const;

  std::optional<Machine> machine_;  // as it was given
  std::vector<int> units_;
  std::vector<int> shared_depths_;  // SharedDepths of the units
  HandOverMeter meter_;
  double planned_with_ = 0;  // the latency that Measure found
  double latest_ = 0;
  int moves_ = 0;
};

}  // namespace millrace
