// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/errors.h"

namespace millrace {

InvalidInput InvalidInput::InFile(const std::string& file) const { return InvalidInput(file + ": " + what()); }

}  // namespace millrace
