// SPDX-License-Identifier: Apache-2.0
#include "millrace/steering_flags.h"

#include <optional>

#include "millrace/cost/steering_request.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/plan_json.h"

namespace millrace::cli {

void AddObjectiveOption(CLI::App& verb, std::string& objective) {
  verb.add_option(
          "--objective", objective,
          "latency, memory (the fullest memory holds the least) or throughput (overlapping runs follow each other "
          "the soonest); the last two among plans that take at most 1.1 times what the fastest takes, or "
          "memory,within=RATIO or memory,seconds=S")
      ->capture_default_str();
}

void AddSteeringOptions(CLI::App& verb, SteeringFlags& flags) {
  verb.add_option(
          "--pin", flags.pins,
          "PATTERN=DEVICE: ops of such names (* and ? stand for others) run on this device, a name or a number; "
          "may be given again")
      ->allow_extra_args(false);
  verb.add_option("--keep", flags.keep,
                  "Plan of this graph whose groups stay as they are and on their devices; their order is free");
  verb.add_option("--keep-ops", flags.keep_ops,
                  "Of the plan to keep, only groups with ops of such names; after ! all but these; may be given again")
      ->allow_extra_args(false);
}

Steering SteeringOf(const CommandLine& line, const SteeringFlags& flags, const ComputationGraph& graph,
                    const Machine& machine) {
  if (!flags.keep_ops.empty() && flags.keep.empty())
    throw InvalidInput("--keep-ops says what of a plan is kept; name the plan with --keep");
  std::vector<Pin> pins;
  pins.reserve(flags.pins.size());
  for (const std::string& words : flags.pins) pins.push_back(ParsePin(words));
  std::optional<KeptPlan> kept;
  if (!flags.keep.empty()) {
    PlanReading reading;
    reading.dimensions = line.common.dimensions;
    kept = KeptPlan{LoadPlan(flags.keep, graph, reading), flags.keep_ops};
  }
  return MakeSteering(graph, machine, pins, kept);
}

}  // namespace millrace::cli
