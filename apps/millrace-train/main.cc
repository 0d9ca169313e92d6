// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string_view>

#include "experts_command.h"
#include "finetune_command.h"
#include "gflownet_command.h"
#include "go_command.h"
#include "hdp_command.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"

namespace {

int Complain(const char* line, int code) {
  std::fprintf(stderr, "millrace train: %s\n", line);
  return code;
}

template <typename Command>
int RunCommand(int argc, char** argv) {
  Command command;
  try {
    command.app().parse(argc, argv);
    return command.Run();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return command.app().exit(error);
    return Complain(error.what(), 2);
  } catch (const millrace::InvalidInput& error) {
    return Complain(error.what(), 2);
  } catch (const std::exception& error) {
    return Complain(error.what(), 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  millrace::WatchForInterrupt();
  const std::string_view kind = argc > 1 ? argv[1] : "";
  if (kind == "experts") return RunCommand<millrace::cli::ExpertsCommand>(argc - 1, argv + 1);
  if (kind == "finetune") return RunCommand<millrace::cli::FinetuneCommand>(argc - 1, argv + 1);
  if (kind == "go") return RunCommand<millrace::cli::GoCommand>(argc - 1, argv + 1);
  if (kind == "hdp") return RunCommand<millrace::cli::HdpCommand>(argc - 1, argv + 1);
  return RunCommand<millrace::cli::GFlowNetCommand>(argc, argv);
}
