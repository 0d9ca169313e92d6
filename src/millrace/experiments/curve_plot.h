// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

// Curves as a picture.
namespace millrace {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // (across, up), in the order they are joined
};

struct CurvePlotOptions {
  std::string across, up;  // what the axes say
  bool downwards = false;  // smaller numbers higher up: for what is better the less it is
};

// An SVG with both axes linear over all points, a dot for each, and a legend. What is not finite is left out.
std::string CurvePlot(const std::vector<Curve>& curves, const CurvePlotOptions& options);

}  // namespace millrace
