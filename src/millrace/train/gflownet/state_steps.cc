// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/state_steps.h"

#include <cstddef>
#include <map>

#include "millrace/gflownet/environment/observation.h"
#include "millrace/gflownet/environment/state.h"
#include "millrace/gflownet/environment/state_key.h"
#include "millrace/gflownet/policy/completions.h"
#include "millrace/gflownet/policy/group_relations.h"
#include "millrace/gflownet/policy/state_features.h"

namespace millrace {
namespace {

void RecordGraph(const Environment& environment, const GraphFeatures& graph, StateSteps& out) {
  for (const Relation relation : GroupRelations(environment.costed())) {
    out.relations.push_back(static_cast<std::int64_t>(relation));
  }
  const auto groups = static_cast<std::size_t>(graph.num_groups);
  out.edges.assign(groups * groups, 0);
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::int32_t e = graph.predecessor_offsets[g]; e < graph.predecessor_offsets[g + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const auto other = static_cast<std::size_t>(graph.predecessors[at]);
      out.edges[g * groups + other] = out.edges[other * groups + g] = graph.predecessor_features[at];
    }
  }
}

void RecordState(const State& state, const GraphFeatures& graph, StateFeatures& features, StateSteps& out) {
  MakeStateFeatures(state, features);
  out.group_features.insert(out.group_features.end(), features.groups.begin(), features.groups.end());
  for (std::int64_t d = 0; d < graph.num_devices; ++d) {
    const auto known = graph.devices.begin() + d * kDeviceFeatures;
    const auto now = features.devices.begin() + d * kStateDeviceFeatures;
    out.device_features.insert(out.device_features.end(), known, known + kDeviceFeatures);
    out.device_features.insert(out.device_features.end(), now, now + kStateDeviceFeatures);
  }
  for (const std::int32_t device : state.assignment().placement) {
    out.placement.push_back(device < 0 ? graph.num_devices : device);
  }
  for (const StateFeatures::Link& link : features.links) {
    out.linked.push_back(out.states * graph.num_groups + link.behind);
    out.linked_to.push_back(out.states * graph.num_groups + link.before);
  }
}

void RecordChoices(const State& state, Completions& completions, Observation& groups, Observation& devices,
                   StateSteps& out) {
  const Environment& environment = state.environment();
  ObserveGroups(state, groups);
  out.ready_priors.insert(out.ready_priors.end(), groups.priors.begin(), groups.priors.end());
  for (const std::int32_t group : groups.choices) {
    const auto ready = static_cast<std::int64_t>(out.ready_state.size());
    out.ready_state.push_back(out.states);
    ObserveDevices(state, group, devices);
    for (const std::int32_t device : devices.choices) {
      out.choice_ready.push_back(ready);
      out.choice_group.push_back(out.states * environment.num_groups() + group);
      out.choice_device.push_back(out.states * environment.num_devices() + device);
    }
    out.choice_features.insert(out.choice_features.end(), devices.features.begin(), devices.features.end());
    completions.Append(state, group, devices.choices, out.choice_completions);
    out.choice_priors.insert(out.choice_priors.end(), devices.priors.begin(), devices.priors.end());
  }
}

void RecordRemovals(const State& state, StateSteps& out) {
  const Environment& environment = state.environment();
  if (state.removable().empty()) return;
  for (const std::int32_t group : state.removable()) {
    out.removal_bin.push_back(out.removal_bins);
    out.removal_group.push_back(out.states * environment.num_groups() + group);
    out.removal_device.push_back(out.states * environment.num_devices() +
                                 state.assignment().placement[static_cast<std::size_t>(group)]);
  }
  ++out.removal_bins;
}

// Where the choices and removals of a recorded state begin.
struct Recorded {
  std::int64_t state = 0;
  std::size_t choice = 0;
  std::size_t removal = 0;
};

void Take(Action action, Recorded at, const Environment& environment, StateSteps& out) {
  const std::int64_t group = at.state * environment.num_groups() + action.group;
  const std::int64_t device = at.state * environment.num_devices() + action.device;
  std::size_t choice = at.choice;
  while (out.choice_group[choice] != group || out.choice_device[choice] != device) ++choice;
  out.taken_ready.push_back(out.choice_ready[choice]);
  out.taken_choice.push_back(static_cast<std::int64_t>(choice));
}

void TakeBack(Action action, Recorded at, const Environment& environment, StateSteps& out) {
  const std::int64_t group = at.state * environment.num_groups() + action.group;
  std::size_t removal = at.removal;
  while (out.removal_group[removal] != group) ++removal;
  out.taken_removal.push_back(static_cast<std::int64_t>(removal));
}

}  // namespace

StateSteps RecordStates(const Environment& environment, double temperature,
                        const std::vector<std::vector<Action>>& trajectories, bool removals) {
  StateSteps out;
  const GraphFeatures graph = MakeGraphFeatures(environment);
  RecordGraph(environment, graph, out);
  State state(environment);
  StateFeatures features;
  Observation groups, devices;
  Completions completions(environment, temperature);
  std::map<StateKey, Recorded> known;
  const auto visit = [&] {
    const auto [entry, first] =
        known.try_emplace(KeyOf(state), Recorded{out.states, out.choice_ready.size(), out.removal_bin.size()});
    if (first) {
      RecordState(state, graph, features, out);
      if (!state.done()) RecordChoices(state, completions, groups, devices, out);
      if (removals) RecordRemovals(state, out);
      ++out.states;
    }
    return entry->second;
  };
  for (const std::vector<Action>& actions : trajectories) {
    state.Clear();
    for (const Action action : actions) {
      Take(action, visit(), environment, out);
      state.Append(action);
      if (removals) TakeBack(action, visit(), environment, out);
    }
  }
  return out;
}

}  // namespace millrace
