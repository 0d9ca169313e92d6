// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Where the settings are that --preset names.
namespace millrace::cli {

// A path of a .json file as it is, or the name of one of those that lie beside the program: where it was installed, or
// built. Throws InvalidInput where there is none.
std::string FindPreset(const std::string& words);

}  // namespace millrace::cli
