// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/go_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/summary.h"
#include "millrace/planning/deadline.h"
#include "millrace/simulate/contention.h"

namespace millrace {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::size_t NumberOf(const GoResult& result, const std::string& method) {
  const auto found = std::find(result.methods.begin(), result.methods.end(), method);
  if (found == result.methods.end()) throw InvalidInput("there is no method '" + method + "' to hold others against");
  return static_cast<std::size_t>(found - result.methods.begin());
}

std::vector<double> SecondsOf(const std::vector<GoOutcome>& outcomes) {
  std::vector<double> seconds;
  for (const GoOutcome& outcome : outcomes) {
    if (outcome.fits) seconds.push_back(outcome.seconds);
  }
  return seconds;
}

// NaN where no plan fits.
double MeanSeconds(const GoResult& result, std::size_t workload, std::size_t method) {
  const std::vector<double> seconds = SecondsOf(result.outcomes[workload][method]);
  return seconds.empty() ? kNone : Mean(seconds);
}

Cell SecondsCell(const std::vector<GoOutcome>& outcomes) {
  const std::vector<double> seconds = SecondsOf(outcomes);
  if (!seconds.empty()) return Number(Mean(seconds), 4);
  const bool planned = std::any_of(outcomes.begin(), outcomes.end(), [](const GoOutcome& o) { return o.planned; });
  return Words(planned ? "OOM" : "no plan");
}

Table SecondsTable(const GoResult& result) {
  Table table{"seconds", "Seconds of one training step under contention; mean over seeds", {"workload"}, {}};
  for (const std::string& method : result.methods) table.columns.push_back(method);
  table.columns.emplace_back("lower bound");
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    const GoWorkload& workload = result.workloads[w];
    std::vector<Cell> row = {Words(fmt::format("{} ({})", workload.title, workload.devices))};
    for (const auto& outcomes : result.outcomes[w]) row.push_back(SecondsCell(outcomes));
    row.push_back(Number(result.lower_bounds[w], 4));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// That planning took, mean over workloads and seeds.
double WallSeconds(const GoResult& result, std::size_t method) {
  std::vector<double> seconds;
  for (const auto& row : result.outcomes) {
    for (const GoOutcome& outcome : row[method]) seconds.push_back(outcome.wall_seconds);
  }
  return Mean(seconds);
}

Table AgainstTable(const GoResult& result, std::size_t subject) {
  const std::string& name = result.methods[subject];
  Table table{
      "against " + name,
      fmt::format("How much less time the plans of {} ({}; {:.1f} s of planning) take: 1 - geometric mean of the "
                  "ratios, 95 % interval over workloads where both fit",
                  name, result.budgets[subject], WallSeconds(result, subject)),
      {"method", "less time, %", "workloads", name + " faster", "OOM or no plan", "may spend", "seconds"},
      {}};
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    if (m == subject) continue;
    std::vector<double> ratios;
    std::size_t faster = 0, out = 0;
    for (std::size_t w = 0; w < result.workloads.size(); ++w) {
      const double own = MeanSeconds(result, w, subject), other = MeanSeconds(result, w, m);
      if (std::isnan(other)) ++out;
      if (std::isnan(own) || std::isnan(other)) continue;
      ratios.push_back(own / other);
      if (own < other) ++faster;
    }
    std::vector<Cell> row = {Words(result.methods[m])};
    if (ratios.empty()) {
      row.push_back(Words("-"));
    } else {
      const Estimate mean = Bootstrap(ratios, [](std::span<const double> values) { return GeometricMean(values); });
      row.push_back(Range(100 * (1 - mean.value), 100 * (1 - mean.high), 100 * (1 - mean.low), 1));
    }
    row.push_back(Count(ratios.size()));
    row.push_back(Count(faster));
    row.push_back(Count(out));
    row.push_back(Words(result.budgets[m]));
    row.push_back(Number(WallSeconds(result, m), 1));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table WallTable(const GoResult& result) {
  Table table{"wall", "Seconds that planning took; mean over seeds", {"workload"}, {}};
  for (const std::string& method : result.methods) table.columns.push_back(method);
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    std::vector<Cell> row = {Words(result.workloads[w].title)};
    for (const auto& outcomes : result.outcomes[w]) {
      std::vector<double> seconds;
      seconds.reserve(outcomes.size());
      for (const GoOutcome& outcome : outcomes) seconds.push_back(outcome.wall_seconds);
      row.push_back(Number(Mean(seconds), 2));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

GoOutcome JudgeGoMethod(const GoRow& row, const GoMethod& method, std::uint64_t seed, std::optional<double> seconds) {
  GoOutcome outcome;
  if (method.prepare) method.prepare(row, seed);
  const Deadline clock;
  const std::optional<GoPlan> plan = method.plan(row, seed, seconds);
  outcome.wall_seconds = clock.Elapsed();
  if (!plan) return outcome;
  outcome.planned = true;
  if (const std::optional<double> taken = ContendedSeconds(*plan->costed, plan->assignment)) {
    outcome.fits = true;
    outcome.seconds = *taken;
  }
  return outcome;
}

std::uint64_t GoSeed(std::uint64_t seed, int i) { return Random(seed).Fork(static_cast<std::uint64_t>(i)).Next(); }

GoResult RunGo(const std::vector<GoWorkload>& workloads, const std::vector<GoMethod>& methods, int seeds,
               std::uint64_t seed, GoRecord& record, const std::function<void(int, int)>& progress) {
  GoResult result;
  result.workloads = workloads;
  for (const GoMethod& method : methods) {
    result.methods.push_back(method.name);
    result.budgets.push_back(method.budget);
  }
  const int total = static_cast<int>(workloads.size());
  for (int w = 0; w < total; ++w) {
    progress(w, total);
    const std::unique_ptr<GoRow> problem = MakeGoRow(workloads[static_cast<std::size_t>(w)]);
    result.lower_bounds.push_back(problem->lower_bound);
    std::vector<std::vector<GoOutcome>> row;
    row.reserve(methods.size());
    for (const GoMethod& method : methods) {
      std::vector<GoOutcome> outcomes;
      for (int s = 0; s < (method.seeded ? seeds : 1); ++s) {
        StopIfInterrupted();
        const GoQuestion question = {problem->workload.name, method.name, method.budget, GoSeed(seed, s)};
        if (const std::optional<GoOutcome> known = record.Find(question)) {
          outcomes.push_back(*known);
          continue;
        }
        std::optional<double> allowed = method.seconds;
        if (!method.as_long_as.empty()) {
          const std::vector<GoOutcome>& other = row[NumberOf(result, method.as_long_as)];
          allowed = other[std::min(static_cast<std::size_t>(s), other.size() - 1)].wall_seconds;
        }
        outcomes.push_back(JudgeGoMethod(*problem, method, question.seed, allowed));
        record.Add(question, outcomes.back());
      }
      row.push_back(std::move(outcomes));
    }
    result.outcomes.push_back(std::move(row));
  }
  progress(total, total);
  return result;
}

std::vector<Table> GoTables(const GoResult& result, const std::vector<std::string>& subjects) {
  std::vector<Table> tables = {SecondsTable(result)};
  for (const std::string& subject : subjects) tables.push_back(AgainstTable(result, NumberOf(result, subject)));
  tables.push_back(WallTable(result));
  return tables;
}

}  // namespace millrace
