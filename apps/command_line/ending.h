// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

// How the programs end: whatever goes wrong becomes one line on stderr and an exit code, once, here.
namespace millrace::cli {

// Does the work, which returns an exit code. What it throws is told in one line that begins with `program`: bad input
// with 2, anything else with 1; and so is a result that could not be written to the end of stdout.
int RunToItsEnd(const std::string& program, const std::function<int()>& work);

// A usage error, told in one line; 2.
int ComplainOfUsage(const std::string& program, const std::string& complaint);

}  // namespace millrace::cli
