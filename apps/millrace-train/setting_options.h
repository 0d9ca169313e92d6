// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "millrace/train/torch/settings_table.h"

// Options of the command line made from the rows of a table of settings: name, help and range.
namespace millrace::cli {

// One option per row with a number: --learning-rate for "learning_rate". The settings behind the table must outlive the
// app.
void AddSettingOptions(CLI::App& app, const SettingsTable& table);

// The row's meaning as the help of an option.
std::string HelpOf(const Setting& row);

// Accepts what the row allows by itself: numbers in its range, or its words.
CLI::Validator AllowedBy(const Setting& row);

}  // namespace millrace::cli
