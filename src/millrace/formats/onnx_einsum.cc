// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_einsum.h"

#include <map>

namespace millrace {

std::optional<Shape> EinsumShape(const std::string& equation, const std::vector<Shape>& inputs) {
  std::string letters;
  for (const char c : equation) {
    if (c != ' ') letters += c;
  }
  const std::size_t arrow = letters.find("->");
  const std::string factors = letters.substr(0, arrow);
  std::map<char, std::int64_t> extents;
  std::map<char, int> occurrences;
  std::size_t input = 0;
  std::size_t axis = 0;
  for (const char c : factors) {
    if (c == ',') {
      if (input >= inputs.size() || axis != inputs[input].size()) return std::nullopt;
      ++input;
      axis = 0;
      continue;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter || input >= inputs.size() || axis >= inputs[input].size()) return std::nullopt;
    const std::int64_t extent = inputs[input][axis++];
    const auto [known, is_new] = extents.emplace(c, extent);
    if (!is_new && known->second == 1) known->second = extent;
    if (known->second != extent && extent != 1) return std::nullopt;
    ++occurrences[c];
  }
  if (input + 1 != inputs.size() || axis != inputs[input].size()) return std::nullopt;
  std::string result;
  if (arrow != std::string::npos) {
    result = letters.substr(arrow + 2);
  } else {
    for (const auto& [letter, count] : occurrences) {
      if (count == 1) result += letter;
    }
  }
  Shape shape;
  for (const char c : result) {
    const auto extent = extents.find(c);
    if (extent == extents.end()) return std::nullopt;
    shape.push_back(extent->second);
  }
  return shape;
}

}  // namespace millrace
