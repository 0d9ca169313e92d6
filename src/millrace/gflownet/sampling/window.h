// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

#include "millrace/random/random.h"

// A window of a plan: steps at one place that are drawn anew while the others stay (sampler.h, RedrawWindows).
namespace millrace {

struct Window {
  std::size_t begin = 0;                                        // steps of the plan that stay before it
  std::size_t steps = std::numeric_limits<std::size_t>::max();  // to draw; fewer where the plan ends
};

// How many steps a window has, `fewest` >= 1 and no more than `most`, if the plan has so many groups.
struct WindowSizes {
  int fewest = 8;
  int most = 64;
};

// Log-uniform: as many windows have 8 to 16 steps as 32 to 64. `groups` is at least 1.
std::size_t DrawWindowSteps(const WindowSizes& sizes, std::size_t groups, Random& random);

// A window of up to `steps` steps anywhere in a plan of so many groups. It may reach beyond either end and is shorter
// then, so that every step of the plan is as likely to be in it.
Window PlaceWindow(std::size_t steps, std::size_t groups, Random& random);

}  // namespace millrace
