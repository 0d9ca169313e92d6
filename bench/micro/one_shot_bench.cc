// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/go/decision_features.h"
#include "millrace/go/decoder.h"
#include "millrace/go/features.h"
#include "millrace/go/network.h"
#include "millrace/go/sampler.h"
#include "millrace/machine/preset.h"
#include "millrace/network/blocked_product.h"
#include "millrace/workloads/random_graph.h"

// What the one-shot policy costs on eight equal devices: one decision of a whole graph, and the plan made of it.
namespace millrace {
namespace {

// Every third op heavy, the others elementwise, so that there is something to merge.
ComputationGraph Fusible(std::int64_t ops) {
  RandomGraphOptions options;
  options.ops = ops;
  GraphData data = MakeRandomGraph("er", options).data();
  for (std::size_t op = 0; op < data.ops.size(); ++op) {
    data.ops[op].type = op % 3 == 0 ? "MatMul" : "Relu";
    data.ops[op].seconds = {};
    data.ops[op].flops = 1e9;
  }
  return ComputationGraph(std::move(data));
}

struct GoCase {
  explicit GoCase(std::int64_t ops)
      : graph(Fusible(ops)),
        model(MakeAnalyticCostModel(graph, *MachinePreset("homogeneous:8,latency=1e-5,bandwidth=1e10"))),
        problem(*model) {}

  ComputationGraph graph;
  std::unique_ptr<CostModel> model;
  GoProblem problem;
};

GoPolicy SomePolicy() {
  Random random(0);
  Weights weights = InitialGoWeights(random);
  for (auto& [name, tensor] : weights.tensors) {
    for (float& value : tensor.values) value += static_cast<float>(0.02 * random.Normal());
  }
  return GoPolicy(weights);
}

void MakeOneShotProblem(benchmark::State& state) {
  const GoCase problem(state.range(0));
  for (auto _ : state) {
    const GoProblem again(*problem.model);
    benchmark::DoNotOptimize(MakeGoFeatures(again).ops.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(MakeOneShotProblem)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);

void PrepareOneShot(benchmark::State& state) {
  const GoCase problem(state.range(0));
  const GoPolicy policy = SomePolicy();
  for (auto _ : state) benchmark::DoNotOptimize(policy.Prepare(problem.problem));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PrepareOneShot)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);

// One draw of two iterations, by ops and threads.
void DrawOneShotDecisions(benchmark::State& state) {
  const GoCase problem(state.range(0));
  const PreparedGoPolicy prepared = SomePolicy().Prepare(problem.problem);
  GoDrawOptions options;
  options.iterations = 2;
  options.threads = static_cast<int>(state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(DrawGo(problem.problem, prepared, 1, options, Random(1)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(DrawOneShotDecisions)
    ->Args({100, 1})
    ->Args({1000, 1})
    ->Args({80000, 1})
    ->Args({80000, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void ObserveOneShotDecisions(benchmark::State& state) {
  const GoCase problem(state.range(0));
  const PreparedGoPolicy prepared = SomePolicy().Prepare(problem.problem);
  const GoDraw draw = DrawGo(problem.problem, prepared, 1, {}, Random(1)).front();
  DecisionObservation observation;
  for (auto _ : state) {
    ObserveDecisions(problem.problem, draw.decisions(), observation);
    benchmark::DoNotOptimize(observation.places.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ObserveOneShotDecisions)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);

void DecodeOneShot(benchmark::State& state) {
  const GoCase problem(state.range(0));
  const PreparedGoPolicy prepared = SomePolicy().Prepare(problem.problem);
  const GoDraw draw = DrawGo(problem.problem, prepared, 1, {}, Random(1)).front();
  const GoDecoder decoder(problem.problem);
  for (auto _ : state) benchmark::DoNotOptimize(decoder.Decode(draw.decisions()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(DecodeOneShot)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);

// The products that layers and attention are made of: rows of 64 numbers by a matrix of so many outputs.
void MultiplyBlocked(benchmark::State& state) {
  constexpr std::size_t kRows = 960;
  constexpr std::size_t kInputs = 64;
  const auto outputs = static_cast<std::size_t>(state.range(0));
  LaneArray weight(kInputs * outputs), input(kRows * kInputs), output(kRows * outputs);
  for (auto _ : state) {
    Multiply({weight.data(), nullptr, kInputs, outputs / kLanes, kRows, false, input.data(), kInputs, output.data(),
              outputs});
    benchmark::DoNotOptimize(output.data());
    benchmark::ClobberMemory();
  }
  state.counters["flops"] = benchmark::Counter(2.0 * static_cast<double>(kRows * kInputs * outputs),
                                               benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(MultiplyBlocked)->Arg(16)->Arg(64)->Arg(128);

}  // namespace
}  // namespace millrace
