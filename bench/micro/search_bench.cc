// SPDX-License-Identifier: Apache-2.0
// How fast the searches search: items are changes tried (polish) or plans decoded (BRKGA) per second.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/heuristics/placed_list.h"
#include "millrace/heuristics/upward_rank.h"
#include "millrace/machine/preset.h"
#include "millrace/search/brkga.h"
#include "millrace/search/local_search.h"
#include "millrace/search/random_key_decoder.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr int kDevices = 8;

// `hosts`: each sends over one channel, receives over another, and shares them so.
CostedGraph Problem(std::int64_t ops, Proxy proxy = Proxy::kLinear, std::optional<Sharing> hosts = std::nullopt) {
  RandomGraphOptions options;
  options.ops = ops;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  Machine machine = *MachinePreset("homogeneous:" + std::to_string(kDevices) + ",bandwidth=1e9");
  if (hosts) machine.sharing = *hosts;
  for (int pair = 0; hosts && pair < kDevices * kDevices; ++pair) {
    const int from = pair / kDevices, to = pair % kDevices;
    if (from != to) machine.links.push_back({from, to, 0, 1e9, from, kDevices + to});
  }
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine, proxy), SingleOpGroups(graph));
}

Assignment HeftPlan(const CostedGraph& costed) {
  Assignment plan;
  Random random(0);
  MakeHeuristic("heft")->Propose(costed, {}, random,
                                 [&plan](ProposedPlan offered) { plan = std::move(offered.assignment); });
  return plan;
}

// At a temperature that stays: shares of the makespan over the groups, in hundredths.
void LocalSearchChanges(benchmark::State& state, Proxy proxy, std::optional<Sharing> hosts) {
  constexpr std::int64_t kChanges = 20'000;
  const CostedGraph costed = Problem(state.range(0), proxy, hosts);
  const Assignment start = HeftPlan(costed);
  LocalSearch local_search(costed);
  LocalSearchOptions options;
  options.first_annealing_temperature = options.last_annealing_temperature = static_cast<double>(state.range(1)) / 100;
  options.iterations = kChanges;
  Random random(1);
  for (auto _ : state) benchmark::DoNotOptimize(local_search.Improve(start, options, random));
  state.SetItemsProcessed(state.iterations() * kChanges);
}
BENCHMARK_CAPTURE(LocalSearchChanges, linear, Proxy::kLinear, std::nullopt)
    ->ArgsProduct({{60, 200, 1000}, {10, 100}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(LocalSearchChanges, contended, Proxy::kContended, std::nullopt)
    ->ArgsProduct({{60, 200, 1000}, {10, 100}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(LocalSearchChanges, in_turn, Proxy::kContended, Sharing::kOneAtATime)
    ->ArgsProduct({{60, 200, 1000}, {10}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(LocalSearchChanges, fair, Proxy::kContended, Sharing::kFair)
    ->ArgsProduct({{60, 200, 1000}, {10}})
    ->Unit(benchmark::kMillisecond);

// What a search for placements asks for: HEFT's placement with one group elsewhere, given up `percent` of that plan's
// makespan above it. Items are groups.
void PlaceOneAfterTheOther(benchmark::State& state, double percent) {
  const CostedGraph costed = Problem(state.range(0), Proxy::kContended, Sharing::kOneAtATime);
  const std::vector<double> ranks = UpwardRanks(costed, MeanSeconds(costed), MeanTransferOf(costed.topology));
  std::vector<int> placement = HeftPlan(costed).placement;
  PlacedScheduler scheduler(costed);
  const double limit = scheduler.Schedule(placement, ranks).timeline.makespan * (1 + percent / 100);
  Random random(1);
  for (auto _ : state) {
    const std::size_t group = random.Below(placement.size());
    const int before = std::exchange(placement[group], static_cast<int>(random.Below(kDevices)));
    benchmark::DoNotOptimize(scheduler.Schedule(placement, ranks, limit).timeline.makespan);
    placement[group] = before;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(PlaceOneAfterTheOther, whole, 1e6)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlaceOneAfterTheOther, no_slower, 0)->Arg(1000)->Unit(benchmark::kMicrosecond);

void DecodeRandomKeys(benchmark::State& state) {
  const CostedGraph costed = Problem(state.range(0));
  RandomKeyDecoder decoder(costed);
  Simulator simulator(costed);
  Random random(1);
  std::vector<double> keys(decoder.keys());
  for (double& key : keys) key = random.Uniform();
  Assignment decoded;
  for (auto _ : state) {
    decoder.Decode(keys, decoded);
    benchmark::DoNotOptimize(simulator.Makespan(decoded));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DecodeRandomKeys)->Arg(60)->Arg(1000)->Unit(benchmark::kMicrosecond);

void BrkgaGenerations(benchmark::State& state) {
  constexpr std::int64_t kGenerations = 20;
  const CostedGraph costed = Problem(state.range(0));
  const BrkgaOptions options;
  Budget budget;
  budget.iterations = kGenerations * options.population;
  Random random(1);
  for (auto _ : state)
    MakeBrkga(options)->Propose(costed, budget, random,
                                [](const ProposedPlan& plan) { benchmark::DoNotOptimize(&plan); });
  state.SetItemsProcessed(state.iterations() * *budget.iterations);
  state.counters["generations/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kGenerations), benchmark::Counter::kIsRate);
}
BENCHMARK(BrkgaGenerations)->Arg(60)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
