// SPDX-License-Identifier: Apache-2.0
#include "command_line/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "millrace/errors/errors.h"

namespace millrace::cli {

void WriteOut(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw WorkFailed(fmt::format("stdout: could not be written: {}", std::strerror(errno)));
}

void Warn(std::string_view warning) { fmt::print(stderr, "millrace: warning: {}\n", Escaped(warning)); }

void PrintJson(const nlohmann::ordered_json& object) {
  WriteOut(TerminalSafeJson(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n");
}

}  // namespace millrace::cli
