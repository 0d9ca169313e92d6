// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/exact_flow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/environment/state_key.h"

namespace millrace {

std::optional<StateGraph> MakeStateGraph(const Environment& environment, std::int64_t most_states) {
  StateGraph graph;
  std::vector<State> layer{State(environment)};
  std::int32_t known = 1;
  State after(environment);
  for (int step = 0; step < environment.num_groups(); ++step) {
    std::vector<State> next;
    std::map<StateKey, std::int32_t> numbers;
    for (const State& state : layer) {
      StopIfInterrupted();
      for (const std::int32_t group : state.ready()) {
        for (std::int32_t device = 0; device < environment.num_devices(); ++device) {
          if (!state.MayRun(group, device)) continue;
          after = state;
          after.Append({group, device});
          const auto [entry, first] = numbers.try_emplace(KeyOf(after), known);
          if (first) {
            next.push_back(after);
            if (++known > most_states) return std::nullopt;
          }
          graph.steps.push_back(
              {{group, device}, entry->second, -std::log(static_cast<double>(after.removable().size()))});
        }
      }
      graph.offsets.push_back(graph.steps.size());
    }
    layer = std::move(next);
  }
  for (const State& state : layer) {
    graph.makespans.push_back(state.makespan());
    graph.offsets.push_back(graph.steps.size());
  }
  return graph;
}

std::vector<double> LogFlows(const StateGraph& graph, const Environment& environment, double temperature,
                             RewardForm form) {
  const RewardScale scale = RewardScaleOf(environment);
  std::vector<double> flows(static_cast<std::size_t>(graph.num_states()));
  const auto first_finished = static_cast<std::size_t>(graph.first_finished());
  for (std::size_t plan = 0; plan < graph.makespans.size(); ++plan)
    flows[first_finished + plan] = LogReward(scale, graph.makespans[plan], temperature, form);
  for (std::int32_t state = graph.first_finished() - 1; state >= 0; --state) {
    const std::span<const StateGraph::Step> steps = graph.StepsOf(state);
    const auto flow = [&flows](const StateGraph::Step& step) {
      return flows[static_cast<std::size_t>(step.to)] + step.log_backward;
    };
    double most = flow(steps.front());
    for (const StateGraph::Step& step : steps) most = std::max(most, flow(step));
    double sum = 0;
    for (const StateGraph::Step& step : steps) sum += std::exp(flow(step) - most);
    flows[static_cast<std::size_t>(state)] = most + std::log(sum);
  }
  return flows;
}

}  // namespace millrace
