// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/cost/costed_graph.h"

namespace millrace::testing {

// The least makespan of any plan that fits in memory, over every topological order and placement: for graphs of a
// handful of ops. Infinite where none fits.
double SlowOptimum(const CostedGraph& costed);

// The same under the contended timeline.
double SlowContendedOptimum(const CostedGraph& costed);

}  // namespace millrace::testing
