// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/go/convergence.h"

#include <fmt/core.h>

#include <algorithm>

#include "millrace/experiments/summary.h"
#include "millrace/formats/json_lines.h"

namespace millrace {
namespace {

constexpr double kNear = 0.02;

Table Convergence(const std::vector<std::string>& learners, const std::vector<LearningRow>& rows) {
  Table table{"convergence",
              fmt::format("Until the best plan is within {:.0f} % of the last one; means over seeds", 100 * kNear),
              {"workload"},
              {}};
  for (const std::string& learner : learners) {
    for (const char* what : {"seconds of the last plan", "evaluations", "wall seconds"})
      table.columns.push_back(learner + ": " + what);
  }
  for (const LearningRow& row : rows) {
    std::vector<Cell> cells = {Words(row.workload)};
    for (const auto& seeds : row.points) {
      std::vector<double> last, evaluations, seconds;
      for (const std::vector<LearningPoint>& points : seeds) {
        if (points.empty()) continue;
        const LearningPoint near = *FirstWithin(points, points.back().best_seconds, kNear);
        last.push_back(points.back().best_seconds);
        evaluations.push_back(static_cast<double>(near.evaluations));
        seconds.push_back(near.seconds);
      }
      for (const auto& [values, decimals] : {std::pair(&last, 4), std::pair(&evaluations, 0), std::pair(&seconds, 1)})
        cells.push_back(values->empty() ? Words("OOM") : Number(Mean(*values), decimals));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Cell RatioCell(const std::vector<double>& ratios) {
  if (ratios.empty()) return Words("-");
  const Estimate mean = Bootstrap(ratios, [](std::span<const double> values) { return GeometricMean(values); });
  return Range(mean.value, mean.low, mean.high, 1);
}

Table Ratios(const std::vector<std::string>& learners, const std::vector<LearningRow>& rows) {
  const std::string& last = learners.back();
  Table table{
      "ratios",
      fmt::format("What {} takes until within {:.0f} % of its last plan, over what others take", last, 100 * kNear),
      {"learner", "evaluations, each to its own last plan", "wall time",
       fmt::format("evaluations, to the last plan of {}", last), "wall time", "gets there"},
      {}};
  for (std::size_t learner = 0; learner + 1 < learners.size(); ++learner) {
    std::vector<double> own_evaluations, own_seconds, evaluations, seconds;
    std::size_t trainings = 0;
    for (const LearningRow& row : rows) {
      const std::size_t seeds = std::min(row.points[learner].size(), row.points.back().size());
      for (std::size_t seed = 0; seed < seeds; ++seed) {
        const std::vector<LearningPoint>& own = row.points[learner][seed];
        const std::vector<LearningPoint>& other = row.points.back()[seed];
        if (own.empty() || other.empty()) continue;
        ++trainings;
        const auto compare = [](const LearningPoint& mine, const LearningPoint& its,
                                std::vector<double>& by_evaluations, std::vector<double>& by_seconds) {
          by_evaluations.push_back(static_cast<double>(its.evaluations) / static_cast<double>(mine.evaluations));
          by_seconds.push_back(its.seconds / mine.seconds);
        };
        const LearningPoint its = *FirstWithin(other, other.back().best_seconds, kNear);
        compare(*FirstWithin(own, own.back().best_seconds, kNear), its, own_evaluations, own_seconds);
        if (const auto there = FirstWithin(own, other.back().best_seconds, kNear))
          compare(*there, its, evaluations, seconds);
      }
    }
    table.rows.push_back({Words(learners[learner]), RatioCell(own_evaluations), RatioCell(own_seconds),
                          RatioCell(evaluations), RatioCell(seconds),
                          Words(fmt::format("{} of {}", evaluations.size(), trainings))});
  }
  return table;
}

}  // namespace

std::vector<LearningPoint> ParseLearningLog(std::string_view text, const std::string& name) {
  std::vector<LearningPoint> points;
  ReadJsonLines(text, name, [&points](const JsonPlace& root) {
    if (!root.Optional("evaluations") || !root.Optional("best_seconds")) return;
    points.push_back({static_cast<std::int64_t>(root.Member("evaluations").Unsigned()), root.Member("seconds").Cost(),
                      root.Member("best_seconds").Cost()});
  });
  return points;
}

std::optional<LearningPoint> FirstWithin(const std::vector<LearningPoint>& points, double goal, double share) {
  for (const LearningPoint& point : points) {
    if (point.best_seconds <= goal * (1 + share)) return point;
  }
  return std::nullopt;
}

std::vector<Table> ConvergenceTables(const std::vector<std::string>& learners, const std::vector<LearningRow>& rows) {
  return {Convergence(learners, rows), Ratios(learners, rows)};
}

}  // namespace millrace
