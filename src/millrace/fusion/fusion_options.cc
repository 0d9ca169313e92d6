// SPDX-License-Identifier: Apache-2.0
#include "millrace/fusion/fusion_options.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "millrace/cost/steering.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/fusion/merged_fusion.h"

namespace millrace {
namespace {

// Measured times scatter by a few percent, and a group taken apart for so little loses memory traffic that timing it
// alone does not show: the benefit of the doubt is fusion's.
constexpr double kDoubt = 1.05;

// Is the group no slower fused than apart, on some device?
bool FusingPays(const CostModel& model, const std::vector<OpId>& group) {
  for (int device = 0; device < model.topology().num_devices; ++device) {
    double apart = 0;
    for (const OpId op : group) apart += model.GroupSeconds(std::span(&op, 1), device);
    if (model.GroupSeconds(group, device) <= kDoubt * apart && apart < std::numeric_limits<double>::infinity())
      return true;
  }
  return false;
}

FusionGroups GroupsThatPay(const CostModel& model, const FusionGroups& groups) {
  std::set<std::vector<OpId>> kept;
  if (model.steering() != nullptr) kept.insert(model.steering()->kept.begin(), model.steering()->kept.end());
  FusionGroups paying;
  for (const std::vector<OpId>& group : groups) {
    if (FusingPays(model, group) || kept.contains(group)) {
      paying.push_back(group);
    } else {
      for (const OpId op : group) paying.push_back({op});
    }
  }
  return paying;
}

}  // namespace

std::vector<FusionOption> FusionOptions(const CostModel& model) {
  std::vector<FusionOption> choices;
  const auto add = [&choices](std::string name, FusionGroups groups) {
    const bool known =
        std::any_of(choices.begin(), choices.end(), [&groups](const FusionOption& c) { return c.groups == groups; });
    if (!known) choices.push_back({std::move(name), std::move(groups)});
  };
  add("none", UnfusedGroups(model));
  const FusionGroups greedy = GreedyFusion(model);
  if (!model.graph().group_seconds().empty()) {
    add("measured", GroupsThatPay(model, greedy));
  } else {
    FusionGroups merged = MergedFusion(model);
    if (merged != greedy) add("merged", std::move(merged));
  }
  add("greedy", greedy);
  return choices;
}

}  // namespace millrace
