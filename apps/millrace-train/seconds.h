// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

// A number of seconds on the command line.
namespace millrace::cli {

// Accepts finite numbers > 0.
CLI::Validator PositiveSeconds();

}  // namespace millrace::cli
