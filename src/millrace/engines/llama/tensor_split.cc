// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/tensor_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "millrace/formats/text_lines.h"

namespace millrace {

std::vector<int> PartsPerDevice(const std::vector<float>& tensor_split, int parts) {
  std::vector<float> points;
  float sum = 0;
  for (const float share : tensor_split) {
    sum += share;
    points.push_back(sum);
  }
  for (float& point : points) point /= sum;
  std::vector<int> counts(points.size(), 0);
  for (int part = 0; part < parts; ++part) {
    const float start = static_cast<float>(part) / static_cast<float>(parts);
    const auto device = std::upper_bound(points.begin(), points.end(), start) - points.begin();
    ++counts[std::min(static_cast<std::size_t>(device), counts.size() - 1)];
  }
  return counts;
}

std::string TensorSplitFor(const std::vector<int>& counts) {
  const double parts = std::accumulate(counts.begin(), counts.end(), 0);
  std::string text;
  double taken = 0, point = 0;
  for (std::size_t device = 0; device < counts.size(); ++device) {
    taken += counts[device];
    const double next = device + 1 == counts.size() ? parts : std::max(0.0, taken - 0.5);
    text += fmt::format("{}{:g}", device == 0 ? "" : "/", next - point);
    point = next;
  }
  return text;
}

std::vector<float> ParseTensorSplit(const std::string& text) {
  std::vector<float> shares;
  std::string_view rest = text;
  while (true) {
    const std::size_t slash = rest.find('/');
    const auto share = CostIn(rest.substr(0, slash));
    if (!share) return {};
    shares.push_back(static_cast<float>(*share));
    if (slash == std::string_view::npos) return shares;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace millrace
