// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Data small enough to lie in a page: zlib (RFC 1950), then base64. Browsers undo both by themselves (atob,
// DecompressionStream).
namespace millrace {

// Letters, digits, '+', '/' and '=' alone, so it may stand inside of any element.
std::string Packed(std::string_view text);

}  // namespace millrace
