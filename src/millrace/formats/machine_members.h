// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "millrace/formats/json_value.h"
#include "millrace/machine/machine.h"

// The machine object as it stands in a file of its own and inside a plan.
namespace millrace {

// Throws InvalidInput; the result satisfies CheckMachine.
Machine MachineAt(const JsonPlace& place);
void AppendMachine(std::string& out, const Machine& machine);

}  // namespace millrace
