// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/machine/machine.h"

// Which machines this process can execute on: those whose units are operating-system processor numbers it may use.
namespace millrace {

// The processors in this process's affinity mask, ascending.
std::vector<int> AllowedProcessors();

// The distinct units of all devices, ascending.
std::vector<int> UnitsOf(const Machine& machine);

// Throws InvalidInput, naming the device and unit, where the machine has a unit that is no allowed processor.
void CheckRunsHere(const Machine& machine);

}  // namespace millrace
