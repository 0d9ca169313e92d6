// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/target_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "millrace/experiments/summary.h"

namespace millrace {
namespace {

using Figure = std::function<double(const Judgement&)>;

struct Spread {
  double mean = 0;
  double deviation = 0;
};

// Mean over graphs for each seed, then over seeds. An empty family: all graphs. Figures that are no number are left
// out.
Spread OverSeeds(const OnTargetsResult& result, std::size_t method, const std::string& family, const Figure& figure) {
  std::vector<double> by_seed;
  for (int seed = 0; seed < result.seeds; ++seed) {
    std::vector<double> values;
    for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
      if (!family.empty() && result.families[graph] != family) continue;
      const double value = figure(result.At(graph, seed, method));
      if (std::isfinite(value)) values.push_back(value);
    }
    if (!values.empty()) by_seed.push_back(Mean(values));
  }
  return {Mean(by_seed), Deviation(by_seed)};
}

Figure SpeedupOn(std::size_t target) {
  return [target](const Judgement& judgement) { return judgement.speedup[target]; };
}

double Plain(const OnTargetsResult& result, std::size_t method, const Figure& figure) {
  return OverSeeds(result, method, "", figure).mean;
}

Table Speedups(const OnTargetsResult& result) {
  Table table{"speedups",
              fmt::format("Speedup over one device of the best plan handed to each target: mean over {} graphs, then "
                          "mean +- standard deviation over {} seeds. Diversity (GED, d_inv, d_sen) of the plans "
                          "handed on, by the proxy.",
                          result.graphs.size(), result.seeds),
              {"method", "budget", "plans"},
              {}};
  for (const SimulatedCase& target : result.targets) table.columns.push_back(target.name);
  for (const char* column : {"proxy, mean of the plans", "GED %", "d_inv", "d_sen", "seconds"})
    table.columns.emplace_back(column);
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    const Method& method = result.methods[m].method;
    std::vector<Cell> row = {Words(method.name), Words(BudgetWords(method.budget)),
                             Number(Plain(result, m, [](const Judgement& j) { return j.plans; }), 0)};
    for (std::size_t t = 0; t < result.targets.size(); ++t) {
      const Spread spread = OverSeeds(result, m, "", SpeedupOn(t));
      row.push_back(MeanAndDeviation(spread.mean, spread.deviation, 3));
    }
    row.push_back(Number(Plain(result, m, [](const Judgement& j) { return j.proxy_mean; }), 3));
    row.push_back(Number(100 * Plain(result, m, [](const Judgement& j) { return j.diversity.edit; }), 1));
    row.push_back(Number(Plain(result, m, [](const Judgement& j) { return j.diversity.start; }), 2));
    row.push_back(Number(Plain(result, m, [](const Judgement& j) { return j.diversity.start_and_placement; }), 2));
    row.push_back(Number(Plain(result, m, [](const Judgement& j) { return j.seconds; }), 3));
    table.rows.push_back(row);
  }
  return table;
}

std::optional<std::size_t> FindMethod(const OnTargetsResult& result, const std::string& name) {
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    if (result.methods[m].method.name == name) return m;
  }
  return std::nullopt;
}

Table Worst(const OnTargetsResult& result, std::size_t heft) {
  Table table{"worst", "The least speedup / that of heft, over all graphs and seeds.", {"method"}, {}};
  for (const SimulatedCase& target : result.targets) table.columns.push_back(target.name);
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    std::vector<Cell> row = {Words(result.methods[m].method.name)};
    for (std::size_t t = 0; t < result.targets.size(); ++t) {
      double worst = std::numeric_limits<double>::infinity();
      for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
        for (int seed = 0; seed < result.seeds; ++seed)
          worst = std::min(worst, result.At(graph, seed, m).speedup[t] / result.At(graph, seed, heft).speedup[t]);
      }
      row.push_back(Number(worst, 3));
    }
    table.rows.push_back(row);
  }
  return table;
}

