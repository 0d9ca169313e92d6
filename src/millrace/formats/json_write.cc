// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/json_write.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "millrace/errors/shown.h"

namespace millrace {

void AppendJsonText(std::string& out, std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += TerminalSafeJson(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void AppendJsonNumber(std::string& out, double number) {
  // "-0" would be read as the whole number 0 and lose its sign.
  if (number == 0 && std::signbit(number)) {
    out += "-0.0";
    return;
  }
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

std::string JsonNumberOrNull(double number) {
  if (!std::isfinite(number)) return "null";
  std::string text;
  AppendJsonNumber(text, number);
  return text;
}

void AppendJsonIntegers(std::string& out, const std::vector<std::int32_t>& numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(numbers[i]);
  }
  out += ']';
}

void AppendJsonName(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{' && out.back() != '\n') out += ',';
  AppendJsonText(out, name);
  out += ':';
}

void AppendJsonMember(std::string& out, std::string_view name, std::string_view text) {
  AppendJsonName(out, name);
  AppendJsonText(out, text);
}

void AppendJsonMember(std::string& out, std::string_view name, double number) {
  AppendJsonName(out, name);
  AppendJsonNumber(out, number);
}

void AppendJsonMember(std::string& out, std::string_view name, std::int32_t number) {
  AppendJsonName(out, name);
  out += std::to_string(number);
}

void AppendJsonMember(std::string& out, std::string_view name, const std::vector<std::int32_t>& numbers) {
  AppendJsonName(out, name);
  AppendJsonIntegers(out, numbers);
}

}  // namespace millrace
