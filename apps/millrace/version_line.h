// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Which Millrace the command is.
namespace millrace::cli {

// "millrace 0.1.0", with the commit in brackets where it was built from a tree.
std::string VersionLine();

}  // namespace millrace::cli
