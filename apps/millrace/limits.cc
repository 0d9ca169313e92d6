// SPDX-License-Identifier: Apache-2.0
#include "millrace/limits.h"

#include <fmt/core.h>

#include <cmath>
#include <string>

namespace millrace::cli {
namespace {

// The number that the words say; NaN where they say none.
double NumberOf(const std::string& words) {
  double number = 0;
  return CLI::detail::lexical_cast(words, number) ? number : std::nan("");
}

}  // namespace

CLI::Validator AboveZero() {
  return CLI::Validator(
      [](const std::string& words) {
        const double number = NumberOf(words);
        return std::isfinite(number) && number > 0 ? "" : fmt::format("'{}' is not a finite number above 0", words);
      },
      "NUMBER > 0");
}

CLI::Validator NumberFrom(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& words) {
        const double number = NumberOf(words);
        return number >= least && number <= most
                   ? ""
                   : fmt::format("'{}' is not a number from {:g} to {:g}", words, least, most);
      },
      fmt::format("{:g} to {:g}", least, most));
}

}  // namespace millrace::cli
