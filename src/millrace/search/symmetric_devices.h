// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/cost/costed_graph.h"

// Devices that can stand for one another: a plan stays as good where two of them change places.
namespace millrace {

// By device: the lowest of its symmetric devices, itself included. Twins have a unit each that nobody shares, run every
// group alike, have links alike to all others and to each other, and as much memory.
std::vector<int> FirstSymmetricDevices(const CostedGraph& costed);

}  // namespace millrace
