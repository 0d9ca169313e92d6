// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/registry.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string Shown(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

void Check(const PlannerTraits& traits, const std::string& name, const std::vector<double>& values) {
  const auto option = std::find_if(traits.options.begin(), traits.options.end(),
                                   [&name](const PlannerOption& other) { return other.name == name; });
  if (option == traits.options.end()) throw InvalidInput(traits.name + " takes no --" + name);
  if (values.empty() || (values.size() > 1 && !option->several))
    throw InvalidInput("--" + name + " of " + traits.name + " takes " +
                       (option->several ? "one or more numbers" : "one number"));
  for (const double value : values) {
    const bool whole = !option->whole || value == std::floor(value);
    if (std::isfinite(value) && value >= option->least && value <= option->most && whole) continue;
    throw InvalidInput("--" + name + " of " + traits.name + " is a " + (option->whole ? "whole " : "") +
                       "number from " + Shown(option->least) + " to " + Shown(option->most) + ", not " + Shown(value));
  }
}

}  // namespace

std::vector<double> PlannerSettings::Several(const std::string& name, std::vector<double> otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::move(otherwise) : found->second;
}

double PlannerSettings::One(const std::string& name, double otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second.front();
}

void PlannerRegistry::Add(PlannerEntry entry) { entries_.push_back(std::move(entry)); }

const PlannerEntry* PlannerRegistry::Find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [name](const PlannerEntry& entry) { return entry.traits.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const PlannerTraits& PlannerRegistry::Traits(std::string_view name) const {
  if (const PlannerEntry* const entry = Find(name)) return entry->traits;
  throw InvalidInput("there is no method '" + std::string(name) + "'; there are: " + Joined(Names()));
}

bool PlannerRegistry::ChoosesFusion(std::string_view name) const {
  const PlannerEntry* const entry = Find(name);
  return entry != nullptr && entry->traits.chooses_fusion;
}

bool PlannerRegistry::Offers(std::string_view name) const {
  const PlannerEntry* const entry = Find(name);
  return entry != nullptr && (!entry->available || entry->available());
}

std::unique_ptr<Planner> PlannerRegistry::Make(std::string_view name, const PlannerSettings& settings) const {
  const PlannerTraits& traits = Traits(name);
  for (const auto& [option, values] : settings.values()) Check(traits, option, values);
  return Find(name)->make(traits, settings);
}

std::vector<std::string> PlannerRegistry::Names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const PlannerEntry& entry : entries_) names.push_back(entry.traits.name);
  return names;
}

std::vector<std::string> PlannerRegistry::PoolNames() const {
  std::vector<std::string> names;
  for (const PlannerEntry& entry : entries_) {
    if (entry.traits.in_pool && (!entry.available || entry.available())) names.push_back(entry.traits.name);
  }
  return names;
}

}  // namespace millrace
