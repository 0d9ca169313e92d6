// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Files that appear whole or not at all, and reading of whole files.
namespace millrace {

// Writes `content` beside `path`, syncs it and renames it into place. On any failure nothing new remains and an older
// file stays as it was. Throws WorkFailed naming the path and the reason.
void WriteFileAtomically(const std::string& path, std::string_view content);

// The whole file. Throws InvalidInput: missing, a folder, unreadable, larger than `most_bytes`.
std::string ReadWholeFile(const std::string& path, std::size_t most_bytes = std::size_t{4} << 30);

}  // namespace millrace
