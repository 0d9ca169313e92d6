// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "millrace/experiments/quality/quality.h"
#include "millrace/experiments/summary.h"
#include "millrace/target/statistics.h"

namespace millrace {
namespace {

using Included = std::function<bool(const QualityInstance&)>;

// One method over some instances.
struct Scores {
  std::vector<double> ratios, shares, seconds;
  double gained = 0, gap = 0;  // below the reference, in its makespans, by the method and by the best known
  std::size_t without_gap = 0;
};

double BestKnown(const std::vector<std::optional<QualityOutcome>>& outcomes) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& outcome : outcomes) {
    if (outcome) best = std::min(best, outcome->makespan);
  }
  return best;
}

Scores ScoresOf(const QualityResult& result, std::size_t method, const Included& included) {
  Scores scores;
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    const std::optional<QualityOutcome>& outcome = result.outcomes[i][method];
    if (!outcome || !included(result.instances[i])) continue;
    const double reference = result.outcomes[i].front()->makespan;
    scores.ratios.push_back(reference / outcome->makespan);
    scores.seconds.push_back(outcome->seconds);
    if (const auto share = ShareOfGap(reference, outcome->makespan, BestKnown(result.outcomes[i]))) {
      scores.shares.push_back(*share);
      scores.gained += 1 - outcome->makespan / reference;
      scores.gap += 1 - BestKnown(result.outcomes[i]) / reference;
    } else {
      ++scores.without_gap;
    }
  }
  return scores;
}

Cell Interval(const Estimate& estimate, int decimals) {
  return Range(estimate.value, estimate.low, estimate.high, decimals);
}

std::string BudgetOf(const QualityMethod& method) {
  return method.as_long_as.empty() ? BudgetWords(method.method.budget) : "that of " + method.as_long_as;
}

Table Overall(const QualityResult& result) {
  Table table{
      "overall",
      fmt::format(
          "Over {} instances. x {}: makespan of {} / own, geometric mean and 95 % interval. Share of "
          "the gap from there to the best plan known, where that is over 0.1 %; pooled: of the sum of all gaps, "
          "which the narrow ones do not sway.",
          result.instances.size(), result.methods.front().method.name, result.methods.front().method.name),
      {"method", "budget", "instances", "x " + result.methods.front().method.name, "mean share of the gap",
       "median share", "pooled share", "instances without a gap", "worst ratio", "mean seconds"},
      {}};
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    const Scores scores = ScoresOf(result, m, [](const QualityInstance&) { return true; });
    table.rows.push_back({Words(result.methods[m].method.name), Words(BudgetOf(result.methods[m])),
                          Count(scores.ratios.size()), Interval(Bootstrap(scores.ratios, GeometricMean), 4),
                          Interval(Bootstrap(scores.shares, Mean), 3), Number(Median(scores.shares), 3),
                          Number(scores.gained / scores.gap, 3), Count(scores.without_gap),
                          Number(scores.ratios.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                       : *std::min_element(scores.ratios.begin(), scores.ratios.end()),
                                 3),
                          Number(Mean(scores.seconds), 4)});
  }
  return table;
}

Table Duels(const QualityResult& result) {
  Table table{"duels",
              "Against methods that have the same budget, plans or seconds, on the instances that both ran.",
              {"method", "against", "instances", "faster", "equal", "slower", "share faster", "share faster or equal",
               "its makespan / own"},
              {}};
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    for (std::size_t r = 0; r < result.methods.size(); ++r) {
      const std::vector<std::string>& rivals = result.methods[m].rivals;
      if (std::find(rivals.begin(), rivals.end(), result.methods[r].method.name) == rivals.end()) continue;
      std::vector<double> own, other;
      for (const auto& outcomes : result.outcomes) {
        if (!outcomes[m] || !outcomes[r]) continue;
        own.push_back(outcomes[m]->makespan);
        other.push_back(outcomes[r]->makespan);
      }
      const Duel duel = Compare(own, other);
      const auto all = static_cast<double>(duel.instances());
      table.rows.push_back({Words(result.methods[m].method.name), Words(result.methods[r].method.name),
                            Count(duel.instances()), Count(duel.wins), Count(duel.ties), Count(duel.losses),
                            Number(static_cast<double>(duel.wins) / all, 2),
                            Number(static_cast<double>(duel.wins + duel.ties) / all, 2), Interval(duel.ratio, 4)});
    }
  }
  return table;
}

// A column per value of one dimension, in the order of their first appearance.
Table Breakdown(const QualityResult& result, const std::string& dimension,
                const std::function<std::string(const QualityInstance&)>& value_of) {
  std::vector<std::string> values;
  for (const QualityInstance& instance : result.instances) {
    if (std::find(values.begin(), values.end(), value_of(instance)) == values.end())
      values.push_back(value_of(instance));
  }
  Table table{"by " + dimension,
              fmt::format("By {}: x {} / mean share of the gap.", dimension, result.methods.front().method.name),
              {"method"},
              {}};
  table.columns.insert(table.columns.end(), values.begin(), values.end());
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    std::vector<Cell> row = {Words(result.methods[m].method.name)};
    for (const std::string& value : values) {
      const Scores scores =
          ScoresOf(result, m, [&](const QualityInstance& instance) { return value_of(instance) == value; });
      const Cell ratio = Number(GeometricMean(scores.ratios), 3);
      const Cell share = Number(Mean(scores.shares), 2);
      Cell cell = ratio;
      cell.text += " / " + share.text;
      cell.numbers.insert(cell.numbers.end(), share.numbers.begin(), share.numbers.end());
      row.push_back(cell);
    }
    table.rows.push_back(row);
  }
  return table;
}

Table Instances(const QualityResult& result) {
  Table table{"instances", "", {"ops", "devices", "ccr", "family", "number", "seed"}, {}, true};
  for (const QualityMethod& method : result.methods) {
    table.columns.push_back(method.method.name);
    table.columns.push_back(method.method.name + " seconds");
  }
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    const QualityInstance& instance = result.instances[i];
    std::vector<Cell> row = {Count(static_cast<std::size_t>(instance.ops)),
                             Words(instance.devices),
                             Number(instance.ccr, 1),
                             Words(instance.family),
                             Count(static_cast<std::size_t>(instance.number)),
                             Count(instance.seed)};
    for (const std::optional<QualityOutcome>& outcome : result.outcomes[i]) {
      const double none = std::numeric_limits<double>::quiet_NaN();
      row.push_back(Number(outcome ? outcome->makespan : none, 6));
      row.push_back(Number(outcome ? outcome->seconds : none, 4));
    }
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace

std::vector<Table> QualityTables(const QualityResult& result) {
  std::vector<Table> tables = {Overall(result)};
  if (Table duels = Duels(result); !duels.rows.empty()) tables.push_back(duels);
  tables.push_back(Breakdown(result, "ops", [](const QualityInstance& i) { return std::to_string(i.ops); }));
  tables.push_back(Breakdown(result, "devices", [](const QualityInstance& i) { return i.devices; }));
  tables.push_back(Breakdown(result, "ccr", [](const QualityInstance& i) { return fmt::format("{}", i.ccr); }));
  tables.push_back(Breakdown(result, "family", [](const QualityInstance& i) { return i.family; }));
  tables.push_back(Instances(result));
  return tables;
}

}  // namespace millrace
