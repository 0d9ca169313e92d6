// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>

#include "millrace/cost/analytic_cost.h"
#include "millrace/gflownet/environment/rank_completion.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/workloads/random_graph.h"

// Plans a second of stepwise sampling on one core, and where the time goes: `Sample` is all of it, `Observe` leaves the
// network out (every step is still described to a policy), `Append` builds the same plans without describing anything.
// `SampleLookingAhead` is `Sample` with an outlook of every choice, `Complete` what list scheduling makes of a first
// one.
namespace millrace {
namespace {

struct RolloutCase {
  explicit RolloutCase(std::int64_t ops, int devices) {
    RandomGraphOptions options;
    options.ops = ops;
    graph = MakeRandomGraph("layered", options);
    for (int d = 0; d < devices; ++d)
      machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e12, 1e11, {}, 0});
    machine.default_link = DefaultLink{0, 1e9};
    costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
    environment = std::make_unique<Environment>(costed);
    Random random(1);
    Weights weights = InitialMessagePassingWeights(random);
    network = MakeMessagePassingPolicy(weights)->Prepare(*environment, 0.01);
    LookAhead(weights);
    looking_ahead = MakeMessagePassingPolicy(weights)->Prepare(*environment, 0.01);
  }

  ComputationGraph graph;
  Machine machine;
  CostedGraph costed;
  std::unique_ptr<Environment> environment;
  std::unique_ptr<PreparedPolicy> network, looking_ahead;
};

void CountPlans(benchmark::State& state) {
  state.counters["plans"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void SampleFrom(const RolloutCase& problem, const PreparedPolicy& network, benchmark::State& state) {
  SamplerOptions options;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        SampleTrajectories(*problem.environment, network, 1, options, Random(1), nullptr).front().makespan);
    ++options.first;
  }
  CountPlans(state);
}

void Sample(benchmark::State& state) {
  const RolloutCase problem(state.range(0), static_cast<int>(state.range(1)));
  SampleFrom(problem, *problem.network, state);
}
BENCHMARK(Sample)->Args({60, 4})->Args({1000, 4})->Args({1000, 8})->Args({10000, 8})->Unit(benchmark::kMillisecond);

void SampleLookingAhead(benchmark::State& state) {
  const RolloutCase problem(state.range(0), static_cast<int>(state.range(1)));
  SampleFrom(problem, *problem.looking_ahead, state);
}
BENCHMARK(SampleLookingAhead)
    ->Args({60, 4})
    ->Args({1000, 4})
    ->Args({1000, 8})
    ->Args({10000, 8})
    ->Unit(benchmark::kMillisecond);

void Observe(benchmark::State& state) {
  const RolloutCase problem(state.range(0), static_cast<int>(state.range(1)));
  const std::vector<Action> actions =
      SampleTrajectories(*problem.environment, *problem.network, 1, {}, Random(1), nullptr).front().actions;
  millrace::State plan(*problem.environment);
  Observation observation;
  for (auto _ : state) {
    plan.Clear();
    for (const Action action : actions) {
      ObserveGroups(plan, observation);
      benchmark::DoNotOptimize(observation.features.data());
      ObserveDevices(plan, action.group, observation);
      benchmark::DoNotOptimize(observation.features.data());
      plan.Append(action);
    }
  }
  CountPlans(state);
}
BENCHMARK(Observe)->Args({60, 4})->Args({1000, 4})->Args({1000, 8})->Args({10000, 8})->Unit(benchmark::kMillisecond);

void Append(benchmark::State& state) {
  const RolloutCase problem(state.range(0), static_cast<int>(state.range(1)));
  const std::vector<Action> actions =
      SampleTrajectories(*problem.environment, *problem.network, 1, {}, Random(1), nullptr).front().actions;
  millrace::State plan(*problem.environment);
  for (auto _ : state) {
    plan.Clear();
    for (const Action action : actions) plan.Append(action);
    benchmark::DoNotOptimize(plan.makespan());
  }
  CountPlans(state);
}
BENCHMARK(Append)->Args({60, 4})->Args({1000, 4})->Args({1000, 8})->Args({10000, 8})->Unit(benchmark::kMillisecond);

// All groups but the first.
void Complete(benchmark::State& state) {
  const RolloutCase problem(state.range(0), static_cast<int>(state.range(1)));
  const millrace::State nothing(*problem.environment);
  const Action first{nothing.ready().front(), 0};
  RankCompletion completion(*problem.environment);
  for (auto _ : state) benchmark::DoNotOptimize(completion.Makespan(nothing, first, CompletionRule::kFinish));
  CountPlans(state);
}
BENCHMARK(Complete)->Args({60, 4})->Args({1000, 4})->Args({1000, 8})->Args({10000, 8})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
