// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far costs may add up.
namespace millrace {

// Sums over a whole graph, of seconds, bytes or flops, go no further: beyond it doubles soon become infinite, and what
// is computed of them no number.
inline constexpr double kMostTotal = 1e300;

}  // namespace millrace
