// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/experiments/scale/scale.h"

// Seconds and memory over ops as a picture.
namespace millrace {

// An SVG of two panels, seconds and megabytes, both axes logarithmic: a line per stage, solid for the least edges an
// op, dashed for more. Points without a cost are left out; without any the panels are empty.
std::string ScalePlot(const std::vector<ScalePoint>& points);

}  // namespace millrace
