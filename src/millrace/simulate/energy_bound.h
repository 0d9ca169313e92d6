// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"
#include "millrace/simulate/path_bounds.h"

// What must be done inside a window of time, and whether the units are enough for it. Seconds.
//
// In a plan of T seconds a group runs between its head and T less its tail. Wherever it runs, a part of it lies in any
// window: what is left of it when it is pushed to its earliest and to its latest. If all these parts together need more
// than the units have in the window, no plan takes T. Sources: Fernandez and Bussell, "Bounds on the number of
// processors and time for multiprocessor optimal schedules", 1973; Baptiste, Le Pape and Nuijten, "Satisfiability tests
// and time-bound adjustments for cumulative scheduling problems", 1999 (energetic reasoning).
namespace millrace {

// The largest T found that no plan stays below, at least `known`, a bound already. Unlike devices count with the least
// their devices need, gangs with all their units. Holds where the paths do, under either timeline. Looks at all windows
// of graphs of up to about 100 groups, at some of them where there are more.
double EnergyBound(const CostedGraph& costed, const PathBounds& paths, double known);

}  // namespace millrace
