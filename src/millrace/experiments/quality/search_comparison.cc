// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/search_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/families.h"
#include "millrace/experiments/summary.h"

namespace millrace {
namespace {

constexpr char kReference[] = "anneal-plain";
constexpr std::uint64_t kFirstInstanceSeed = kQualitySeed + 600'000;

void CheckGrid(const SearchGrid& grid) {
  for (const std::string& devices : grid.devices) {
    const auto digit = [](char c) { return c >= '1' && c <= '9'; };
    const bool alike = devices.size() == 1 && digit(devices[0]);
    const bool halves = devices.size() == 3 && digit(devices[0]) && devices[1] == '+' && devices[2] == devices[0];
    if (!alike && !halves)
      throw InvalidInput("devices: '" + devices + "' is neither a number from 1 to 9 nor twice the same one, as 2+2");
  }
  for (const int ops : grid.ops) {
    if (ops < 1 || ops > 1'000'000) throw InvalidInput(fmt::format("sizes: {} is not from 1 to 1000000 ops", ops));
  }
  for (const double ccr : grid.ccr) {
    if (!(ccr >= 0 && ccr <= 1e12)) throw InvalidInput(fmt::format("ccr: {} is not a number from 0 to 1e12", ccr));
  }
  if (grid.graphs < 1) throw InvalidInput("instances: at least one graph of each cell");
}

std::shared_ptr<const Planner> Searching(const std::string& name, const PlannerRegistry& planners) {
  const PlannerTraits& traits = planners.Traits(name);
  if (traits.one_answer) throw InvalidInput(name + " answers at once: there is nothing to compare at equal time");
  return planners.Make(name);
}

Budget SecondsFor(const PlannerTraits& traits, double seconds) {
  Budget budget;
  // A search from drawn plans chooses itself how many it draws.
  if (traits.takes_samples && !traits.takes_iterations) budget.samples = std::numeric_limits<std::int64_t>::max();
  budget.seconds = seconds;
  return budget;
}

using Chosen = std::function<bool(const QualityInstance&)>;

// Of the methods with these seconds, the reference.
std::size_t ReferenceOf(const QualityResult& result, std::size_t method) {
  std::size_t found = method;
  while (result.methods[found].method.planner->name() != kReference) --found;
  return found;
}

// How a method fares against plain annealing of the same seconds on some instances: the cells of a row.
std::vector<Cell> Fares(const QualityResult& result, std::size_t method, const Chosen& chosen) {
  const std::size_t reference = ReferenceOf(result, method);
  std::vector<double> own, other, seconds;
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    if (!chosen(result.instances[i])) continue;
    own.push_back(result.outcomes[i][method]->makespan);
    other.push_back(result.outcomes[i][reference]->makespan);
    seconds.push_back(result.outcomes[i][method]->seconds);
  }
  const Duel duel = Compare(own, other);
  const auto share = [&duel](std::size_t count) {
    return Number(100 * static_cast<double>(count) / static_cast<double>(duel.instances()), 0);
  };
  return {Count(duel.instances()), Range(duel.ratio.value, duel.ratio.low, duel.ratio.high, 4),
          share(duel.wins),        share(duel.ties),
          share(duel.losses),      Number(Mean(seconds), 3)};
}

const std::vector<std::string> kFares = {
    "instances", "plain annealing's makespan / own", "faster %", "equal %", "slower %", "took s"};

// A row for each method but the references and each value of a dimension.
Table Broken(const QualityResult& result, const std::string& dimension,
             const std::function<std::string(const QualityInstance&)>& value_of) {
  Table table{"by " + dimension, "By " + dimension + ".", {"seconds", "method", dimension}, {}};
  table.columns.insert(table.columns.end(), kFares.begin(), kFares.end());
  std::vector<std::string> values;
  for (const QualityInstance& instance : result.instances) {
    if (std::find(values.begin(), values.end(), value_of(instance)) == values.end())
      values.push_back(value_of(instance));
  }
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    if (ReferenceOf(result, m) == m) continue;
    for (const std::string& value : values) {
      const Method& method = result.methods[m].method;
      std::vector<Cell> row = {Words(fmt::format("{}", *method.budget.seconds)), Words(method.planner->name()),
                               Words(value)};
      const std::vector<Cell> fares =
          Fares(result, m, [&](const QualityInstance& instance) { return value_of(instance) == value; });
      row.insert(row.end(), fares.begin(), fares.end());
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table AllTogether(const QualityResult& result) {
  Table table{"overall",
              fmt::format("Over {} instances, against plain annealing in as many seconds. Above 1: faster "
                          "than that; equal: within a billionth.",
                          result.instances.size()),
              {"seconds", "method"},
              {}};
  table.columns.insert(table.columns.end(), kFares.begin(), kFares.end());
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    const Method& method = result.methods[m].method;
    std::vector<Cell> row = {Words(fmt::format("{}", *method.budget.seconds)), Words(method.planner->name())};
    const std::vector<Cell> fares = Fares(result, m, [](const QualityInstance&) { return true; });
    row.insert(row.end(), fares.begin(), fares.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table EveryInstance(const QualityResult& result) {
  Table table{"instances", "", {"family", "use", "ops", "devices", "ccr", "number", "seed"}, {}, true};
  for (const QualityMethod& method : result.methods) {
    table.columns.push_back(method.method.name);
    table.columns.push_back(method.method.name + " took");
  }
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    const QualityInstance& instance = result.instances[i];
    std::vector<Cell> row = {Words(instance.family),
                             Words(UseOfFamily(instance.family)),
                             Count(static_cast<std::size_t>(instance.ops)),
                             Words(instance.devices),
                             Number(instance.ccr, 3),
                             Count(static_cast<std::size_t>(instance.number)),
                             Count(instance.seed)};
    for (const std::optional<QualityOutcome>& outcome : result.outcomes[i]) {
      row.push_back(Number(outcome->makespan, 9));
      row.push_back(Number(outcome->seconds, 4));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<QualityInstance> SearchInstances(const SearchGrid& grid) {
  CheckGrid(grid);
  std::vector<QualityInstance> instances;
  for (const int ops : grid.ops) {
    for (const std::string& devices : grid.devices) {
      for (const double ccr : grid.ccr) {
        for (const std::string& family : FamiliesOf(grid.families)) {
          for (int number = 0; number < grid.graphs; ++number)
            instances.push_back({ops, devices, ccr, family, number, kFirstInstanceSeed + instances.size()});
        }
      }
    }
  }
  return instances;
}

std::vector<std::string> SearchNames(const PlannerRegistry& planners) {
  std::vector<std::string> names;
  for (const std::string& name : planners.PoolNames()) {
    const PlannerTraits& traits = planners.Traits(name);
    if (traits.takes_iterations && !traits.chooses_fusion) names.push_back(name);
  }
  return names;
}

std::vector<QualityMethod> SearchMethods(const std::vector<std::string>& names, const std::vector<double>& seconds,
                                         const PlannerRegistry& planners) {
  std::vector<std::string> all = {kReference};
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
  std::vector<QualityMethod> methods;
  for (const double limit : std::set<double>(seconds.begin(), seconds.end())) {
    if (!std::isfinite(limit) || limit <= 0)
      throw InvalidInput(fmt::format("seconds: {} is not a number of seconds > 0", limit));
    for (const std::string& name : all) {
      QualityMethod& method = methods.emplace_back();
      method.method = {fmt::format("{}-{}s", name, limit), Searching(name, planners),
                       SecondsFor(planners.Traits(name), limit)};
    }
  }
  return methods;
}

std::vector<Table> SearchTables(const QualityResult& result) {
  return {AllTogether(result), Broken(result, "family", [](const QualityInstance& i) { return i.family; }),
          Broken(result, "ops", [](const QualityInstance& i) { return fmt::format("{}", i.ops); }),
          EveryInstance(result)};
}

}  // namespace millrace
