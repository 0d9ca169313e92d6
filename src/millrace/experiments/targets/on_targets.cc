// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/on_targets.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/summary.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/simulate/timeline.h"
#include "millrace/target/simulated_target.h"

namespace millrace {
namespace {

Machine EqualDevices(const OnTargetsOptions& options, const ComputationGraph& graph) {
  Machine machine;
  machine.name = "test";
  for (int device = 0; device < options.devices; ++device)
    machine.devices.push_back({"d" + std::to_string(device), "device", {device}, 1e12, 1e11, {}, 0});
  if (options.link_ccr == 0) return machine;
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  double bytes = 0;
  for (const GroupEdge& edge : costed.predecessors) bytes += edge.bytes;
  const double mean_bytes = bytes / std::max<double>(1, static_cast<double>(costed.predecessors.size()));
  machine.default_link =
      DefaultLink{0, mean_bytes > 0 ? mean_bytes / (options.link_ccr * MeanGroupSeconds(costed)) : 1};
  return machine;
}

// A graph with its proxy, and what plans are judged by.
class Judge {
 public:
  Judge(const ComputationGraph& graph, const Machine& machine, const std::vector<SimulatedCase>& targets,
        std::uint64_t seed)
      : graph_(graph), machine_(machine), proxy_(MakeAnalyticCostModel(graph, machine)), costed_(Costed(*proxy_)) {
    TargetContext context;
    context.graph = &graph_;
    context.machine = &machine_;
    context.cost = proxy_.get();
    context.seed = seed;
    Random random(0);
    const Assignment sequential =
        RunPlanner(*MakeHeuristic("sequential"), costed_, {}, random, 1).kept.front().assignment;
    for (const SimulatedCase& target : targets) {
      targets_.push_back(target.words.empty() ? nullptr : MakeSimulatedTarget(target.words, context));
      models_.push_back(target.words.empty() ? costed_ : Costed(*MakeSimulatedCostModel(target.words, context)));
      sequential_.push_back(Seconds(targets_.size() - 1, sequential));
    }
    sequential_by_proxy_ = MakeTimeline(costed_, sequential).makespan;
  }

  const ComputationGraph& graph() const { return graph_; }
  const Machine& machine() const { return machine_; }
  const CostedGraph& costed() const { return costed_; }
  const CostedGraph& model(std::size_t target) const { return models_[target]; }

  double Speedup(std::size_t target, const std::vector<RatedAssignment>& plans) const {
    double best = std::numeric_limits<double>::infinity();
    for (const RatedAssignment& plan : plans) best = std::min(best, Seconds(target, plan.assignment));
    return sequential_[target] / best;
  }

  double MeanProxySpeedup(const std::vector<RatedAssignment>& plans) const {
    Simulator simulator(costed_);
    std::vector<double> speedups;
    speedups.reserve(plans.size());
    for (const RatedAssignment& plan : plans)
      speedups.push_back(sequential_by_proxy_ / simulator.Makespan(plan.assignment));
    return Mean(speedups);
  }

  // Of a plan whose groups are single ops in whatever order, as an assignment of ours.
  Assignment AssignmentOf(const Plan& plan) const {
    Assignment assignment;
    assignment.placement.resize(plan.placement.size());
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      assignment.placement[static_cast<std::size_t>(plan.groups[g].front())] = plan.placement[g];
    for (const int group : plan.sequence)
      assignment.sequence.push_back(plan.groups[static_cast<std::size_t>(group)].front());
    return assignment;
  }

  double SpeedupOfTime(std::size_t target, double seconds) const { return sequential_[target] / seconds; }

 private:
  CostedGraph Costed(const CostModel& model) const { return MakeCostedGraph(model, SingleOpGroups(graph_)); }

  double Seconds(std::size_t target, const Assignment& assignment) const {
    if (targets_[target] == nullptr) return MakeTimeline(costed_, assignment).makespan;
    return targets_[target]->Load(Plan{costed_.groups, assignment.placement, assignment.sequence})->Run();
  }