Table Verdicts(const OnTargetsResult& result) {
  Table table{"verdicts",
              "Contenders against the best of all other methods; tied: within one standard deviation.",
              {"method", "target", "speedup", "best other", "its speedup", "difference", "verdict"},
              {}};
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    if (!result.methods[m].contender) continue;
    for (std::size_t t = 0; t < result.targets.size(); ++t) {
      const Spread own = OverSeeds(result, m, "", SpeedupOn(t));
      std::optional<std::size_t> best;
      Spread other;
      for (std::size_t o = 0; o < result.methods.size(); ++o) {
        if (result.methods[o].contender) continue;
        const Spread spread = OverSeeds(result, o, "", SpeedupOn(t));
        if (best && spread.mean <= other.mean) continue;
        best = o;
        other = spread;
      }
      if (!best) continue;
      const double difference = own.mean - other.mean;
      const char* const verdict = difference >= 0                                           ? "first"
                                  : -difference <= std::max(own.deviation, other.deviation) ? "tied"
                                                                                            : "behind";
      table.rows.push_back({Words(result.methods[m].method.name), Words(result.targets[t].name),
                            MeanAndDeviation(own.mean, own.deviation, 3), Words(result.methods[*best].method.name),
                            MeanAndDeviation(other.mean, other.deviation, 3), Number(difference, 3), Words(verdict)});
    }
  }
  return table;
}

Table ByFamily(const OnTargetsResult& result) {
  std::vector<std::string> families;
  for (const std::string& family : result.families) {
    if (std::find(families.begin(), families.end(), family) == families.end()) families.push_back(family);
  }
  Table table{"by family", "On the proxy: speedup of the best plan / mean of the plans / GED %.", {"method"}, {}};
  table.columns.insert(table.columns.end(), families.begin(), families.end());
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    std::vector<Cell> row = {Words(result.methods[m].method.name)};
    for (const std::string& family : families) {
      const Cell parts[] = {
          Number(OverSeeds(result, m, family, SpeedupOn(0)).mean, 3),
          Number(OverSeeds(result, m, family, [](const Judgement& j) { return j.proxy_mean; }).mean, 3),
          Number(100 * OverSeeds(result, m, family, [](const Judgement& j) { return j.diversity.edit; }).mean, 1)};
      Cell cell;
      for (const Cell& part : parts) {
        cell.text += (cell.text.empty() ? "" : " / ") + part.text;
        cell.numbers.insert(cell.numbers.end(), part.numbers.begin(), part.numbers.end());
      }
      row.push_back(cell);
    }
    table.rows.push_back(row);
  }
  return table;
}

Table Graphs(const OnTargetsResult& result) {
  Table table{"graphs", "", {"graph", "family", "seed", "method", "plans"}, {}, true};
  for (const SimulatedCase& target : result.targets) table.columns.push_back(target.name);
  for (const char* column : {"proxy mean", "GED", "d_inv", "d_sen", "seconds"}) table.columns.emplace_back(column);
  for (std::size_t graph = 0; graph < result.graphs.size(); ++graph) {
    for (int seed = 0; seed < result.seeds; ++seed) {
      for (std::size_t m = 0; m < result.methods.size(); ++m) {
        const Judgement& judgement = result.At(graph, seed, m);
        std::vector<Cell> row = {Words(result.graphs[graph]), Words(result.families[graph]),
                                 Count(static_cast<std::size_t>(seed)), Words(result.methods[m].method.name),
                                 Number(judgement.plans, 1)};
        for (const double speedup : judgement.speedup) row.push_back(Number(speedup, 4));
        for (const double figure : {judgement.proxy_mean, judgement.diversity.edit, judgement.diversity.start,
                                    judgement.diversity.start_and_placement, judgement.seconds})
          row.push_back(Number(figure, 4));
        table.rows.push_back(row);
      }
    }
  }
  return table;
}

}  // namespace

std::vector<Table> TargetTables(const OnTargetsResult& result, const std::string& prefix) {
  std::vector<Table> tables = {Speedups(result)};
  if (const std::optional<std::size_t> heft = FindMethod(result, "heft")) tables.push_back(Worst(result, *heft));
  if (Table verdicts = Verdicts(result); !verdicts.rows.empty() && result.targets.size() > 1)
    tables.push_back(verdicts);
  tables.push_back(ByFamily(result));
  tables.push_back(Graphs(result));
  for (Table& table : tables) table.name = prefix + table.name;
  return tables;
}

}  // namespace millrace
