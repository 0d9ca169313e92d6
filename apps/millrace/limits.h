// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// What a flag with a number takes. CLI11's own ranges let nan through.
namespace millrace::cli {

// A finite number above 0: seconds, a temperature, a factor.
CLI::Validator AboveZero();

// A finite number from `least` to `most`.
CLI::Validator NumberFrom(double least, double most);

}  // namespace millrace::cli
