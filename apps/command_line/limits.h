// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

// What a flag with a number takes. CLI11's own checks let nan through, wrap whole numbers that are too large or
// negative, and read 010 as 8; so every flag with a number has one of these. They complain in one short line, however
// long the words are.
namespace millrace::cli {

// A finite number above 0: seconds, a temperature, a factor.
CLI::Validator AboveZero();

// A finite number from `least` to `most`.
CLI::Validator NumberFrom(double least, double most);

// A finite number; who takes it knows its range.
CLI::Validator AnyNumber();

// A whole number from `least` to `most`, in decimal digits.
CLI::Validator WholeFrom(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

// The flag --seed: 0 to 2^64 - 1.
CLI::Option* AddSeed(CLI::App& app, std::uint64_t& seed, const std::string& what);

}  // namespace millrace::cli
