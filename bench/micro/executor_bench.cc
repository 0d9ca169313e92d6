// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <numeric>

#include "millrace/cost/analytic_cost.h"
#include "millrace/formats/model_graph.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/machine/detect.h"
#include "millrace/planning/planner.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "millrace/runtime/memory_planner.h"
#include "millrace/workloads/models.h"

// What executing costs besides the kernels: starting a run, handing a result from one processor to the other, holding a
// gang together; and a whole network, sequential, with all cores per op, and by HEFT.
namespace millrace {
namespace {

class Nothing : public Kernel {
 public:
  explicit Nothing(int phases) { phases_ = phases; }
  void Run(const KernelBuffers& /*buffers*/, int /*phase*/, int /*worker*/) const override {}
};

// `steps` steps without work on each of `workers` processors; each waits for the one before, wherever that ran.
Program EmptySteps(int steps, int workers, bool gang, int phases) {
  Program program;
  program.cpus = AllowedProcessors();
  program.cpus.resize(std::min(program.cpus.size(), static_cast<std::size_t>(workers)));
  program.instructions.resize(program.cpus.size());
  std::vector<Wait> before;
  for (int step = 0; step < steps; ++step) {
    ProgramStep made;
    made.kernel = std::make_unique<Nothing>(phases);
    if (gang) {
      made.workers.resize(program.cpus.size());
      std::iota(made.workers.begin(), made.workers.end(), 0);
    } else {
      made.workers = {step % static_cast<int>(program.cpus.size())};
    }
    std::vector<Wait> own;
    for (std::size_t share = 0; share < made.workers.size(); ++share) {
      std::vector<Instruction>& chain = program.instructions[static_cast<std::size_t>(made.workers[share])];
      chain.push_back({step, static_cast<int>(share), before, {}});
      own.push_back({made.workers[share], static_cast<std::uint32_t>(chain.size())});
    }
    before = own;
    program.steps.push_back(std::move(made));
  }
  return program;
}

void RunSteps(benchmark::State& state, const Program& program) {
  WorkerPool pool(AllowedProcessors());
  Executor executor(program, pool);
  for (auto _ : state) state.SetIterationTime(executor.Run());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(program.steps.size()));
}

void BM_StepsOnOneProcessor(benchmark::State& state) { RunSteps(state, EmptySteps(1000, 1, false, 1)); }
BENCHMARK(BM_StepsOnOneProcessor)->UseManualTime();

void BM_StepsHandedToAndFro(benchmark::State& state) { RunSteps(state, EmptySteps(1000, 2, false, 1)); }
BENCHMARK(BM_StepsHandedToAndFro)->UseManualTime();

void BM_GangStepsOfTwoPhases(benchmark::State& state) { RunSteps(state, EmptySteps(1000, 1 << 20, true, 2)); }
BENCHMARK(BM_GangStepsOfTwoPhases)->UseManualTime();

void BM_PlanMemory(benchmark::State& state) {
  Random random(1);
  std::vector<BufferLife> buffers(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::uint32_t at = static_cast<std::uint32_t>(i);
    buffers[i].bytes = 1 + random.Below(1 << 20);
    buffers[i].born = {at, at / 2};
    buffers[i].dead = {at + 1 + static_cast<std::uint32_t>(random.Below(10)), at / 2 + 1};
  }
  for (auto _ : state) benchmark::DoNotOptimize(PlanMemory(buffers));
}
BENCHMARK(BM_PlanMemory)->Arg(300)->Arg(3000);

void BM_SqueezeNet(benchmark::State& state, const std::string& method) {
  const Model model = MakeModel("squeezenet", {});
  const ComputationGraph graph = GraphOfModel(model);
  const Machine machine = DetectHost();
  const auto cost = MakeAnalyticCostModel(graph, machine);
  const CostedGraph costed = MakeCostedGraph(*cost, GreedyFusion(graph));
  Plan plan;
  plan.groups = costed.groups;
  plan.placement.assign(plan.groups.size(), 0);
  plan.sequence.assign(costed.topological_order.begin(), costed.topological_order.end());
  if (method == "all-cores") plan.placement.assign(plan.groups.size(), static_cast<int>(machine.devices.size()) - 1);
  if (method == "heft") {
    Random random(0);
    MakeHeuristic("heft")->Propose(costed, {}, random, [&](ProposedPlan offer) {
      plan.placement = std::move(offer.assignment.placement);
      plan.sequence = std::move(offer.assignment.sequence);
    });
  }
  RunSteps(state, CompileProgram(model, machine, plan));
}
BENCHMARK_CAPTURE(BM_SqueezeNet, sequential, "sequential")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_SqueezeNet, all_cores, "all-cores")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_SqueezeNet, heft, "heft")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
