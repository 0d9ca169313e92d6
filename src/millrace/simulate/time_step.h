// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

// Whole numbers in times: where every duration and transfer is a multiple of one step, so is every start, finish and
// makespan, and a bound may be rounded up to the next. Seconds.
namespace millrace {

// The largest step, a multiple of a power of two down to 2^-20 s, of which all durations and transfers of the costed
// graph are multiples; 0 where there is none, or where sums would not be exact in a double.
double TimeStep(const CostedGraph& costed);

// The least multiple of the step that is no less than the bound; the bound itself where the step is 0.
double RoundUpToStep(double bound, double step);

// What a plan must stay below to take less than `makespan`: just above the multiple before it, or, where the step is 0,
// just below it.
double BelowMakespan(double makespan, double step);

}  // namespace millrace
