// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/exact_batch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <vector>

namespace millrace {
namespace {

double LogProbability(const std::vector<double>& flows, std::int32_t state, const StateGraph::Step& step) {
  return flows[static_cast<std::size_t>(step.to)] + step.log_backward - flows[static_cast<std::size_t>(state)];
}

const StateGraph::Step& DrawStep(std::span<const StateGraph::Step> steps, const std::vector<double>& flows,
                                 std::int32_t state, double epsilon, Random& random) {
  if (random.Uniform() < epsilon) return steps[random.Below(steps.size())];
  double draw = random.Uniform();
  for (const StateGraph::Step& step : steps) {
    draw -= std::exp(LogProbability(flows, state, step));
    if (draw < 0) return step;
  }
  return steps.back();
}

}  // namespace

void MakeExactBatch(const Environment& environment, const StateGraph& graph, double temperature,
                    const BatchSettings& settings, Random random, TrajectoryBatch& batch) {
  const std::vector<double> flows = LogFlows(graph, environment, temperature, settings.reward);
  const auto count = static_cast<std::size_t>(settings.trajectories);
  std::vector<std::vector<Action>> actions(count);
  std::vector<std::int32_t> met;  // in the order that RecordStates numbers them
  std::map<std::int32_t, int> visits;
  double sum = 0;
  double best = environment.reference_makespan();
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t state = 0;
    while (state < graph.first_finished()) {
      if (visits[state]++ == 0) met.push_back(state);
      const StateGraph::Step& step = DrawStep(graph.StepsOf(state), flows, state, settings.epsilon, random);
      actions[i].push_back(step.action);
      state = step.to;
    }
    const double makespan = graph.makespans[static_cast<std::size_t>(state - graph.first_finished())];
    sum += makespan;
    best = i == 0 ? makespan : std::min(best, makespan);
  }

  batch.graph = MakeGraphFeatures(environment);
  batch.temperature = temperature;
  batch.states = RecordStates(environment, temperature, actions);
  batch.states.taken_ready = batch.states.choice_ready;
  batch.states.taken_choice.resize(batch.states.choice_ready.size());
  std::iota(batch.states.taken_choice.begin(), batch.states.taken_choice.end(), std::int64_t{0});
  SampledTrajectories& sampled = batch.sampled;
  sampled.drawn_steps = environment.num_groups();
  for (const std::int32_t state : met) {
    const double share = visits[state] / static_cast<double>(count);
    for (const StateGraph::Step& step : graph.StepsOf(state)) {
      const double log_probability = LogProbability(flows, state, step);
      const double wanted = share * std::exp(log_probability);
      sampled.wanted.push_back(static_cast<float>(wanted));
      if (wanted > 0) sampled.wanted_entropy -= wanted * log_probability;
    }
  }
  const double reference = environment.reference_makespan();
  batch.mean_ratio = sum > 0 ? reference * static_cast<double>(count) / sum : 1;
  batch.best_ratio = best > 0 ? reference / best : 1;
}

}  // namespace millrace
