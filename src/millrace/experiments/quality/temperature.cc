// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/temperature.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/diversity.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/summary.h"
#include "millrace/gflownet/sampling/plan_set.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/planning/parallel.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr std::uint64_t kFirstSeed = kQualitySeed + 30'000;
constexpr std::uint64_t kSeedsPerSetting = 1000;

struct Setting {
  const char* name;
  int ops;
  double ccr;  // 0: free transfers
};

constexpr Setting kSettings[] = {{"50 ops, free transfers", 50, 0}, {"60 ops, CCR 1", 60, 1}, {"60 ops, CCR 5", 60, 5}};

CostedGraph MakeProblem(const Setting& setting, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = setting.ops;
  options.ccr = setting.ccr;
  options.seed = seed;
  const ComputationGraph graph = MakeRandomGraph("layered", options);
  Machine machine;
  machine.name = "4 equal";
  for (int device = 0; device < 4; ++device)
    machine.devices.push_back({"d" + std::to_string(device), "device", {device}, 1e12, 1e11, {}, 0});
  if (setting.ccr > 0) machine.default_link = DefaultLink{0, 1e9};
  return MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
}

// The samples of one graph at one pair of temperatures.
struct SampleScores {
  double best = 0, mean = 0;  // HEFT's makespan over theirs
  double edit = 0;
  double different = 0;  // share of the samples
  double untrained_best = 0, untrained_mean = 0;
};

SampleScores ScoresOf(const Environment& environment, const PreparedPolicy& policy, double softmax_temperature,
                      const TemperatureOptions& options, const Random& random) {
  SamplerOptions sampling;
  sampling.softmax_temperature = softmax_temperature;
  std::vector<RatedAssignment> plans;
  std::vector<double> makespans;
  PlanSet distinct(environment.costed());
  for (Trajectory& trajectory : SampleTrajectories(environment, policy, options.samples, sampling, random, nullptr)) {
    makespans.push_back(trajectory.makespan);
    distinct.Insert(trajectory.assignment);
    plans.push_back({std::move(trajectory.assignment), trajectory.makespan});
  }
  const double reference = environment.reference_makespan();
  return {reference / *std::min_element(makespans.begin(), makespans.end()), reference / Mean(makespans),
          DiversityOf(environment.costed(), plans).edit,
          static_cast<double>(distinct.size()) / static_cast<double>(plans.size())};
}

}  // namespace

std::vector<Table> TemperatureTables(const Policy& policy, const Policy& untrained, const TemperatureOptions& options,
                                     const std::function<void(int, int)>& progress) {
  const std::size_t pairs = options.reward.size() * options.softmax.size();
  const auto graphs = static_cast<std::size_t>(options.graphs);
  std::vector<std::vector<SampleScores>> scores(std::size(kSettings) * graphs, std::vector<SampleScores>(pairs));
  const Random random(options.seed);
  RunInParallel(
      static_cast<int>(scores.size()), options.threads,
      [&](int number) {
        const auto task = static_cast<std::size_t>(number);
        const std::size_t setting = task / graphs;
        const CostedGraph costed =
            MakeProblem(kSettings[setting], kFirstSeed + setting * kSeedsPerSetting + task % graphs);
        const Environment environment(costed);
        for (std::size_t r = 0; r < options.reward.size(); ++r) {
          const std::unique_ptr<PreparedPolicy> prepared = policy.Prepare(environment, options.reward[r]);
          const std::unique_ptr<PreparedPolicy> at_first = untrained.Prepare(environment, options.reward[r]);
          for (std::size_t s = 0; s < options.softmax.size(); ++s) {
            StopIfInterrupted();
            const std::size_t pair = r * options.softmax.size() + s;
            const Random stream = random.Fork(task).Fork(pair);
            SampleScores& own = scores[task][pair];
            own = ScoresOf(environment, *prepared, options.softmax[s], options, stream);
            const SampleScores untaught = ScoresOf(environment, *at_first, options.softmax[s], options, stream);
            own.untrained_best = untaught.best;
            own.untrained_mean = untaught.mean;
          }
        }
      },
      progress);

  std::vector<Table> tables;
  for (std::size_t setting = 0; setting < std::size(kSettings); ++setting) {
    Table table{kSettings[setting].name,
                fmt::format("Layered graphs, {}, 4 devices: {} graphs, {} samples each.", kSettings[setting].name,
                            options.graphs, options.samples),
                {"reward temperature", "softmax temperature", "x heft, best", "x heft, mean", "beats heft", "GED %",
                 "different plans %", "untrained: x heft, best", "untrained: x heft, mean"},
                {}};
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      std::vector<double> best, mean, edit, different, untrained_best, untrained_mean;
      double wins = 0;
      for (std::size_t graph = 0; graph < graphs; ++graph) {
        const SampleScores& score = scores[setting * graphs + graph][pair];
        best.push_back(score.best);
        mean.push_back(score.mean);
        edit.push_back(score.edit);
        different.push_back(score.different);
        untrained_best.push_back(score.untrained_best);
        untrained_mean.push_back(score.untrained_mean);
        wins += score.best > 1 + 1e-9 ? 1 : 0;
      }
      table.rows.push_back({Number(options.reward[pair / options.softmax.size()], 3),
                            Number(options.softmax[pair % options.softmax.size()], 2), Number(Mean(best), 4),
                            Number(Mean(mean), 4), Number(wins / static_cast<double>(graphs), 2),
                            Number(100 * Mean(edit), 1), Number(100 * Mean(different), 1),
                            Number(Mean(untrained_best), 4), Number(Mean(untrained_mean), 4)});
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace millrace
