// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/text_lines.h"

#include <algorithm>
#include <cmath>

#include "millrace/errors/errors.h"

namespace millrace {

bool TextLines::Next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return true;
}

void TextLines::Refuse(const std::string& complaint) const {
  throw InvalidInput("line " + std::to_string(number_) + ": " + complaint);
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view TakeWord(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  const std::size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::optional<double> CostIn(std::string_view text) {
  const std::optional<double> cost = NumberIn<double>(text);
  if (!cost || !std::isfinite(*cost) || *cost < 0) return std::nullopt;
  return cost;
}

std::optional<double> TimeIn(std::string_view text) {
  const std::optional<double> time = NumberIn<double>(text);
  if (!time || !(*time >= kLeastTime && *time <= kMostTime)) return std::nullopt;
  return time;
}

std::optional<int> IdIn(std::string_view text) {
  const std::optional<int> id = NumberIn<int>(text);
  if (!id || *id < 0) return std::nullopt;
  return id;
}

}  // namespace millrace
