// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/model_file.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "millrace/errors/errors.h"

namespace millrace {

std::vector<std::string> ModelFolders() {
  std::vector<std::string> folders;
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path prefix = executable.parent_path().parent_path();
    folders.push_back((prefix / "models").string());
    folders.push_back((prefix / "share" / "millrace" / "models").string());
  }
  folders.emplace_back(MILLRACE_INSTALLED_MODELS);
  if (const char* const named = std::getenv("MILLRACE_MODELS"); named != nullptr && *named != '\0')
    folders.emplace_back(named);
  return folders;
}

std::optional<std::string> LookForModelFile(std::string_view file) {
  for (const std::string& folder : ModelFolders()) {
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path.string();
  }
  return std::nullopt;
}

std::string FindModelFile(std::string_view file) {
  if (std::optional<std::string> found = LookForModelFile(file)) return *found;
  std::string looked;
  for (const std::string& folder : ModelFolders()) looked += (looked.empty() ? "" : ", ") + folder;
  throw InvalidInput("no weights '" + std::string(file) + "' in " + looked +
                     "; name the file itself (--weights), or in MILLRACE_MODELS a folder that has it");
}

}  // namespace millrace
