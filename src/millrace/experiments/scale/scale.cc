// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/scale/scale.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/method.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/load.h"
#include "millrace/machine/preset.h"
#include "millrace/optimize/optimize.h"
#include "millrace/plan/verify.h"
#include "millrace/simulate/memory_check.h"
#include "millrace/simulate/timeline.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr char kHost[] = "homogeneous:8,latency=1e-6,bandwidth=1e9";

// What a stage is given.
struct ScaleWork {
  std::string file;
  int ops = 0;
  double degree = 0;
  const ScaleOptions& options;
  const PlannerRegistry& planners;

  Machine Host() const { return *MachinePreset(kHost); }
};

// A graph on the machine, with what they are made of.
struct PricedGraph {
  explicit PricedGraph(const ScaleWork& work)
      : loaded(LoadGraph(work.file)),
        host(work.Host()),
        model(MakeAnalyticCostModel(loaded.graph, host)),
        costed(MakeCostedGraph(*model, SingleOpGroups(loaded.graph))) {}

  LoadedGraph loaded;
  Machine host;
  std::unique_ptr<CostModel> model;
  CostedGraph costed;
};

Assignment PlanOf(const std::string& name, const PricedGraph& priced, const ScaleWork& work) {
  Random random(work.options.seed);
  Answer answer = Ask({name, work.planners.Make(name), {}}, PlanningProblem(*priced.model, priced.costed), random);
  if (answer.plans.empty()) throw WorkFailed(name + " found no plan");
  return std::move(answer.plans.front().assignment);
}

StageSeconds Generating(const ScaleWork& work) {
  return SecondsOf([&] {
    RandomGraphOptions random;
    random.ops = work.ops;
    random.degree = 2 * work.degree;  // neighbours: an edge has two ends
    random.seed = work.options.seed;
    WriteFileAtomically(work.file, GraphJson(MakeRandomGraph("er", random)));
  });
}

StageSeconds Reading(const ScaleWork& work) {
  return SecondsOf([&] { LoadGraph(work.file); });
}

StageSeconds Pricing(const ScaleWork& work) {
  const LoadedGraph loaded = LoadGraph(work.file);
  const Machine host = work.Host();
  return SecondsOf([&] { MakeCostedGraph(*MakeAnalyticCostModel(loaded.graph, host), SingleOpGroups(loaded.graph)); });
}

template <const char* name>
StageSeconds Planning(const ScaleWork& work) {
  const PricedGraph priced(work);
  return SecondsOf([&] { PlanOf(name, priced, work); });
}

StageSeconds Simulating(const ScaleWork& work) {
  const PricedGraph priced(work);
  const Assignment plan = PlanOf("heft", priced, work);
  Simulator simulator(priced.costed);
  return SecondsOf([&] { simulator.Makespan(plan); });
}

StageSeconds Verifying(const ScaleWork& work) {
  const PricedGraph priced(work);
  const Assignment plan = PlanOf("heft", priced, work);
  return SecondsOf([&] {
    VerifyPlan(priced.loaded.graph, priced.host, {priced.costed.groups, plan.placement, plan.sequence});
    if (!FitsInMemory(priced.costed, plan)) throw WorkFailed("heft's plan does not fit in memory");
  });
}

StageSeconds Optimizing(const ScaleWork& work) {
  const LoadedGraph loaded = LoadGraph(work.file);
  OptimizeOptions options;
  options.target = "sim:contention";
  options.seed = work.options.seed;
  options.time_limit = work.options.optimize_seconds;
  return SecondsOf([&] { Optimize(loaded, work.Host(), work.planners, options, [](const OptimizeStep&) {}); });
}

constexpr char kHeft[] = "heft";
constexpr char kList[] = "list";
constexpr char kSampler[] = "gflownet";

struct ScaleStage {
  const char* name;
  StageSeconds (*seconds)(const ScaleWork&);
};

constexpr ScaleStage kStages[] = {
    {"generate", Generating},  {"read", Reading},        {"price", Pricing},    {"heft", Planning<kHeft>},
    {"list", Planning<kList>}, {"simulate", Simulating}, {"verify", Verifying}, {"gflownet", Planning<kSampler>},
    {"optimize", Optimizing}};

