// SPDX-License-Identifier: Apache-2.0
#include "millrace/planning/objective.h"

#include <charconv>
#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace millrace {
namespace {

constexpr Objective::Aim kAims[] = {Objective::Aim::kLatency, Objective::Aim::kMemory, Objective::Aim::kThroughput};

[[noreturn]] void Refuse(std::string_view words, const std::string& why) {
  throw InvalidInput("--objective " + Shown(words) + ": " + why);
}

double Number(std::string_view words, std::string_view text, double least) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || !(value >= least))
    Refuse(words, "'" + Shown(text) + "' is no number from " + (least > 0 ? "1" : "0") + " up");
  return value;
}

}  // namespace

const char* NameOf(Objective::Aim aim) {
  switch (aim) {
    case Objective::Aim::kLatency:
      return "latency";
    case Objective::Aim::kMemory:
      return "memory";
    case Objective::Aim::kThroughput:
      return "throughput";
  }
  return "";
}

Objective ParseObjective(std::string_view words) {
  const std::size_t comma = words.find(',');
  Objective objective;
  bool known = false;
  for (const Objective::Aim aim : kAims) {
    if (words.substr(0, comma) != NameOf(aim)) continue;
    objective.aim = aim;
    known = true;
  }
  if (!known) Refuse(words, "it is one of latency, memory, throughput");
  if (comma == std::string_view::npos) return objective;
  const std::string_view rest = words.substr(comma + 1);
  const std::size_t equals = rest.find('=');
  const std::string_view key = rest.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : rest.substr(equals + 1);
  if (objective.aim == Objective::Aim::kLatency) Refuse(words, "latency has no limit to keep within");
  if (key == "within") {
    objective.within = Number(words, value, 1);
  } else if (key == "seconds") {
    objective.seconds = Number(words, value, 0);
  } else {
    Refuse(words, "it takes within=RATIO or seconds=S");
  }
  return objective;
}

}  // namespace millrace
