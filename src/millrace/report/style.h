// SPDX-License-Identifier: Apache-2.0
#pragma once

// The report's style sheet and its one script, kept apart from the code that fills the page.
namespace millrace {

// Light and dark, by the reader's preference; colours t0..t7 for op types, t8 for the rest.
extern const char* const kReportStyle;

// Filters the table of groups as the reader types. The page is whole without it.
extern const char* const kReportScript;

}  // namespace millrace
