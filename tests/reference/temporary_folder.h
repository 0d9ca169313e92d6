// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

// Where a test keeps its files.
namespace millrace::testing {

// A folder of its own, gone with all that is in it when this goes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Of a file in it, there or not.
  std::string Path(const std::string& file) const { return (path_ / file).string(); }

  // Returns the file's path.
  std::string Write(const std::string& file, const std::string& content) const {
    std::ofstream(path_ / file, std::ios::binary) << content;
    return Path(file);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace millrace::testing
