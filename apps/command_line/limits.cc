// SPDX-License-Identifier: Apache-2.0
#include "command_line/limits.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"

namespace millrace::cli {
namespace {

constexpr std::size_t kMostShown = 40;  // of what was typed

std::string_view WithoutPlus(std::string_view words) {
  if (words.starts_with('+') && !words.starts_with("+-")) words.remove_prefix(1);
  return words;
}

std::optional<double> FiniteIn(std::string_view words) {
  const std::optional<double> number = NumberIn<double>(WithoutPlus(words));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string Refusal(const std::string& words, const std::string& wanted) {
  return fmt::format("'{}' is not {}", Shown(words, kMostShown), wanted);
}

// CLI11, which reads the number after us, takes a zero at the front for the sign of another base.
bool AnotherBase(std::string_view words) {
  const std::size_t digits = words.find_first_not_of("+-");
  return digits != std::string_view::npos && words[digits] == '0' && digits + 1 < words.size();
}

template <typename Number>
CLI::Validator Whole(Number least, Number most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return CLI::Validator(
      [least, most, range](const std::string& words) {
        const std::optional<Number> number = NumberIn<Number>(WithoutPlus(words));
        return number && *number >= least && *number <= most && !AnotherBase(words)
                   ? ""
                   : Refusal(words, "a whole number from " + range);
      },
      range);
}

}  // namespace

CLI::Validator AboveZero() {
  return CLI::Validator(
      [](const std::string& words) {
        const std::optional<double> number = FiniteIn(words);
        return number && *number > 0 ? "" : Refusal(words, "a finite number above 0");
      },
      "NUMBER > 0");
}

CLI::Validator NumberFrom(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& words) {
        const std::optional<double> number = FiniteIn(words);
        return number && *number >= least && *number <= most
                   ? ""
                   : Refusal(words, fmt::format("a number from {:g} to {:g}", least, most));
      },
      fmt::format("{:g} to {:g}", least, most));
}

CLI::Validator AnyNumber() {
  return CLI::Validator(
      [](const std::string& words) { return FiniteIn(words) ? "" : Refusal(words, "a finite number"); }, "NUMBER");
}

CLI::Validator WholeFrom(std::int64_t least, std::int64_t most) { return Whole<std::int64_t>(least, most); }

CLI::Option* AddSeed(CLI::App& app, std::uint64_t& seed, const std::string& what) {
  return app.add_option("--seed", seed, what)
      ->check(Whole<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
}

}  // namespace millrace::cli
