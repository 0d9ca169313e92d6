// SPDX-License-Identifier: Apache-2.0
#include "preset_file.h"

#include <filesystem>

#include "millrace/errors/errors.h"

namespace millrace::cli {

std::string FindPreset(const std::string& words) {
  namespace fs = std::filesystem;
  if (fs::path(words).extension() == ".json") return words;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path places[] = {program.parent_path() / "../share/millrace/presets",
                             program.parent_path() / "../../../presets"};
  for (const fs::path& place : places) {
    const fs::path file = place / (words + ".json");
    if (fs::exists(file, ignored)) return fs::canonical(file, ignored).string();
  }
  throw InvalidInput("--preset: there is no '" + words + "'; give the path of a .json file");
}

}  // namespace millrace::cli
