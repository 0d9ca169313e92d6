// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/optimize/optimize.h"
#include "millrace/report/account.h"

// The report of an optimisation for people: one static HTML file, no network access, readable without scripts, smaller
// than 2 MB at 80,000 ops.
namespace millrace {

// Sections: what won and by how much; timelines of the best plan and the others on one axis; every measured candidate,
// predicted against measured; where the time goes, by unit and by op type; the groups in order; the words. Ids that
// tests and links may rely on: #summary #timelines #candidates #types #devices #groups #words.
std::string ReportHtml(const OptimizeResult& result);

// The same where the result's accounts are known (AccountsOf): they take seconds where there are millions of edges.
std::string ReportHtml(const OptimizeResult& result, std::vector<PlanAccount> accounts);

}  // namespace millrace
