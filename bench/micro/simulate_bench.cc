// SPDX-License-Identifier: Apache-2.0
// How fast the linear timeline is swept, and memory is checked: items are op-visits, so items_per_second is the figure
// to read.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/machine/machine.h"
#include "millrace/random/random.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"

namespace {

using namespace millrace;

// Layers of eight ops; every op reads one to five tensors of the two layers before, three on average.
ComputationGraph LayeredGraph(int ops, Random& random) {
  constexpr int kWidth = 8;
  GraphData data;
  data.ops.resize(static_cast<std::size_t>(ops));
  data.tensors.resize(static_cast<std::size_t>(ops));
  for (int op = 0; op < ops; ++op) {
    const auto at = static_cast<std::size_t>(op);
    data.ops[at].seconds.everywhere = random.Uniform();
    data.tensors[at].producer = op;
    data.tensors[at].bytes = random.Uniform();
    const int layer_begin = op / kWidth * kWidth;
    const int first = std::max(layer_begin - 2 * kWidth, 0);
    if (layer_begin == 0) continue;
    const int reads = 1 + static_cast<int>(random.Below(5));
    for (int i = 0; i < reads; ++i) {
      const int from = first + static_cast<int>(random.Below(static_cast<std::uint64_t>(layer_begin - first)));
      data.tensors[static_cast<std::size_t>(from)].consumers.push_back(op);
    }
  }
  return ComputationGraph(std::move(data));
}

enum class Links { kFree, kAlike, kVaried };

Machine FourDevices(Links links, std::optional<double> memory_bytes = std::nullopt) {
  Machine machine;
  for (int d = 0; d < 4; ++d) {
    Device device;
    device.kind = "cpu";
    device.units = {d};
    device.flops_per_second = device.memory_bandwidth = 1;
    device.memory_bytes = memory_bytes;
    machine.devices.push_back(device);
  }
  if (links != Links::kFree) machine.default_link = DefaultLink{0.1, 2.0};
  if (links == Links::kVaried) machine.links.push_back({0, 1, 0.2, 1.0, std::nullopt});
  return machine;
}

// Assignments of one graph, as a search meets them: another one at every call.
class TimelineCase {
 public:
  TimelineCase(int ops, Links links, std::optional<double> memory_bytes = std::nullopt)
      : random_(7), graph_(LayeredGraph(ops, random_)), machine_(FourDevices(links, memory_bytes)) {
    costed_ = MakeCostedGraph(*MakeAnalyticCostModel(graph_, machine_), SingleOpGroups(graph_));
    for (int i = 0; i < 4; ++i) {
      Assignment assignment;
      for (int op = 0; op < ops; ++op) {
        assignment.placement.push_back(static_cast<int>(random_.Below(4)));
        assignment.sequence.push_back(op);
      }
      // Ops of a layer are independent: any order of them is a topological one.
      for (std::size_t begin = 0; begin < assignment.sequence.size(); begin += 8) {
        const std::size_t size = std::min<std::size_t>(8, assignment.sequence.size() - begin);
        for (std::size_t last = size; last > 1; --last)
          std::swap(assignment.sequence[begin + last - 1], assignment.sequence[begin + random_.Below(last)]);
      }
      assignments_.push_back(std::move(assignment));
    }
  }

  const CostedGraph& costed() const { return costed_; }
  const Assignment& assignment(std::size_t call) const { return assignments_[call % assignments_.size()]; }

