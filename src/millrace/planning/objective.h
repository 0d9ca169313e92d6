// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

// What a plan is to be good at. Seconds.
namespace millrace {

struct Objective {
  enum class Aim {
    kLatency,     // one run takes the least
    kMemory,      // the fullest memory holds the least, among plans that are fast enough
    kThroughput,  // overlapping runs follow each other the soonest, among plans that are fast enough
  };

  Aim aim = Aim::kLatency;
  // Fast enough is a plan that takes at most so many times what the fastest takes, or `seconds` where they are set.
  double within = 1.1;
  std::optional<double> seconds;

  double Limit(double fastest) const { return seconds.value_or(within * fastest); }

  bool operator==(const Objective&) const = default;
};

// "latency", "memory" or "throughput"; the last two with ",within=RATIO" or ",seconds=S". Throws InvalidInput.
Objective ParseObjective(std::string_view words);

// "memory"
const char* NameOf(Objective::Aim aim);

}  // namespace millrace
