// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classes.h"
#include "conversions.h"
#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/one_method.h"
#include "millrace/optimize/planners.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/bounds.h"
#include "millrace/simulate/proven_bound.h"
#include "millrace/simulate/simulation.h"
#include "steering.h"
#include "watched.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace millrace::python {
namespace {

py::dict DictOf(OneMethodResult result) {
  auto plan = std::make_shared<PlanRecord>(std::move(result.record));
  py::list front;
  for (const Candidate& candidate : result.front)
    front.append(py::make_tuple(candidate.proxy_seconds, *candidate.value));
  return py::dict("plan"_a = plan, "method"_a = plan->method, "makespan_seconds"_a = plan->proxy_seconds,
                  "lower_bound_seconds"_a = result.lower_bound, "proven_bound_seconds"_a = result.proven_bound,
                  "fusion_free_bound_seconds"_a = result.fusion_free_bound, "samples"_a = result.samples,
                  "wall_seconds"_a = result.wall_seconds, "mean_makespan_seconds"_a = result.mean_makespan,
                  "distance"_a = result.distance, "memory_saving"_a = result.memory_saving,
                  "front"_a = py::tuple(front));
}

py::dict Schedule(const GraphObject& graph, const std::shared_ptr<Machine>& machine, const std::string& method,
                  const std::optional<std::string>& proxy, const std::optional<std::string>& fusion,
                  std::optional<std::int64_t> samples, std::optional<std::int64_t> iterations,
                  std::optional<double> time_limit, const std::string& objective, const PinWords& pins,
                  const std::shared_ptr<PlanRecord>& keep, const std::vector<std::string>& keep_ops, std::uint64_t seed,
                  int threads, const std::string& weights, const std::map<std::string, std::vector<double>>& options) {
  const OneMethodOptions planning{.fusion = fusion ? std::optional(GivenFusionNamed(*fusion)) : std::nullopt,
                                  .samples = samples,
                                  .iterations = iterations,
                                  .time_limit = time_limit,
                                  .objective = ParseObjective(objective),
                                  .seed = seed};
  PlannerSettings settings;
  for (const auto& [name, values] : options) settings.Set(name, values);
  const Proxy judge = ProxyOf(proxy).value_or(UsualProxy(*machine));
  const auto work = [=](const Reporter&) {
    const PlannerRegistry planners = MakePlannerRegistry({.gflownet_weights = weights, .go_weights = weights},
                                                         threads > 0 ? threads : UsableProcessors());
    if (!weights.empty() && !planners.Traits(method).learned)
      throw InvalidInput(method + " takes no weights: it has not been trained");
    const std::unique_ptr<Planner> planner = planners.Make(method, settings);
    std::unique_ptr<CostModel> free = MakeAnalyticCostModel(graph.graph(), *machine, judge);
    Steering steering = SteeringOf(graph.graph(), *machine, pins, keep, keep_ops);
    CheckSteering(*free, *machine, steering);
    return PlanByOneMethod(*MakeSteeredCostModel(std::move(free), std::move(steering)), *machine, *planner, planning);
  };
  return DictOf(Watched(work));
}

py::dict SimulatePlan(const GraphObject& graph, const std::shared_ptr<PlanRecord>& plan,
                      const std::shared_ptr<Machine>& machine, const std::optional<std::string>& proxy) {
  const std::optional<Proxy> judge = ProxyOf(proxy);
  const Simulation simulation = Watched([=](const Reporter&) {
    PlanRecord record = *plan;
    if (machine) record.machine = *machine;
    if (judge) record.proxy = *judge;
    VerifyRecord(graph.graph(), record);
    return Simulate(graph.graph(), record);
  });
  return py::dict("start"_a = ArrayOf(simulation.timeline.start), "finish"_a = ArrayOf(simulation.timeline.finish),
                  "device"_a = ArrayOf(plan->plan.placement), "makespan_seconds"_a = simulation.timeline.makespan,
                  "feasible"_a = simulation.feasible, "peak_memory_bytes"_a = ArrayOf(simulation.peak_memory),
                  "lower_bound_seconds"_a = simulation.lower_bound, "proven_bound_seconds"_a = simulation.proven_bound,
                  "fragility"_a = simulation.fragility);
}

struct Bounds {
  double lower = 0, proven = 0, fusion_free = 0;
};

py::dict LowerBounds(const GraphObject& graph, const std::shared_ptr<Machine>& machine,
                     const std::optional<FusionGroups>& groups, const std::optional<std::string>& proxy) {
  const Proxy judge = ProxyOf(proxy).value_or(UsualProxy(*machine));
  const Bounds bounds = Watched([=](const Reporter&) {
    if (const auto why = groups ? WhyNotGroups(graph.graph(), *groups) : std::nullopt)
      throw InvalidInput("groups: " + *why);
    const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph.graph(), *machine, judge),
                                               groups ? *groups : SingleOpGroups(graph.graph()));
    return Bounds{LowerBound(costed), ProvenBound(costed), FusionFreeBound(graph.graph(), *machine)};
  });
  return py::dict("lower_bound_seconds"_a = bounds.lower, "proven_bound_seconds"_a = bounds.proven,
                  "fusion_free_bound_seconds"_a = bounds.fusion_free);
}

py::list Methods() {
  py::list methods;
  const PlannerRegistry planners = MakePlannerRegistry();
  for (const PlannerEntry& entry : planners.entries()) {
    py::list options;
    for (const PlannerOption& option : entry.traits.options) {
      options.append(py::dict("name"_a = option.name, "meaning"_a = option.meaning, "least"_a = option.least,
                              "most"_a = option.most, "usual"_a = option.usual, "several"_a = option.several));
    }
    methods.append(py::dict("name"_a = entry.traits.name, "meaning"_a = entry.traits.meaning,
                            "takes_samples"_a = entry.traits.takes_samples,
                            "takes_iterations"_a = entry.traits.takes_iterations,
                            "chooses_fusion"_a = entry.traits.chooses_fusion, "learned"_a = entry.traits.learned,
                            "available"_a = planners.Offers(entry.traits.name), "options"_a = options));
  }
  return methods;
}

}  // namespace

void AddPlanning(py::module_& module) {
  module.def("schedule", &Schedule, "graph"_a, "machine"_a.none(false), "method"_a, "proxy"_a, "fusion"_a, "samples"_a,
             "iterations"_a, "time_limit"_a, "objective"_a, "pins"_a, "keep"_a, "keep_ops"_a, "seed"_a, "threads"_a,
             "weights"_a, "options"_a);
  module.def("simulate", &SimulatePlan, "graph"_a, "plan"_a.none(false), "machine"_a, "proxy"_a);
  module.def("lower_bounds", &LowerBounds, "graph"_a, "machine"_a.none(false), "groups"_a, "proxy"_a);
  module.def("methods", &Methods);
}

}  // namespace millrace::python
