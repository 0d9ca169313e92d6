// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/optimize/optimize.h"

// The report of an optimisation for people: one static HTML file, no network access, readable without scripts.
namespace millrace {

// Sections: what won and by how much; timelines of the best plan and the baselines on one axis; every measured
// candidate, proxy against target; where the time goes; what was placed where and why not. Ids that tests and links may
// rely on: #summary #timelines #candidates #types #devices #groups.
std::string ReportHtml(const OptimizeResult& result);

}  // namespace millrace
