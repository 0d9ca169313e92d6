// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/validation.h"

#include <fmt/core.h>

#include <algorithm>

#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/sampling/plan_set.h"
#include "millrace/gflownet/sampling/sampler.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/gflownet/sampling/window_resampling.h"
#include "millrace/plan/chain_graph.h"
#include "millrace/plan/distance.h"
#include "millrace/planning/best_of.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

// No training draws its problems from here: it would have to hit one of these 64-bit seeds.
constexpr std::uint64_t kSeed = 0x76616c6964617465;

constexpr GridCell kGrid[] = {{"layered", 60, 4, 1},
                              {"layered", 60, 4, 5},
                              {"er", 60, 4, 5},
                              {"layered", 200, 8, 5},
                              {"layered", 60, 4, 1, true},
                              {"ba", 100, 4, 5},
                              {"layered", 1000, 8, 1, true},
                              {"er", 600, 4, 5},
                              {"fft", 60, 4, 5},
                              {"lu", 200, 8, 1},
                              {"nas_cells", 60, 4, 1, true},
                              {"moe", 200, 4, 5},
                              {"layered", 60, 4, 1, false, 5},
                              {"er", 200, 8, 2, false, 10}};

double Ratio(double reference, double makespan) { return makespan > 0 ? reference / makespan : 1; }

double ResampledMakespan(const Policy& policy, const Environment& environment, double temperature, int samples,
                         const Random& random) {
  // The planner is done before the policy goes.
  const std::shared_ptr<const Policy> shared(std::shared_ptr<const Policy>(), &policy);
  SamplingPlannerOptions drawing;
  drawing.reward_temperatures = {temperature};
  WindowResamplingOptions windows;
  windows.reward_temperatures = {temperature};
  const std::unique_ptr<Planner> planner = MakeWindowResampling(
      {.name = "resampled"}, MakeSamplingPlanner({.name = "drawn"}, shared, drawing), shared, windows);
  const PlanningProblem problem(environment.costed());
  Budget budget;
  budget.samples = samples;
  Random stream = random.Fork(0);
  return RunPlanner(*planner, problem, budget, stream, 1).kept.front().makespan;
}

ValidationScore Score(const Policy& policy, const Problem& problem, double temperature, int samples,
                      const Random& random) {
  const Environment& environment = problem.environment();
  const std::unique_ptr<PreparedPolicy> prepared = policy.Prepare(environment, temperature);
  const double reference = environment.reference_makespan();
  double best = 0;
  double sum = 0;
  const std::vector<Trajectory> trajectories =
      SampleTrajectories(environment, *prepared, samples, SamplerOptions{}, random, nullptr);
  ValidationScore score;
  PlanSet plans(environment.costed());
  std::vector<std::pair<int, int>> chains, chains_before;
  for (const Trajectory& trajectory : trajectories) {
    best = std::max(best, Ratio(reference, trajectory.makespan));
    sum += trajectory.makespan;
    plans.Insert(trajectory.assignment);
    chains = ChainEdges(environment.costed().topology, trajectory.assignment);
    if (&trajectory != &trajectories.front()) {
      score.distance += ChainEditDistance(chains_before, chains) / (static_cast<double>(trajectories.size()) - 1);
    }
    chains_before.swap(chains);
  }
  score.different = static_cast<double>(plans.size()) / static_cast<double>(trajectories.size());
  score.best = best;
  score.mean = Ratio(reference, sum / static_cast<double>(trajectories.size()));
  score.resampled = Ratio(reference, ResampledMakespan(policy, environment, temperature, samples, random));
  score.greedy = Ratio(reference, GreedyTrajectory(environment, *prepared).makespan);
  score.wins = best > 1 + 1e-9 ? 1 : 0;
  return score;
}

void Add(const ValidationScore& score, double share, ValidationScore& sum) {
  sum.best += share * score.best;
  sum.mean += share * score.mean;
  sum.greedy += share * score.greedy;
  sum.resampled += share * score.resampled;
  sum.wins += share * score.wins;
  sum.different += share * score.different;
  sum.distance += share * score.distance;
}

}  // namespace

std::vector<ValidationCell> MakeValidationGrid(int graphs_per_cell) {
  std::vector<ValidationCell> grid;
  Random seeds(kSeed);
  for (const GridCell& cell : kGrid) {
    ValidationCell& made = grid.emplace_back();
    made.name = fmt::format("{} {}x{} ccr {}{}{}", cell.family, cell.ops, cell.devices, cell.ccr,
                            cell.unlike ? " unlike" : "", cell.copies > 1 ? " copies" : "");
    Random graphs(seeds.Next());
    for (int i = 0; i < graphs_per_cell; ++i) made.problems.push_back(MakeGridProblem(cell, graphs.Next()));
  }
  return grid;
}

std::vector<ValidationScore> Validate(const Policy& policy, const std::vector<ValidationCell>& grid,
                                      const std::vector<double>& temperatures, int samples, int threads) {
  std::vector<const Problem*> problems;
  for (const ValidationCell& cell : grid) {
    for (const auto& problem : cell.problems) problems.push_back(problem.get());
  }
  const Random random(kSeed);
  std::vector<ValidationScore> all(problems.size() * temperatures.size());
  RunInParallel(static_cast<int>(all.size()), threads, [&](int task) {
    StopIfInterrupted();
    const auto at = static_cast<std::size_t>(task);
    all[at] =
        Score(policy, *problems[at % problems.size()], temperatures[at / problems.size()], samples, random.Fork(at));
  });

  std::vector<ValidationScore> scores;
  for (std::size_t t = 0; t < temperatures.size(); ++t) {
    ValidationScore overall;
    overall.temperature = temperatures[t];
    std::size_t next = t * problems.size();
    for (const ValidationCell& cell : grid) {
      ValidationScore sum;
      sum.cell = cell.name;
      sum.temperature = temperatures[t];
      for (std::size_t i = 0; i < cell.problems.size(); ++i, ++next) {
        Add(all[next], 1 / static_cast<double>(cell.problems.size()), sum);
        Add(all[next], 1 / static_cast<double>(problems.size()), overall);
      }
      scores.push_back(sum);
    }
    scores.push_back(overall);
  }
  return scores;
}

const ValidationScore& Overall(const std::vector<ValidationScore>& scores) {
  const ValidationScore* best = &scores.back();  // the last one is overall
  for (const ValidationScore& score : scores) {
    if (score.cell.empty() && score.resampled > best->resampled) best = &score;
  }
  return *best;
}

}  // namespace millrace
