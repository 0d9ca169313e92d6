// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "millrace/cost/analytic_cost.h"
#include "millrace/fusion/fusion_choices.h"
#include "millrace/gflownet/environment/merge_observation.h"
#include "millrace/random/random.h"
#include "millrace/workloads/random_graph.h"

// Rows of fusion answers a second on one core, on layered graphs where most ops may fuse: `Answer` decides every offer
// at random, `Describe` also shows each to a policy.
namespace millrace {
namespace {

ComputationGraph FusibleGraph(std::int64_t ops) {
  RandomGraphOptions options;
  options.ops = ops;
  GraphData data = MakeRandomGraph("layered", options).data();
  Random random(1);
  for (Op& op : data.ops) {
    const double share = random.Uniform();
    op.type = share < 0.2 ? "Split" : share < 0.5 ? "Conv" : "Add";
  }
  return ComputationGraph(std::move(data));
}

void Walk(benchmark::State& state, bool described) {
  const ComputationGraph graph = FusibleGraph(state.range(0));
  Machine machine;
  for (int d = 0; d < 4; ++d) machine.devices.push_back({"d" + std::to_string(d), "cpu", {d}, 1e12, 1e11, {}, 0});
  machine.default_link = DefaultLink{0, 1e9};
  const auto model = MakeAnalyticCostModel(graph, machine);
  const FusionProblem problem(*model);
  FusionState walk(problem);
  MergeObserver observer(problem);
  MergeObservation observation;
  Random random(2);
  std::size_t offers = 0;
  for (auto _ : state) {
    walk.Clear();
    while (!walk.done()) {
      if (described) {
        observer.Observe(walk, observation);
        benchmark::DoNotOptimize(observation.saved);
      }
      if (random.Below(2) == 0) {
        walk.Accept();
      } else {
        walk.Decline();
      }
    }
    offers = walk.answers().size();
  }
  state.counters["offers"] = static_cast<double>(offers);
  state.counters["rows"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void Answer(benchmark::State& state) { Walk(state, false); }
BENCHMARK(Answer)->Arg(1000)->Arg(10000)->Arg(80000)->Unit(benchmark::kMillisecond);

void Describe(benchmark::State& state) { Walk(state, true); }
BENCHMARK(Describe)->Arg(1000)->Arg(10000)->Arg(80000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
