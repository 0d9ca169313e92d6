// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/sampling/window.h"

#include <algorithm>
#include <cmath>

namespace millrace {

std::size_t DrawWindowSteps(const WindowSizes& sizes, std::size_t groups, Random& random) {
  const auto most = static_cast<double>(std::min(static_cast<std::size_t>(sizes.most), groups));
  const double fewest = std::min<double>(sizes.fewest, most);
  return static_cast<std::size_t>(std::llround(fewest * std::pow(most / fewest, random.Uniform())));
}

Window PlaceWindow(std::size_t steps, std::size_t groups, Random& random) {
  const std::size_t end = 1 + random.Below(groups + steps - 1);
  const std::size_t begin = end > steps ? end - steps : 0;
  return {begin, std::min(end, groups) - begin};
}

}  // namespace millrace
