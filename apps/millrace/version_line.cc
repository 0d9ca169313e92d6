// SPDX-License-Identifier: Apache-2.0
#include "millrace/version_line.h"

#include <string>

#include "millrace/version.h"

namespace millrace::cli {

std::string VersionLine() {
  const std::string commit = MILLRACE_COMMIT;
  return "millrace " MILLRACE_VERSION + (commit.empty() ? "" : " (" + commit + ")");
}

}  // namespace millrace::cli
