// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/readable.h"

#include <fmt/format.h>

#include <cmath>

namespace millrace {

std::string ReadableSeconds(double seconds) {
  if (seconds >= 1 || seconds == 0) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.1f} us", seconds * 1e6);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string RoundSeconds(double seconds) {
  if (seconds >= 1 || seconds == 0) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.4g} us", seconds * 1e6);
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

std::string ReadableBytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) bytes /= 1000, ++unit;
  return ReadableNumber(bytes, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string ReadableNumber(double number, int decimals) {
  constexpr double kMany = 1e6;
  return std::abs(number) < kMany ? fmt::format("{:.{}f}", number, decimals) : fmt::format("{:.3g}", number);
}

}  // namespace millrace
