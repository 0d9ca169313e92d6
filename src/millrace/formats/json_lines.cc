// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/json_lines.h"

#include <fmt/core.h>

#include "millrace/errors/errors.h"
#include "millrace/formats/text_lines.h"

namespace millrace {

void ReadJsonLines(std::string_view text, const std::string& name, const std::function<void(const JsonPlace&)>& read) {
  TextLines lines(text);
  for (std::string_view line; lines.Next(line);) {
    if (Trimmed(line).empty()) continue;
    try {
      const JsonValue value = ParseJson(line);
      read(JsonPlace(value));
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("{}:{}: {}", name, lines.number(), error.what()));
    }
  }
}

}  // namespace millrace
