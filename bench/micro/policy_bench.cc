// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/gflownet/environment/environment.h"
#include "millrace/gflownet/environment/graph_features.h"
#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/policy/message_passing_encoder.h"
#include "millrace/gflownet/policy/step_heads.h"
#include "millrace/gflownet/policy/topoformer.h"
#include "millrace/workloads/random_graph.h"

// What a policy costs: the head for every choice of every step, the encoder once per graph and temperature.
namespace millrace {
namespace {

Weights Shaken(Weights weights) {
  Random random(0);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.05 * random.Normal());
  }
  return weights;
}

Weights SomeWeights() {
  Random random(0);
  return Shaken(InitialMessagePassingWeights(random));
}

// Eight equal devices.
struct PolicyCase {
  explicit PolicyCase(std::int64_t ops) {
    RandomGraphOptions options;
    options.ops = ops;
    Machine machine;
    for (int d = 0; d < 8; ++d) {
      Device device;
      device.name = "device" + std::to_string(d);
      device.kind = "cpu";
      device.units = {d};
      device.flops_per_second = device.memory_bandwidth = 1e9;
      machine.devices.push_back(device);
    }
    machine.default_link = DefaultLink{1e-3, 1e9};
    const ComputationGraph graph = MakeRandomGraph("layered", options);
    costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    environment = std::make_unique<Environment>(costed);
  }

  CostedGraph costed;
  std::unique_ptr<Environment> environment;
};

// As many group choices as asked for, scored in one call.
void ScoreGroups(benchmark::State& state) {
  const PolicyCase problem(1000);
  const auto prepared = MakeMessagePassingPolicy(SomeWeights())->Prepare(*problem.environment, 0.1);
  const State empty(*problem.environment);
  const auto count = static_cast<std::size_t>(state.range(0));
  Random random(1);
  Observation observation;
  for (std::size_t i = 0; i < count; ++i)
    observation.choices.push_back(static_cast<std::int32_t>(random.Below(problem.costed.num_groups)));
  for (std::size_t i = 0; i < count * kGroupFeatures; ++i)
    observation.features.push_back(static_cast<float>(random.Normal()));
  for (std::size_t i = 0; i < count * kGroupPriors; ++i)
    observation.priors.push_back(static_cast<float>(-random.Uniform()));
  std::vector<float> logits(count);
  for (auto _ : state) {
    prepared->ScoreGroups(empty, observation, logits);
    benchmark::DoNotOptimize(logits.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ScoreGroups)->Arg(1)->Arg(4)->Arg(8)->Arg(32)->Arg(128);

void EncodeGraph(benchmark::State& state) {
  const PolicyCase problem(state.range(0));
  const Weights weights = SomeWeights();
  const MessagePassingEncoder encoder(weights);
  const GraphFeatures graph = MakeGraphFeatures(*problem.environment);
  const LaneArray condition = ConditionNetwork(weights).Of(graph, 0.1);
  for (auto _ : state) benchmark::DoNotOptimize(encoder.Encode(graph, condition).data());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(EncodeGraph)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);

// Features, encoder and the tables of the heads.
void PreparePolicy(benchmark::State& state) {
  const PolicyCase problem(state.range(0));
  const auto policy = MakeMessagePassingPolicy(SomeWeights());
  for (auto _ : state) benchmark::DoNotOptimize(policy->Prepare(*problem.environment, 0.1));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PreparePolicy)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);

void PrepareTopoformer(benchmark::State& state) {
  const PolicyCase problem(state.range(0));
  Random random(0);
  const auto policy = MakeTopoformerPolicy(Shaken(InitialTopoformerWeights(Encodes::kGraph, random)));
  for (auto _ : state) benchmark::DoNotOptimize(policy->Prepare(*problem.environment, 0.1));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PrepareTopoformer)->Arg(60)->Arg(1000)->Arg(2000)->Unit(benchmark::kMillisecond);

// One plan by the first choice of every step, the whole state encoded again each time.
void PlanWithStateTopoformer(benchmark::State& state) {
  const PolicyCase problem(state.range(0));
  Random random(0);
  const auto prepared = MakeTopoformerPolicy(Shaken(InitialTopoformerWeights(Encodes::kState, random)))
                            ->Prepare(*problem.environment, 0.1);
  State plan(*problem.environment);
  Observation groups, devices;
  std::vector<float> logits(std::max(kReadyWindow, problem.costed.num_devices));
  for (auto _ : state) {
    plan.Clear();
    while (!plan.done()) {
      ObserveGroups(plan, groups);
      prepared->ScoreGroups(plan, groups, std::span(logits).first(groups.size()));
      ObserveDevices(plan, groups.choices.front(), devices);
      prepared->ScoreDevices(plan, groups.choices.front(), devices, std::span(logits).first(devices.size()));
      plan.Append({groups.choices.front(), devices.choices.front()});
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PlanWithStateTopoformer)->Arg(10)->Arg(60)->Arg(200)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
