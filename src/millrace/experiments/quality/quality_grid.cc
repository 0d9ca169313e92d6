// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality_grid.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "millrace/cost/analytic_cost.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/task_graph.h"

namespace millrace {
namespace {

constexpr std::array kOps = {60, 200, 1000};
constexpr std::array kDevices = {"4", "8", "2+2", "4+4"};
constexpr std::array kCcr = {0.2, 1.0, 5.0};
constexpr int kGraphs = 2;

bool Unlike(const QualityInstance& instance) { return instance.devices.find('+') != std::string::npos; }

}  // namespace

Machine MakeQualityMachine(const QualityInstance& instance) {
  Machine machine;
  machine.name = instance.devices;
  const bool unlike = Unlike(instance);
  const int count = (unlike ? 2 : 1) * (instance.devices[0] - '0');
  for (int device = 0; device < count; ++device) {
    Device made;
    made.name = "d" + std::to_string(device);
    made.kind = unlike && 2 * device >= count ? "slow" : "fast";
    made.units = {device};
    made.flops_per_second = 1e12;
    made.memory_bandwidth = 1e11;
    machine.devices.push_back(made);
  }
  machine.default_link = DefaultLink{0, 1e9};
  return machine;
}

std::vector<QualityInstance> QualityGridOf(const std::vector<std::string>& families) {
  std::vector<QualityInstance> grid;
  for (std::size_t ops = 0; ops < kOps.size(); ++ops) {
    for (std::size_t devices = 0; devices < kDevices.size(); ++devices) {
      for (std::size_t ccr = 0; ccr < kCcr.size(); ++ccr) {
        const std::size_t turn = (2 * ops + devices + 3 * ccr) % families.size();
        for (std::size_t family = 0; family < families.size(); ++family) {
          for (int number = 0; number < kGraphs; ++number) {
            grid.push_back({.ops = kOps[ops],
                            .devices = kDevices[devices],
                            .ccr = kCcr[ccr],
                            .family = families[family],
                            .number = number,
                            .seed = kQualitySeed + grid.size(),
                            .quick = family == turn && number == 0});
          }
        }
      }
    }
  }
  return grid;
}

std::vector<QualityInstance> QualityGrid() { return QualityGridOf(RandomFamilyNames()); }

std::vector<QualityInstance> QuickPartOf(const std::vector<QualityInstance>& grid) {
  std::vector<QualityInstance> quick;
  for (const QualityInstance& instance : grid) {
    if (instance.quick) quick.push_back(instance);
  }
  return quick;
}

ComputationGraph MakeQualityGraph(const QualityInstance& instance) {
  const KindFactors kinds = Unlike(instance) ? KindFactors{{"fast", 1}, {"slow", 2}} : KindFactors{};
  const std::vector<std::string>& tasks = TaskGraphNames();
  if (std::find(tasks.begin(), tasks.end(), instance.family) != tasks.end()) {
    return MakeTaskGraph(instance.family,
                         {.ops = instance.ops, .ccr = instance.ccr, .seed = instance.seed, .kinds = kinds});
  }
  RandomGraphOptions options;
  options.ops = instance.ops;
  options.ccr = instance.ccr;
  options.seed = instance.seed;
  options.kinds = kinds;
  return MakeRandomGraph(instance.family, options);
}

CostedGraph MakeQualityProblem(const QualityInstance& instance) {
  const ComputationGraph graph = MakeQualityGraph(instance);
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, MakeQualityMachine(instance)), SingleOpGroups(graph));
}

}  // namespace millrace
