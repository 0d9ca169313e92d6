// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Putting JSON text together. Appends to a string; commas and line breaks are the caller's.
namespace millrace {

// Quoted and escaped; bytes that are not UTF-8 become the replacement character.
void AppendJsonText(std::string& out, std::string_view text);

// The shortest digits that read back as the very same double, whole numbers without a fraction. Finite only.
void AppendJsonNumber(std::string& out, double number);

void AppendJsonIntegers(std::string& out, const std::vector<std::int32_t>& numbers);

}  // namespace millrace