 private:
  Random random_;
  ComputationGraph graph_;
  Machine machine_;
  CostedGraph costed_;
  std::vector<Assignment> assignments_;
};

void Simulate(benchmark::State& state, Links links) {
  const TimelineCase problem(static_cast<int>(state.range(0)), links);
  Simulator simulator(problem.costed());
  std::size_t call = 0;
  for (auto _ : state) benchmark::DoNotOptimize(simulator.Makespan(problem.assignment(call++)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["edges_per_op"] =
      static_cast<double>(problem.costed().predecessors.size()) / static_cast<double>(state.range(0));
}

// A million ops, numbered and read at random: nothing the next op needs is in a cache.
void SimulateScattered(benchmark::State& state) {
  Random random(7);
  const auto ops = static_cast<int>(state.range(0));
  std::vector<int> name(static_cast<std::size_t>(ops));  // of the op at a place of the order
  for (int op = 0; op < ops; ++op) name[static_cast<std::size_t>(op)] = op;
  for (std::size_t last = name.size(); last > 1; --last) std::swap(name[last - 1], name[random.Below(last)]);
  GraphData data;
  data.ops.resize(name.size());
  data.tensors.resize(name.size());
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto op = static_cast<std::size_t>(name[at]);
    data.ops[op].seconds.everywhere = random.Uniform();
    data.tensors[op].producer = name[at];
    data.tensors[op].bytes = random.Uniform();
    for (int read = 0; read < 2 && at > 0; ++read)
      data.tensors[static_cast<std::size_t>(name[random.Below(at)])].consumers.push_back(name[at]);
  }
  const ComputationGraph graph(std::move(data));
  const Machine machine = FourDevices(Links::kAlike);
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  Assignment assignment{std::vector<int>(name.size()), name};
  for (int& device : assignment.placement) device = static_cast<int>(random.Below(4));
  Simulator simulator(costed);
  for (auto _ : state) benchmark::DoNotOptimize(simulator.Makespan(assignment));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void SimulateFreeTransfers(benchmark::State& state) { Simulate(state, Links::kFree); }
void SimulateLinksAlike(benchmark::State& state) { Simulate(state, Links::kAlike); }
void SimulateLinksVaried(benchmark::State& state) { Simulate(state, Links::kVaried); }

// Does a plan fit? Of 1000 ops the order of groups says yes, or no, or leaves it to the timeline.
void CheckMemory(benchmark::State& state, double memory_bytes, MemoryCheck::ByOrder by_order) {
  const TimelineCase problem(1000, Links::kAlike, memory_bytes);
  MemoryCheck check(problem.costed());
  if (check.WheneverGroupsRun(problem.assignment(0)) != by_order) state.SkipWithError("the order says otherwise");
  std::size_t call = 0;
  for (auto _ : state) benchmark::DoNotOptimize(check.Fits(problem.assignment(call++)));
  state.SetItemsProcessed(state.iterations() * 1000);
}

// The same after a change of four groups: most go into what is left, and the whole plan is looked at now and then.
void CheckMemoryAfterAChange(benchmark::State& state) {
  const TimelineCase problem(1000, Links::kAlike, 400.0);
  Assignment assignment = problem.assignment(0);
  MemoryCheck check(problem.costed());
  Random random(1);
  std::vector<int> changed(4);
  if (!check.Fits(assignment)) state.SkipWithError("the plan does not fit");
  for (auto _ : state) {
    for (int& group : changed) {
      group = static_cast<int>(random.Below(assignment.placement.size()));
      assignment.placement[static_cast<std::size_t>(group)] = static_cast<int>(random.Below(4));
    }
    benchmark::DoNotOptimize(check.FitsWith(assignment, changed));
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}

void CheckMemoryThatFits(benchmark::State& state) { CheckMemory(state, 400, MemoryCheck::ByOrder::kFits); }
void CheckMemoryThatIsOpen(benchmark::State& state) { CheckMemory(state, 60, MemoryCheck::ByOrder::kOpen); }
void CheckMemoryThatOverflows(benchmark::State& state) { CheckMemory(state, 2, MemoryCheck::ByOrder::kOverflows); }

BENCHMARK(CheckMemoryAfterAChange);
BENCHMARK(CheckMemoryThatFits);
BENCHMARK(CheckMemoryThatIsOpen);
BENCHMARK(CheckMemoryThatOverflows);
BENCHMARK(SimulateFreeTransfers)->Arg(1000)->Arg(80000)->Arg(1000000);
BENCHMARK(SimulateLinksAlike)->Arg(1000)->Arg(80000)->Arg(1000000);
BENCHMARK(SimulateLinksVaried)->Arg(1000)->Arg(80000)->Arg(1000000);
BENCHMARK(SimulateScattered)->Arg(80000)->Arg(1000000);

}  // namespace
