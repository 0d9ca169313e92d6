// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/report/account.h"
#include "millrace/report/type_colours.h"

// Timelines as they stand in a page before its script draws them, and where there are no scripts.
namespace millrace {

// Of every account a <div class="gantt-plan" data-plan="NAME"> with one row per unit, all on one time axis. Text is
// HTML and keeps its size on narrow screens; bars are SVG and stretch. Up to a few hundred groups each is a <rect
// class="bar"> of its type's colour with a <title>; of more, the colour of what took most of the time in each of some
// hundred stretches, so that the size is bounded.
std::string LanesHtml(const ComputationGraph& graph, const Machine& machine, const std::vector<PlanAccount>& accounts,
                      const TypeColours& colours);

// What the colours stand for.
std::string LegendHtml(const TypeColours& colours);

}  // namespace millrace
