// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Putting JSON text together by appending to a string.
namespace millrace {

// Quoted and escaped; bytes that are not UTF-8 become the replacement character.
void AppendJsonText(std::string& out, std::string_view text);

// The shortest digits that read back as the very same double, whole numbers without a fraction. Finite only.
void AppendJsonNumber(std::string& out, double number);

// The same as a text of its own; "null" for a number that is not finite.
std::string JsonNumberOrNull(double number);

void AppendJsonIntegers(std::string& out, const std::vector<std::int32_t>& numbers);

// `"name":` for the value that follows, with a comma before it unless it is the first of its object or of a line.
void AppendJsonName(std::string& out, std::string_view name);

// A member: its name as above, and its value.
void AppendJsonMember(std::string& out, std::string_view name, std::string_view text);
void AppendJsonMember(std::string& out, std::string_view name, double number);
void AppendJsonMember(std::string& out, std::string_view name, std::int32_t number);
void AppendJsonMember(std::string& out, std::string_view name, const std::vector<std::int32_t>& numbers);

// A list with one element a line, each put there by append(out, element): long files stay readable and comparable.
template <typename Element, typename Append>
void AppendJsonLines(std::string& out, const std::vector<Element>& elements, const Append& append) {
  out += '[';
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append(out, elements[i]);
  }
  out += ']';
}

}  // namespace millrace
