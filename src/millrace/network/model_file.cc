// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/model_file.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

constexpr const char* kInBuildTree = "models";
constexpr const char* kInInstallation = "share/millrace/models";

// The shared library or executable that this code lies in; empty where that cannot be told. Of an executable the name
// is that by which it was called, which may be one of any file where it is not a whole path.
std::filesystem::path FileOfThisCode() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ModelFolders), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::filesystem::path named(info.dli_fname);
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(named, error);
  return error || !named.is_absolute() ? std::filesystem::path() : file;
}

// Those there are above the file, the nearest first: how deep a module lies in its installation differs.
void AddFoldersAbove(const std::filesystem::path& file, std::vector<std::string>& folders) {
  for (std::filesystem::path above = file.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    for (const char* const name : {kInBuildTree, kInInstallation}) {
      std::error_code error;
      if (std::filesystem::is_directory(above / name, error)) folders.push_back((above / name).string());
    }
  }
}

}  // namespace

std::vector<std::string> ModelFolders() {
  std::vector<std::string> folders;
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path prefix = executable.parent_path().parent_path();
    folders.push_back((prefix / kInBuildTree).string());
    folders.push_back((prefix / kInInstallation).string());
  }
  if (const std::filesystem::path code = FileOfThisCode(); code != executable) AddFoldersAbove(code, folders);
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
