// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text of others, fit to stand in a page.
namespace millrace {

// Longer names are cut: a page must stay small whatever a graph calls its ops.
inline constexpr std::size_t kLongestHtmlText = 300;

// Made safe for HTML text and attributes: &, <, >, " and ', and what Escaped escapes; of at most `most` bytes of it,
// with "..." where more follow.
std::string HtmlText(std::string_view text, std::size_t most = kLongestHtmlText);

}  // namespace millrace
