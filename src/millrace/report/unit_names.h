// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/machine/topology.h"

// What rows of timelines are called.
namespace millrace {

// By unit: the device that is this unit alone, else "unit 3" by the machine's own number.
std::vector<std::string> UnitNames(const Machine& machine, const Topology& topology);

// By memory: the devices that use it, gangs left out where others do: "gpu 0 memory", "core 0, core 1 memory".
std::vector<std::string> MemoryNames(const Machine& machine, const Topology& topology);

}  // namespace millrace
