// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/stg_optima.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/stg.h"
#include "millrace/machine/preset.h"
#include "millrace/simulate/bounds.h"

namespace millrace {
namespace {

struct Published {
  std::string file;
  int processors = 0;
  double makespan = 0;
};

std::vector<Published> ReadPublished(const std::string& path) {
  std::vector<Published> lines;
  std::istringstream text(ReadWholeFile(path));
  for (std::string line; std::getline(text, line);) {
    const std::size_t first = line.find(',');
    const std::size_t last = line.rfind(',');
    if (first == std::string::npos || first == last)
      throw InvalidInput(fmt::format("{}: '{}' is not FILE,PROCESSORS,MAKESPAN", path, line));
    lines.push_back({line.substr(0, first), std::atoi(line.c_str() + first + 1), std::atof(line.c_str() + last + 1)});
  }
  return lines;
}

// All graphs of one size on one number of processors.
struct StgCell {
  std::size_t graphs = 0;
  std::size_t proven = 0;
  std::size_t above_bound = 0;  // proven to exceed LowerBound, rounded up
  std::size_t reached = 0;
  std::vector<double> seconds;
};

}  // namespace

std::vector<Table> StgTables(const std::string& folder, const OptimalityOptions& options,
                             const std::function<void(int, int)>& progress) {
  constexpr std::size_t kQuickStep = 9;
  constexpr double kSame = 1e-6;
  const std::vector<Published> lines = ReadPublished(folder + "/optimal.csv");
  std::map<std::pair<int, int>, StgCell> cells;
  Table differ{"published",
               "Published optima that were undercut, that lie below a proven bound, or that were not reached.",
               {"file", "processors", "published", "found", "bound", "proven"},
               {}};
  for (std::size_t i = 0; i < lines.size(); i += options.quick ? kQuickStep : 1) {
    StopIfInterrupted();
    const Published& line = lines[i];
    const ComputationGraph graph = ParseStg(ReadWholeFile(folder + "/" + line.file), line.file);
    const CostedGraph costed =
        MakeCostedGraph(*MakeAnalyticCostModel(graph, *MachinePreset(fmt::format("homogeneous:{}", line.processors))),
                        SingleOpGroups(graph));
    const auto [result, seconds] = ProveTimed(costed, options, i);
    StgCell& cell = cells[{costed.num_groups, line.processors}];
    ++cell.graphs;
    cell.seconds.push_back(seconds);
    cell.proven += result.proven ? 1 : 0;
    cell.above_bound += result.proven && result.best->makespan > LowerBound(costed) + 1 - kSame ? 1 : 0;
    cell.reached += result.best->makespan <= line.makespan + kSame ? 1 : 0;
    if (std::abs(result.best->makespan - line.makespan) > kSame || result.bound > line.makespan + kSame)
      differ.rows.push_back({Words(line.file), Count(static_cast<std::size_t>(line.processors)),
                             Number(line.makespan, 0), Number(result.best->makespan, 0), Number(result.bound, 0),
                             Words(result.proven ? "yes" : "no")});
    progress(static_cast<int>(i + 1), static_cast<int>(lines.size()));
  }
  Table table{"stg",
              fmt::format("Standard Task Graphs that `exact` proves in {} s.", options.seconds),
              {"tasks", "processors", "graphs", "proven", "of these above max(path, work)", "published reached",
               "median s", "longest s"},
              {}};
  for (auto& [key, cell] : cells) {
    std::sort(cell.seconds.begin(), cell.seconds.end());
    table.rows.push_back({Count(static_cast<std::size_t>(key.first)), Count(static_cast<std::size_t>(key.second)),
                          Count(cell.graphs), Count(cell.proven), Count(cell.above_bound), Count(cell.reached),
                          Number(cell.seconds[cell.seconds.size() / 2], 2), Number(cell.seconds.back(), 1)});
  }
  return {table, differ};
}

}  // namespace millrace
