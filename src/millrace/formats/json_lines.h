// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "millrace/formats/json_value.h"

// Text with a JSON value on every line, as logs are kept: what is appended never touches what is there.
namespace millrace {

// Calls read with the value of each line that is not empty, in order; the place is gone afterwards. Throws
// InvalidInput, naming `name` and the line, for a line that is no JSON and for what `read` refuses.
void ReadJsonLines(std::string_view text, const std::string& name, const std::function<void(const JsonPlace&)>& read);

}  // namespace millrace
