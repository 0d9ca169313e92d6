// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/optimize/candidate.h"

// Predicted against measured, as inline SVG.
namespace millrace {

// One mark of class "point" per measured candidate, the line where the two agree, the winner of class "winner". Both
// axes cover the measured and predicted range with a margin, and are logarithmic where one outlier would press the rest
// together. Seconds.
std::string ScatterSvg(const std::vector<Candidate>& candidates, const Candidate& best);

}  // namespace millrace
