// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Where the weights that come with Millrace are.
namespace millrace {

// Folders that are looked in, in order: models/ beside the folder of the executable (a build tree),
// share/millrace/models/ there (an installation), those of the folders above the shared library that this code lies in,
// if it lies in one (a Python module), that folder of the prefix the library was configured for (programs of others
// that link it), and $MILLRACE_MODELS.
std::vector<std::string> ModelFolders();

// Path of the file in the first of these folders that has it; nothing where none has.
std::optional<std::string> LookForModelFile(std::string_view file);

// The same where it has to be there: throws InvalidInput, naming the folders, where none has it.
std::string FindModelFile(std::string_view file);

}  // namespace millrace
