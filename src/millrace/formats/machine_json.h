// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "millrace/machine/machine.h"

// The millrace.machine format, version 1 (docs/formats.md).
namespace millrace {

// Throws InvalidInput; the result satisfies CheckMachine.
Machine ParseMachineJson(std::string_view text);
std::string MachineJson(const Machine& machine);

// The machine that `words` name: a preset (machine/preset.h), else the path of a machine file. Throws InvalidInput.
Machine LoadMachine(const std::string& words);

}  // namespace millrace
