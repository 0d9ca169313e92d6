// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "millrace/report/account.h"
#include "millrace/report/type_colours.h"

// What the pages for people are made of: one static HTML file each, that fetches nothing and is readable without
// scripts. Their script draws the timelines so that one can look closer (view_script.h).
namespace millrace {

// The data of timelines in a page, at most.
inline constexpr std::size_t kMostDataBytes = 1'300'000;

// Everything before the first section; the title is plain text.
std::string PageBegin(const std::string& title);

// Everything after the last one.
std::string PageEnd();

// Section #timelines: the accounts' timelines, what the script needs to draw them, and what it shows at first: the plan
// number `first`, and beside it number `second`, -1 for none.
std::string TimelinesHtml(const std::string& heading, const ComputationGraph& graph, const Machine& machine,
                          const std::vector<PlanAccount>& accounts, const TypeColours& colours, int first, int second);

// Section #devices: of each of these accounts where the time of every unit goes, as bars and numbers, and what is on
// which device.
std::string DevicesHtml(const Machine& machine, const std::vector<const PlanAccount*>& accounts);

// A row of a table of numbers: text in the first cells, then numbers, all as HTML.
std::string TableRow(const std::vector<std::string>& texts, const std::vector<std::string>& numbers,
                     const char* row_class = "");

// A table with a heading row; as TableRow.
std::string TableBegin(const std::string& caption, const std::vector<std::string>& texts,
                       const std::vector<std::string>& numbers);
inline constexpr const char* kTableEnd = "</tbody></table></div>";

// Words of these pages, explained: pairs of word and meaning.
std::string WordsHtml(const std::vector<std::pair<std::string, std::string>>& words);

}  // namespace millrace
