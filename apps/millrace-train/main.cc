// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "command.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

int main(int argc, char** argv) {
  using namespace millrace;
  const auto complain = [](const char* line, int code) {
    std::fprintf(stderr, "millrace train: %s\n", line);
    return code;
  };
  WatchForInterrupt();
  cli::TrainCommand command;
  try {
    command.app().parse(argc, argv);
    return command.Run();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return command.app().exit(error);
    return complain(error.what(), 2);
  } catch (const InvalidInput& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
