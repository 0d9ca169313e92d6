// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pages' style sheet, kept apart from the code that fills them.
namespace millrace {

// Light and dark, by the reader's preference; colours t0..t7 for op types, t8 for the rest. Text keeps its size on
// narrow screens.
extern const char* const kReportStyle;

}  // namespace millrace
