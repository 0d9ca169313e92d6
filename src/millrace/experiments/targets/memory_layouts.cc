// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/memory_layouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/text_lines.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/heuristics/list_schedulers.h"
#include "millrace/planning/deadline.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/program.h"
#include "millrace/runtime/weight_cache.h"

namespace millrace {
namespace {

constexpr double kBytesOfAMegabyte = 1e6;

double Ratio(std::size_t bytes, std::size_t least) {
  return static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(least, 1));
}

// The fields of "b1,0,3,4" behind the name.
BufferLife LifeIn(std::string_view line, const TextLines& lines) {
  std::array<std::optional<int>, 3> fields;
  std::size_t comma = line.find(',');
  for (std::optional<int>& field : fields) {
    if (comma == std::string_view::npos) lines.Refuse("is not ID,LOWER,UPPER,SIZE");
    const std::size_t next = line.find(',', comma + 1);
    field = IdIn(line.substr(comma + 1, next == std::string_view::npos ? next : next - comma - 1));
    comma = next;
  }
  if (!fields[0] || !fields[1] || !fields[2] || *fields[0] >= *fields[1])
    lines.Refuse("is not ID,LOWER,UPPER,SIZE with whole numbers, LOWER < UPPER");
  BufferLife life;
  life.bytes = static_cast<std::size_t>(*fields[2]) * kMemoryAlignment;
  life.born = {static_cast<std::uint32_t>(*fields[0])};
  life.dead = {static_cast<std::uint32_t>(*fields[1])};
  return life;
}

}  // namespace

std::vector<LayoutCase> ProgramsOf(const std::string& name, const LoadedGraph& loaded, const Machine& machine) {
  const std::unique_ptr<CostModel> cost = MakeAnalyticCostModel(loaded.graph, machine);
  const CostedGraph costed = MakeCostedGraph(*cost, GreedyFusion(*cost));
  WeightCache weights;
  std::vector<LayoutCase> cases;
  const auto add = [&](std::string plan, const Assignment& assignment) {
    const Program program =
        CompileProgram(*loaded.model, machine, {costed.groups, assignment.placement, assignment.sequence}, &weights);
    cases.push_back({name, std::move(plan), program.buffers});
  };
  const Assignment alone = ScheduleSequential(costed).assignment;
  for (std::size_t device = 0; device < machine.devices.size(); ++device) {
    if (device > 0 && machine.devices[device].units.size() == 1) continue;
    Assignment on_device = alone;
    on_device.placement.assign(on_device.placement.size(), static_cast<int>(device));
    add(machine.devices[device].units.size() == 1 ? "one core" : "all cores", on_device);
  }
  add("heft", ScheduleHeft(costed, PartialSchedule::Gaps::kFill).assignment);
  return cases;
}

LayoutCase ReadLifetimes(const std::string& path) {
  LayoutCase read{std::filesystem::path(path).stem().string(), "-", {}};
  const std::string text = ReadWholeFile(path);
  try {
    TextLines lines(text);
    std::string_view line;
    if (!lines.Next(line)) lines.Refuse("the header id,lower,upper,size is missing");
    while (lines.Next(line)) {
      if (!Trimmed(line).empty()) read.buffers.push_back(LifeIn(Trimmed(line), lines));
    }
  } catch (const InvalidInput& error) {
    throw InvalidInput(path + ": " + error.what());
  }
  return read;
}

Table LayoutTable(const std::vector<LayoutCase>& cases, const MemoryLayoutOptions& options) {
  Table table{
      "layouts",
      "Blocks that hold all buffers of a program, over what no layout can take less than; and how long the last "
      "search took. With halves kept: as programs are laid out.",
      {"buffers of", "plan", "buffers", "at least, MB", "largest first"},
      {}};
  std::vector<double> visits = options.visits;
  if (visits.empty()) visits.push_back(static_cast<double>(MemoryPlanOptions().visits));
  for (const double count : visits) table.columns.push_back(fmt::format("search, {:g} visits", count));
  table.columns.push_back("ms");
  table.columns.push_back("with halves kept");
  for (const LayoutCase& one : cases) {
    const std::size_t least = LeastMemory(one.buffers);
    std::vector<Cell> row = {
        Words(one.name), Words(one.plan), Count(one.buffers.size()),
        Number(static_cast<double>(least) / kBytesOfAMegabyte, 3),
        Number(Ratio(PlanMemory(one.buffers, {.visits = 0, .most_for_halves = 0}).bytes, least), 3)};
    double seconds = 0;
    for (const double count : visits) {
      const Deadline clock;
      const MemoryLayout layout =
          PlanMemory(one.buffers, {.visits = static_cast<std::int64_t>(count), .most_for_halves = 0});
      seconds = clock.Elapsed();
      row.push_back(Number(Ratio(layout.bytes, least), 3));
    }
    row.push_back(Number(1e3 * seconds, 1));
    row.push_back(Number(Ratio(PlanMemory(one.buffers).bytes, least), 3));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace millrace