void CheckScale(const ScaleOptions& options) {
  const std::vector<std::string> names = ScaleStageNames();
  for (const std::string& stage : options.stages) {
    if (std::find(names.begin(), names.end(), stage) == names.end())
      throw InvalidInput(fmt::format("there is no stage '{}'; there are: {}", stage, fmt::join(names, ", ")));
  }
  for (const int ops : options.sizes) {
    if (ops < 2 || ops > kMostDrawnOps)
      throw InvalidInput(fmt::format("sizes: {} is not from 2 to {} ops", ops, kMostDrawnOps));
  }
  for (const double degree : options.degrees) {
    if (!(degree > 0 && degree <= 1e6)) throw InvalidInput(fmt::format("degrees: {} is not above 0", degree));
  }
}

// A table of one figure of the costs.
Table Grown(const std::vector<ScalePoint>& points, const std::string& name, const std::string& caption,
            const std::function<double(const StageCost&)>& figure) {
  std::set<int> sizes;
  std::vector<std::pair<double, std::string>> rows;
  std::map<std::tuple<double, std::string, int>, double> known;
  for (const ScalePoint& point : points) {
    sizes.insert(point.ops);
    const std::pair<double, std::string> row(point.degree, point.stage);
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    if (point.cost) known[{point.degree, point.stage, point.ops}] = figure(*point.cost);
  }
  Table table{name, caption, {"edges an op", "stage"}, {}};
  for (const int ops : sizes) table.columns.push_back(fmt::format("{} ops", ops));
  table.columns.push_back("grows as ops to the");
  for (const auto& [degree, stage] : rows) {
    std::vector<Cell> row = {Words(fmt::format("{}", degree)), Words(stage)};
    std::vector<double> ops, figures;
    for (const int size : sizes) {
      const auto found = known.find({degree, stage, size});
      const double value = found == known.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
      const std::string words = value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
      row.push_back(std::isfinite(value) ? Cell{words, {value}} : Words("-"));
      ops.push_back(size);
      figures.push_back(value);
    }
    row.push_back(Number(GrowthExponent(ops, figures), 2));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<std::string> ScaleStageNames() {
  std::vector<std::string> names;
  for (const ScaleStage& stage : kStages) names.emplace_back(stage.name);
  return names;
}

std::vector<ScalePoint> RunScale(const ScaleOptions& options, const PlannerRegistry& planners,
                                 const std::string& folder, const std::function<void(int, int)>& progress) {
  CheckScale(options);
  const auto wanted = [&options](const std::string& stage) {
    return options.stages.empty() ||
           std::find(options.stages.begin(), options.stages.end(), stage) != options.stages.end();
  };
  std::vector<ScalePoint> points;
  const auto total = static_cast<int>(options.degrees.size() * options.sizes.size() * std::size(kStages));
  int done = 0;
  const std::set<int> sizes(options.sizes.begin(), options.sizes.end());
  for (const double degree : options.degrees) {
    std::set<std::string> too_slow;
    for (const int ops : sizes) {
      const ScaleWork work{(std::filesystem::path(folder) / "scale.json").string(), ops, degree, options, planners};
      bool there = true;  // the file, without which no other stage can run
      for (const ScaleStage& stage : kStages) {
        progress(done++, total);
        const bool generates = stage.seconds == Generating;
        if (!generates && !wanted(stage.name)) continue;
        ScalePoint point{stage.name, degree, ops, std::nullopt};
        if (there && too_slow.count(stage.name) == 0)
          point.cost = CostOfStage([&] { return stage.seconds(work); }, options.most_seconds);
        if (!point.cost) too_slow.insert(stage.name);
        if (generates) there = point.cost.has_value();
        if (wanted(stage.name)) points.push_back(std::move(point));
      }
      std::filesystem::remove(work.file);
    }
  }
  progress(total, total);
  return points;
}

std::vector<Table> ScaleTables(const std::vector<ScalePoint>& points) {
  constexpr double kMegabyte = 1e6;
  return {Grown(points, "seconds",
                "Wall seconds of each stage (median of up to five calls; its inputs are there). The exponent is the "
                "slope of logarithms over all sizes.",
                [](const StageCost& cost) { return cost.seconds.wall; }),
          Grown(points, "processor", "Processor seconds of the same calls, all threads together.",
                [](const StageCost& cost) { return cost.seconds.processor; }),
          Grown(points, "memory", "Most resident memory of a process that loads the inputs and runs the stage, MB.",
                [](const StageCost& cost) { return cost.peak_bytes / kMegabyte; })};
}

}  // namespace millrace
