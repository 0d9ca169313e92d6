// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/type_colours.h"

#include <algorithm>
#include <utility>

namespace millrace {

TypeColours::TypeColours(const std::vector<PlanAccount>& accounts) {
  std::map<std::string, double> seconds;
  for (const PlanAccount& account : accounts) {
    for (const TypeShare& share : account.types) seconds[share.main] += share.seconds;
  }
  std::vector<std::pair<double, std::string>> order;
  order.reserve(seconds.size());
  for (const auto& [type, total] : seconds) order.emplace_back(-total, type);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    colours_[order[i].second] = std::min(i, kTypeColours);
    if (i < kTypeColours) types_.push_back(order[i].second);
  }
  some_have_none_ = order.size() > kTypeColours;
}

std::size_t TypeColours::Of(const std::string& main_type) const {
  const auto found = colours_.find(main_type);
  return found == colours_.end() ? kTypeColours : found->second;
}

std::string TypeColours::ClassOf(const std::string& main_type) const { return "t" + std::to_string(Of(main_type)); }

}  // namespace millrace
