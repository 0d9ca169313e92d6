// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Where the weights that come with Millrace are.
namespace millrace {

// Folders that are looked in, in order: models/ beside the folder of the executable (a build tree),
// share/millrace/models/ there (an installation), and $MILLRACE_MODELS.
std::vector<std::string> ModelFolders();

// Path of the file in the first of these folders that has it. Throws InvalidInput, naming the folders, where none has.
std::string FindModelFile(std::string_view file);

}  // namespace millrace
