// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text that others wrote, fit to stand in a line that people read: names in files, words of a command line, what a
// child process said. It must neither end the line nor steer the terminal.
namespace millrace {

// The text with everything escaped that is not seen as itself: control characters, also those of two bytes, as "\n",
// "\x1b" or "\u009b"; marks that turn the direction of writing; bytes that are no UTF-8 as "\xff".
std::string Escaped(std::string_view text);

// The same of at most `most` bytes of it, with "..." where more follow.
std::string Shown(std::string_view text, std::size_t most = 60);

// A JSON text with what is not seen as itself spelled "\u007f": within strings, where alone it may stand, that is the
// same JSON, and a terminal does not act on it.
std::string TerminalSafeJson(std::string json);

}  // namespace millrace
