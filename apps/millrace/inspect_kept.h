// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "millrace/verb.h"

// Accounts of the files that Millrace itself keeps: weights, measurements, times of ops, results.
namespace millrace::cli {

enum class KeptKind { kWeights, kRecords, kProfile, kResult };

// By how the file begins; nothing for any other file.
std::optional<KeptKind> KindOfKept(std::string_view content);

// Prints the account, as text or JSON. `path` is where the file lies, for complaints and for what is read again. Throws
// InvalidInput naming it.
void InspectKept(const CommandLine& line, KeptKind kind, const std::string& path, const std::string& content);

// The same of a folder that optimize left: its result.json, and which files it has.
void InspectResultFolder(const CommandLine& line, const std::string& folder);

}  // namespace millrace::cli
