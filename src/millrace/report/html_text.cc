// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/html_text.h"

#include "millrace/errors/shown.h"

namespace millrace {

std::string HtmlText(std::string_view text, std::size_t most) {
  std::string safe;
  for (const char c : Shown(text, most)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace millrace
