// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

// JSON for people's scripts: one line on stdout at the end, and logs of one line per record.
namespace millrace::cli {

// Throws WorkFailed where stdout does not take it.
void PrintLine(const std::string& line);

// Lines appended to a file, each written at once.
class JsonLog {
 public:
  // Empty: no log. Throws InvalidInput where the file cannot be opened.
  explicit JsonLog(const std::string& path);

  // Does nothing without a log. Throws WorkFailed where the file cannot be written.
  void Write(const std::string& line);

 private:
  std::ofstream file_;
  std::string path_;
};

}  // namespace millrace::cli
