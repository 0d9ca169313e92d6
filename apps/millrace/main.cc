// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/verb.h"

int main(int argc, char** argv) {
  using namespace millrace;
  const auto complain = [](const std::string& line, int code) {
    std::fprintf(stderr, "millrace: %s\n", line.c_str());
    return code;
  };
  WatchForInterrupt();
  cli::CommandLine line;
  try {
    cli::AddVerbs(line);
    line.app.parse(argc, argv);
    return line.action();
  } catch (const CLI::ParseError& error) {
    return cli::ExplainUsage(line, error);
  } catch (const InvalidInput& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
