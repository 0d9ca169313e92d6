// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/planning/planner.h"

// Every planner there is, by name. Each room adds its own; whoever needs one asks here and never compares names.
namespace millrace {

// What a planner is told when it is made: values of the options its traits declare, by name.
class PlannerSettings {
 public:
  void Set(std::string name, std::vector<double> values) { values_[std::move(name)] = std::move(values); }

  const std::map<std::string, std::vector<double>>& values() const { return values_; }

  // The values of an option, or those given here where it was not set.
  std::vector<double> Several(const std::string& name, std::vector<double> otherwise) const;
  double One(const std::string& name, double otherwise) const;

 private:
  std::map<std::string, std::vector<double>> values_;
};

struct PlannerEntry {
  PlannerTraits traits;

  // What it makes has these traits. Settings name options of the traits alone, each within its range.
  std::function<std::unique_ptr<Planner>(const PlannerTraits&, const PlannerSettings&)> make;

  // Can it be made here? Null: always. False where there are no weights for it.
  std::function<bool()> available = {};
};

// What entries share, such as weights, they load once. Making planners is cheap, and safe from several threads.
class PlannerRegistry {
 public:
  // Names are all different.
  void Add(PlannerEntry entry);

  const std::vector<PlannerEntry>& entries() const { return entries_; }

  // Throws InvalidInput, listing the names, where there is none of this one.
  const PlannerTraits& Traits(std::string_view name) const;

  // False for a name that is not in the registry.
  bool ChoosesFusion(std::string_view name) const;

  // Is there one of this name that can be made?
  bool Offers(std::string_view name) const;

  // Throws InvalidInput: no such planner, an option it does not declare, a value out of range, weights that cannot be
  // used.
  std::unique_ptr<Planner> Make(std::string_view name, const PlannerSettings& settings = {}) const;

  std::vector<std::string> Names() const;      // in the order they were added
  std::vector<std::string> PoolNames() const;  // those of a pool that can be made here

 private:
  const PlannerEntry* Find(std::string_view name) const;

  std::vector<PlannerEntry> entries_;
};

}  // namespace millrace
