// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "millrace/errors/shown.h"

// What the programs say: results on stdout, warnings on stderr. Names from files go through Escaped on their way, and
// what cannot be written is an error, not a shrug.
namespace millrace::cli {

// Texts are escaped, numbers and the like are as they are.
template <typename Value>
using Spoken = std::conditional_t<std::is_convertible_v<const Value&, std::string_view>, std::string, const Value&>;

template <typename Value>
Spoken<Value> Speak(const Value& value) {
  if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
    return Escaped(value);
  } else {
    return value;
  }
}

// The text as it is, on stdout. Throws WorkFailed where it cannot be written.
void WriteOut(std::string_view text);

// A result on stdout; every text among the values is escaped. Throws as WriteOut does.
template <typename... Values>
void Print(fmt::format_string<Spoken<Values>...> format, const Values&... values) {
  WriteOut(fmt::format(format, Speak(values)...));
}

// One line on stderr: "PROGRAM: warning: ...", escaped.
void Warn(std::string_view warning);

// One JSON object on stdout, and nothing else there.
void PrintJson(const nlohmann::ordered_json& object);

}  // namespace millrace::cli
