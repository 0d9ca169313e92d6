// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/policy/weights.h"

// What checkpoints of every kind of training are put together from: parts with a name before theirs, and entries of
// text. Texts of numbers read back as the very same.
namespace millrace {

void PutPart(const Weights& part, std::string_view prefix, Weights& all);
Weights TakePart(const Weights& all, std::string_view prefix);

std::string NumberText(double number);

// Throw InvalidInput, naming the entry, where it is missing or no such number.
const std::string& EntryOf(const Weights& all, const std::string& name);
double RealOf(const Weights& all, const std::string& name);
std::int64_t IntegerOf(const Weights& all, const std::string& name);
std::uint64_t SeedOf(const Weights& all, const std::string& name);

}  // namespace millrace
