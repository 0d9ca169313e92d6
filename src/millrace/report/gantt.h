// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "millrace/report/account.h"

// Gantt charts as inline SVG.
namespace millrace {

// Class names "t0".."t8" for op types: the eight that take the most device time over all accounts, then the rest.
std::map<std::string, std::string> ColourClasses(const std::vector<PlanAccount>& accounts);

// One row per unit of every account, all on one time axis. A bar is a group on one of its units (a gang's group shows
// on each); its class is its type's colour, its <title> says what it is. Bars too narrow to see are drawn together, so
// the number of marks stays bounded on large graphs. Marks carry class "bar", rows class "row", and each account's
// block is a <g class="gantt-plan" data-plan="NAME">.
std::string GanttSvg(const ComputationGraph& graph, const Machine& machine, const std::vector<PlanAccount>& accounts,
                     const std::map<std::string, std::string>& colours);

// Made safe for HTML text and attributes: &, <, >, " and ', and what Escaped escapes.
std::string HtmlText(const std::string& text);

// Round numbers between `low` and `high`, about `wanted` of them.
std::vector<double> AxisTicks(double low, double high, int wanted);

}  // namespace millrace
