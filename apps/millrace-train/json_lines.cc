// SPDX-License-Identifier: Apache-2.0
#include "json_lines.h"

#include "command_line/output.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace millrace::cli {

void PrintLine(const std::string& line) { WriteOut(TerminalSafeJson(line) + "\n"); }

JsonLog::JsonLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path, std::ios::app);
  if (!file_) throw InvalidInput(path + ": cannot be opened to write the log to");
}

void JsonLog::Write(const std::string& line) {
  if (path_.empty()) return;
  file_ << line << '\n' << std::flush;
  if (!file_) throw WorkFailed(path_ + ": the log cannot be written");
}

}  // namespace millrace::cli
