// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/policy/state_features.h"

#include <algorithm>

#include "millrace/network/squash.h"

namespace millrace {
namespace {

// Links every group of the sequence to the groups that were last on its units before it. Two groups that follow each
// other on several units are linked once.
void AddLinks(const State& state, std::vector<StateFeatures::Link>& links) {
  const Topology& topology = state.environment().costed().topology;
  std::vector<std::int32_t> last(static_cast<std::size_t>(topology.num_units), -1);
  for (const std::int32_t group : state.assignment().sequence) {
    const auto device = static_cast<std::size_t>(state.assignment().placement[static_cast<std::size_t>(group)]);
    const std::size_t first_link = links.size();
    for (std::int32_t u = topology.device_offsets[device]; u < topology.device_offsets[device + 1]; ++u) {
      std::int32_t& before = last[static_cast<std::size_t>(topology.device_units[static_cast<std::size_t>(u)])];
      const bool known = std::any_of(links.begin() + static_cast<std::ptrdiff_t>(first_link), links.end(),
                                     [before](const StateFeatures::Link& link) { return link.before == before; });
      if (before >= 0 && !known) links.push_back({before, group});
      before = group;
    }
  }
  // Equal states may interleave their chains differently; sorted, their links are the same.
  std::sort(links.begin(), links.end(), [](const StateFeatures::Link& a, const StateFeatures::Link& b) {
    return a.before != b.before ? a.before < b.before : a.behind < b.behind;
  });
}

}  // namespace

void MakeStateFeatures(const State& state, StateFeatures& features) {
  using OfGroup = StateGroupFeature;
  using OfDevice = StateDeviceFeature;
  const Environment& environment = state.environment();
  const CostedGraph& costed = environment.costed();
  const auto squashed = [&](double seconds) { return Squash(static_cast<float>(seconds / environment.scale())); };
  const double makespan = state.makespan();

  features.groups.assign(static_cast<std::size_t>(costed.num_groups) * kStateGroupFeatures, 0.0f);
  const auto row = [&](std::int32_t group) { return RowAt<OfGroup>(features.groups, static_cast<std::size_t>(group)); };
  for (std::int32_t group = 0; group < costed.num_groups; ++group) {
    const std::size_t predecessors = costed.Predecessors(group).size();
    row(group)[OfGroup::kStart] = -1;
    row(group)[OfGroup::kPredecessorsPlaced] =
        predecessors == 0 ? 1.0f : 1.0f - static_cast<float>(state.Waiting(group)) / static_cast<float>(predecessors);
  }
  for (const std::int32_t group : state.ready()) row(group)[OfGroup::kReady] = 1;
  for (const std::int32_t group : state.removable()) row(group)[OfGroup::kRemovable] = 1;

  std::vector<int> behind(static_cast<std::size_t>(costed.num_devices), 0);
  const std::vector<std::int32_t>& sequence = state.assignment().sequence;
  for (auto it = sequence.rbegin(); it != sequence.rend(); ++it) {
    const std::int32_t device = state.assignment().placement[static_cast<std::size_t>(*it)];
    const double finish = state.Finish(*it);
    const double start = finish - costed.Seconds(*it, device);
    const double whole = start + environment.critical_path();
    const auto f = row(*it);
    f[OfGroup::kPlaced] = 1;
    f[OfGroup::kStart] = whole > 0 ? static_cast<float>(start / whole) : 0.0f;
    f[OfGroup::kStartBeforeEnd] = squashed(makespan - start);
    f[OfGroup::kFinishBeforeEnd] = squashed(makespan - finish);
    f[OfGroup::kPlaceFromEnd] = 1.0f / static_cast<float>(1 + behind[static_cast<std::size_t>(device)]++);
  }

  features.devices.resize(static_cast<std::size_t>(costed.num_devices) * kStateDeviceFeatures);
  double first_free = makespan;
  for (std::int32_t d = 0; d < costed.num_devices; ++d) first_free = std::min(first_free, state.DeviceFree(d));
  for (std::int32_t d = 0; d < costed.num_devices; ++d) {
    const auto f = RowAt<OfDevice>(features.devices, static_cast<std::size_t>(d));
    f[OfDevice::kFreeBeforeEnd] = squashed(makespan - state.DeviceFree(d));
    f[OfDevice::kFree] = squashed(state.DeviceFree(d) - first_free);
    f[OfDevice::kLoad] = state.steps() > 0
                             ? static_cast<float>(state.PlacedOn(d)) * static_cast<float>(costed.num_devices) /
                                       static_cast<float>(state.steps()) -
                                   1.0f
                             : 0.0f;
    f[OfDevice::kPlacedShare] = static_cast<float>(state.steps()) / static_cast<float>(costed.num_groups);
  }

  features.links.clear();
  AddLinks(state, features.links);
}

}  // namespace millrace
