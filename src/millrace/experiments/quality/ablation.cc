// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/ablation.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "millrace/errors/errors.h"
#include "millrace/experiments/quality/quality.h"
#include "millrace/formats/json_lines.h"
#include "millrace/heuristics/heuristics.h"
#include "millrace/optimize/planners.h"

namespace millrace {
namespace {

constexpr std::int64_t kAblationDraws = 64;
constexpr int kAblationOps = 60;

void ReadRecord(const JsonPlace& root, TrainingLog& log, std::map<std::int64_t, ValidationPoint>& points) {
  const auto update = static_cast<std::int64_t>(root.Member("update").Unsigned());
  const double seconds = root.Member("seconds").Cost();
  if (root.Optional("loss")) {
    log.updates = std::max(log.updates, update);
    log.seconds = std::max(log.seconds, seconds);
    return;
  }
  const auto cell = root.Optional("validation");
  if (!cell || cell->Text() != "all") return;
  ValidationPoint point{update,
                        seconds,
                        root.Member("best").Cost(),
                        root.Member("mean").Cost(),
                        root.Member("greedy").Cost(),
                        root.Member("wins").Cost()};
  // One record per temperature; those of an earlier try at this update have other seconds.
  const auto known = points.find(update);
  if (known == points.end() || known->second.seconds < seconds || known->second.best < point.best)
    points[update] = point;
}

double BestAfter(const TrainingLog& log, double share) {
  const double limit = share * static_cast<double>(log.points.back().update);
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const ValidationPoint& point : log.points) {
    if (static_cast<double>(point.update) <= limit + 0.5) best = point.best;
  }
  return best;
}

Table Trainings(const std::vector<TrainingRun>& runs) {
  Table table{"trainings",
              "x heft on the training's own validation graphs, at the temperature where the best sample is best.",
              {"run", "updates", "seconds", "last: best sample", "mean sample", "greedy", "beats heft",
               "best of all validations", "after update"},
              {}};
  for (const TrainingRun& run : runs) {
    const ValidationPoint& last = run.log.points.back();
    const ValidationPoint& best =
        *std::max_element(run.log.points.begin(), run.log.points.end(),
                          [](const ValidationPoint& a, const ValidationPoint& b) { return a.best < b.best; });
    table.rows.push_back({Words(run.name), Count(static_cast<std::size_t>(std::max(run.log.updates, last.update))),
                          Number(std::max(run.log.seconds, last.seconds), 0), Number(last.best, 4),
                          Number(last.mean, 4), Number(last.greedy, 4), Number(last.wins, 2), Number(best.best, 4),
                          Count(static_cast<std::size_t>(best.update))});
  }
  return table;
}

Table Curves(const std::vector<TrainingRun>& runs) {
  Table table{"curves",
              "x heft of the best sample after part of the updates.",
              {"run", "start", "a quarter", "a half", "three quarters", "all"},
              {}};
  for (const TrainingRun& run : runs) {
    std::vector<Cell> row = {Words(run.name)};
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) row.push_back(Number(BestAfter(run.log, share), 4));
    table.rows.push_back(row);
  }
  return table;
}

Table Samples(const std::vector<QualityMethod>& methods, const AblationOptions& options,
              const std::function<void(int, int)>& progress) {
  std::vector<QualityInstance> instances = options.quick ? QuickPartOf(QualityGrid()) : QualityGrid();
  std::erase_if(instances, [&options](const QualityInstance& instance) {
    return instance.ops != kAblationOps || (!options.quick && instance.number != 0);
  });
  const QualityResult result = RunQuality(instances, methods, options.threads, options.seed, progress);
  Table table = QualityTables(result).front();
  table.name = "samples";
  table.caption = fmt::format("Best of {}, graphs of {} ops. ", kAblationDraws, kAblationOps) + table.caption;
  return table;
}

}  // namespace

TrainingLog ParseTrainingLog(std::string_view text, const std::string& name) {
  TrainingLog log;
  std::map<std::int64_t, ValidationPoint> points;
  ReadJsonLines(text, name, [&](const JsonPlace& root) { ReadRecord(root, log, points); });
  for (const auto& entry : points) log.points.push_back(entry.second);
  if (log.points.empty()) throw InvalidInput(name + ": a training log without any validation; train for longer");
  return log;
}

std::vector<Table> AblationTables(const std::vector<TrainingRun>& runs, const AblationOptions& options,
                                  const std::function<void(int, int)>& progress) {
  std::vector<Table> tables = {Trainings(runs), Curves(runs)};
  std::vector<QualityMethod> methods(1);
  methods[0].method = {"heft", MakeHeftReference(), {}};
  const auto add = [&methods](const std::string& name, const std::string& planner, const PlannerRegistry& planners) {
    QualityMethod& method = methods.emplace_back();
    method.method = {name, planners.Make(planner), {}};
    method.method.budget.samples = kAblationDraws;
  };
  for (const TrainingRun& run : runs) {
    if (!run.weights.empty())
      add(run.name, "gflownet", MakePlannerRegistry({.gflownet_weights = run.weights, .go_weights = {}}));
  }
  if (methods.size() > 1) {
    for (const char* other : {"gflownet-untrained", "randomised-list"}) add(other, other, MakePlannerRegistry());
    tables.push_back(Samples(methods, options, progress));
  }
  return tables;
}

}  // namespace millrace