  const ComputationGraph& graph_;
  Machine machine_;
  std::unique_ptr<CostModel> proxy_;
  CostedGraph costed_;
  std::vector<std::unique_ptr<Target>> targets_;  // null: the proxy
  std::vector<CostedGraph> models_;               // their own linear models
  std::vector<double> sequential_;
  double sequential_by_proxy_ = 0;
};

Answer AskSurely(const Method& method, const CostedGraph& costed, Random& random) {
  Answer answer = Ask(method, costed, random);
  if (answer.plans.empty()) throw WorkFailed("method " + method.name + " found no plan that fits");
  return answer;
}

// What the optimiser finds with as many runs on each target as others have; the two baselines are among them.
Judgement JudgeOptimizer(const TargetMethod& method, const Judge& judge, const std::vector<SimulatedCase>& targets,
                         std::uint64_t seed) {
  constexpr std::size_t kBaselines = 2;
  Judgement judgement;
  const auto count = static_cast<double>(targets.size());
  LoadedGraph loaded;
  loaded.graph = judge.graph();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    OptimizeOptions options = method.optimize;
    options.target = "sim:" + (targets[t].words.empty() ? "noise,sigma=0" : targets[t].words);
    options.seed = seed;
    options.without.emplace_back("obvious");  // all methods measure as many plans
    options.top_k = std::max<std::size_t>(1, method.method.keep - kBaselines);
    const Deadline clock;
    const OptimizeResult found =
        Optimize(loaded, judge.machine(), *method.planners, options, [](const OptimizeStep&) {});
    judgement.seconds += clock.Elapsed() / count;
    judgement.speedup.push_back(judge.SpeedupOfTime(t, found.best.target_seconds.value()));
    judgement.plans += static_cast<double>(found.candidates.size()) / count;
    std::vector<RatedAssignment> plans;
    for (const Candidate& candidate : found.candidates)
      plans.push_back({judge.AssignmentOf(candidate.plan), candidate.proxy_seconds});
    judgement.proxy_mean += judge.MeanProxySpeedup(plans) / count;
    if (t == 0) judgement.diversity = DiversityOf(judge.costed(), plans);
  }
  return judgement;
}

Judgement JudgeMethod(const TargetMethod& method, const Judge& judge, std::size_t targets, const Random& random) {
  Judgement judgement;
  const auto count = static_cast<double>(targets);
  if (method.knowledge == Knowledge::kTargetModel) {
    for (std::size_t t = 0; t < targets; ++t) {
      Random stream = random.Fork(t);
      const Answer answer = AskSurely(method.method, judge.model(t), stream);
      judgement.speedup.push_back(judge.Speedup(t, answer.plans));
      judgement.proxy_mean += judge.MeanProxySpeedup(answer.plans) / count;
      judgement.plans += static_cast<double>(answer.plans.size()) / count;
      judgement.seconds += answer.seconds / count;
      if (t == 0) judgement.diversity = DiversityOf(judge.costed(), answer.plans);
    }
    return judgement;
  }
  Random stream = random.Fork(0);
  const Answer answer = AskSurely(method.method, judge.costed(), stream);
  for (std::size_t t = 0; t < targets; ++t) judgement.speedup.push_back(judge.Speedup(t, answer.plans));
  judgement.proxy_mean = judge.MeanProxySpeedup(answer.plans);
  judgement.plans = static_cast<double>(answer.plans.size());
  judgement.seconds = answer.seconds;
  judgement.diversity = DiversityOf(judge.costed(), answer.plans);
  return judgement;
}

}  // namespace

std::vector<SimulatedCase> UsualTargets(bool links) {
  return {{"proxy", ""},
          {"noise", "noise"},
          {"bandwidth", "bandwidth"},
          {"latency", "latency"},
          {"contention", links ? "contention" : "bandwidth+contention"}};
}

OnTargetsResult RunOnTargets(const std::vector<GraphUnderTest>& graphs, const std::vector<TargetMethod>& methods,
                             const std::vector<SimulatedCase>& targets, const OnTargetsOptions& options,
                             const std::function<void(int, int)>& progress) {
  OnTargetsResult result;
  for (const GraphUnderTest& graph : graphs) {
    result.graphs.push_back(graph.name);
    result.families.push_back(graph.family);
  }
  result.methods = methods;
  result.targets = targets;
  result.seeds = options.seeds;
  const std::size_t pairs = graphs.size() * static_cast<std::size_t>(options.seeds);
  result.judgements.resize(pairs * methods.size());
  const Random random = Random(options.seed).Fork(0);  // of the methods
  const Random seeds = Random(options.seed).Fork(1);   // of the targets' noise and of optimize
  RunInParallel(
      static_cast<int>(pairs), options.threads,
      [&](int number) {
        const auto pair = static_cast<std::size_t>(number);
        const std::size_t graph = pair / static_cast<std::size_t>(options.seeds);
        const std::uint64_t seed = seeds.Fork(pair % static_cast<std::size_t>(options.seeds)).Next();
        const ComputationGraph& tested = graphs[graph].graph;
        const Judge judge(tested, EqualDevices(options, tested), targets, seed);
        const Random stream = random.Fork(pair);
        for (std::size_t m = 0; m < methods.size(); ++m) {
          StopIfInterrupted();
          result.judgements[pair * methods.size() + m] =
              methods[m].knowledge == Knowledge::kMeasurements
                  ? JudgeOptimizer(methods[m], judge, targets, seed)
                  : JudgeMethod(methods[m], judge, targets.size(), stream.Fork(m));
        }
      },
      progress);
  return result;
}

}  // namespace millrace
