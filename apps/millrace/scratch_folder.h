// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

// Where an experiment keeps what its trainings read and write.
namespace millrace::cli {

// A folder of this process among the temporary ones; whoever writes to it makes it. Gone, with all that is in it, when
// this goes.
class ScratchFolder {
 public:
  explicit ScratchFolder(std::string_view experiment)
      : path_(fmt::format("{}/millrace-{}-{}", std::filesystem::temp_directory_path().string(), experiment, getpid())) {
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace millrace::cli
