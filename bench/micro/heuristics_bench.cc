// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>

#include "millrace/cost/analytic_cost.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/heuristics/random_schedulers.h"
#include "millrace/workloads/random_graph.h"

// How long the heuristics take on graphs of 1,000 to 80,000 ops and 8 devices.
namespace millrace {
namespace {

ComputationGraph LayeredGraph(std::int64_t ops, const std::vector<std::pair<std::string, double>>& kinds) {
  RandomGraphOptions options;
  options.ops = ops;
  options.kinds = kinds;
  return MakeRandomGraph("layered", options);
}

// Eight devices of eight kinds, so that none can stand for another.
CostedGraph LayeredProblem(std::int64_t ops) {
  Machine machine;
  std::vector<std::pair<std::string, double>> kinds;
  for (int d = 0; d < 8; ++d) {
    Device device;
    device.name = device.kind = "kind" + std::to_string(d);
    device.units = {d};
    device.flops_per_second = device.memory_bandwidth = 1e9;
    machine.devices.push_back(device);
    kinds.emplace_back(device.kind, 1.0);
  }
  machine.default_link = DefaultLink{1e-3, 1e9};
  const ComputationGraph graph = LayeredGraph(ops, kinds);
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

template <typename Schedule>
void Run(benchmark::State& state, Schedule schedule) {
  const CostedGraph costed = LayeredProblem(state.range(0));
  double makespan = 0;
  for (auto _ : state) makespan = schedule(costed).makespan;
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["makespan"] = makespan;
}

void Heft(benchmark::State& state) {
  Run(state, [](const CostedGraph& costed) { return ScheduleHeft(costed, PartialSchedule::Gaps::kFill); });
}
void HeftAppend(benchmark::State& state) {
  Run(state, [](const CostedGraph& costed) { return ScheduleHeft(costed, PartialSchedule::Gaps::kLeave); });
}
void Cpop(benchmark::State& state) { Run(state, ScheduleCpop); }
void Peft(benchmark::State& state) { Run(state, SchedulePeft); }
void Etf(benchmark::State& state) { Run(state, ScheduleEtf); }
void Dls(benchmark::State& state) { Run(state, ScheduleDls); }
void MinMin(benchmark::State& state) { Run(state, ScheduleMinMin); }
void MaxMin(benchmark::State& state) { Run(state, ScheduleMaxMin); }

BENCHMARK(Heft)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(HeftAppend)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(Cpop)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(Peft)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(Etf)->Arg(1000)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(Dls)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(MinMin)->Arg(80000)->Unit(benchmark::kMillisecond);
BENCHMARK(MaxMin)->Arg(80000)->Unit(benchmark::kMillisecond);

void RandomisedListSample(benchmark::State& state) {
  const CostedGraph costed = LayeredProblem(state.range(0));
  const Random random(0);
  RandomisedList list(costed);
  std::int64_t sample = 1;
  for (auto _ : state) benchmark::DoNotOptimize(list.Sample(sample++, random));
}
BENCHMARK(RandomisedListSample)->Arg(1000)->Unit(benchmark::kMillisecond);

// Mostly fusible types, as in real models.
void Fusion(benchmark::State& state) {
  GraphData data = LayeredGraph(state.range(0), {}).data();
  Random random(0);
  for (Op& op : data.ops) {
    constexpr const char* kTypes[] = {"Conv", "Relu", "Add", "Mul", "MaxPool"};
    op.type = kTypes[random.Below(5)];
  }
  const ComputationGraph graph(std::move(data));
  std::size_t groups = 0;
  for (auto _ : state) groups = GreedyFusion(graph).size();
  state.counters["groups"] = static_cast<double>(groups);
}
BENCHMARK(Fusion)->Arg(80000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
