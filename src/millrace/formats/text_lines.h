// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

// Reading line-oriented text, with complaints that carry the line's number, and the numbers in it.
namespace millrace {

class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  // The next line without its end ("\n" or "\r\n"); false after the last.
  bool Next(std::string_view& line);
  std::size_t number() const { return number_; }  // of the line last read, from 1

  // Throws InvalidInput: "line 7: complaint".
  [[noreturn]] void Refuse(const std::string& complaint) const;

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// The text without spaces and tabs around it.
std::string_view Trimmed(std::string_view text);

// Takes the next word (up to space or tab) off the front; empty when there is none.
std::string_view TakeWord(std::string_view& rest);

// The whole text as a number of the type. Nothing if it is no such number or anything else stands beside it.
template <typename Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The whole text as a number: finite and >= 0. Nothing if it is no such number.
std::optional<double> CostIn(std::string_view text);

// What a run may be said to have taken. Less is no time that was measured; more does not add up.
inline constexpr double kLeastTime = 1e-12;
inline constexpr double kMostTime = 1e300;

// The whole text as what a run took. Nothing if it is no such number.
std::optional<double> TimeIn(std::string_view text);

// The whole text as a whole number, 0..2147483647. Nothing if it is no such number.
std::optional<int> IdIn(std::string_view text);

}  // namespace millrace
