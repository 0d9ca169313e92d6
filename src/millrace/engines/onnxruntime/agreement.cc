// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "millrace/errors/shown.h"

namespace millrace::ort {
namespace {

template <typename Element>
Element At(std::span<const std::byte> elements, std::size_t i) {
  Element element;
  std::memcpy(&element, elements.data() + i * sizeof(Element), sizeof(Element));
  return element;
}

template <typename Element>
std::string CompareFloats(const std::string& name, std::span<const std::byte> expected,
                          std::span<const std::byte> found) {
  const std::size_t elements = expected.size() / sizeof(Element);
  double largest = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double element = std::abs(static_cast<double>(At<Element>(expected, i)));
    if (std::isfinite(element)) largest = std::max(largest, element);
  }
  for (std::size_t i = 0; i < elements; ++i) {
    const double wanted = static_cast<double>(At<Element>(expected, i));
    const double got = static_cast<double>(At<Element>(found, i));
    const bool same = std::isfinite(wanted) ? std::abs(wanted - got) <= kTolerance * largest
                                            : wanted == got || (std::isnan(wanted) && std::isnan(got));
    if (!same)
      return fmt::format("output '{}' differs from the whole model's: element {} is {}, not {}", Shown(name), i, got,
                         wanted);
  }
  return "";
}

}  // namespace

std::string WhyNotTheSame(const Value& value, std::span<const std::byte> expected, std::span<const std::byte> found) {
  if (value.type == DataType::kFloat32) return CompareFloats<float>(value.name, expected, found);
  if (value.type == DataType::kFloat64) return CompareFloats<double>(value.name, expected, found);
  const auto at = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  if (at.first == expected.end() && at.second == found.end()) return "";
  return fmt::format("output '{}' differs from the whole model's, from byte {} on", Shown(value.name),
                     at.first - expected.begin());
}

}  // namespace millrace::ort
