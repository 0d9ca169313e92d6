// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "millrace/report/account.h"
#include "millrace/report/type_colours.h"

// What the page's script draws timelines from, as JSON.
//
// The first part, "base": op names and types, devices, units, memories, and what plans there are. Then a part for every
// way of fusing (its groups, what they take on each device) and for every plan (when each group starts, what it waited
// for, transfers, critical path, memory). Times in a plan are whole ticks; a group's start is told as the ticks between
// it and the group before on its device, and its duration is that of its way of fusing, so that most numbers are 0 and
// the rest short. Of more than a hundred thousand transfers only those that a group waits for are told.
namespace millrace {

struct DataPart {
  std::string id;  // "base", "groups-0", "plan-0"
  std::string json;
};

inline constexpr double kTicks = 1e7;  // in a plan's makespan

// Op names are cut to `longest_name` bytes.
std::vector<DataPart> TimelineData(const ComputationGraph& graph, const Machine& machine,
                                   const std::vector<PlanAccount>& accounts, const TypeColours& colours,
                                   std::size_t longest_name);

// The parts as elements of a page, packed. Where they would take more than `most_bytes` together, names are cut to a
// few letters; the last plans are left out; all of them are.
std::string TimelineDataHtml(const ComputationGraph& graph, const Machine& machine,
                             const std::vector<PlanAccount>& accounts, const TypeColours& colours,
                             std::size_t most_bytes);

}  // namespace millrace
