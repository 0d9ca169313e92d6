// SPDX-License-Identifier: Apache-2.0
#include "seconds.h"

#include <cmath>
#include <string>

namespace millrace::cli {

CLI::Validator PositiveSeconds() {
  const auto check = [](const std::string& words) -> std::string {
    double seconds = 0;
    if (CLI::detail::lexical_cast(words, seconds) && std::isfinite(seconds) && seconds > 0) return "";
    return "'" + words + "' is not a number of seconds > 0";
  };
  return CLI::Validator(check, "SECONDS");
}

}  // namespace millrace::cli
