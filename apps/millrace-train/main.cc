// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "command_line/ending.h"
#include "command_line/kept_memory.h"
#include "experts_command.h"
#include "finetune_command.h"
#include "gflownet_command.h"
#include "go_command.h"
#include "hdp_command.h"
#include "millrace/errors/interrupt.h"
#include "moves_command.h"

namespace {

constexpr const char* kProgram = "millrace train";

template <typename Command>
int RunCommand(int argc, char** argv) {
  return millrace::cli::RunToItsEnd(kProgram, [&] {
    Command command;
    try {
      command.app().parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return command.app().exit(error);
      return millrace::cli::ComplainOfUsage(kProgram, error.what());
    }
    return command.Run();
  });
}

}  // namespace

int main(int argc, char** argv) {
  millrace::cli::KeepFreedMemory();  // gradients of large graphs take and give back tables of 20 MB in every step
  // However long it takes: a training that is interrupted keeps what it has learnt.
  millrace::WatchForInterrupt();
  const std::string_view kind = argc > 1 ? argv[1] : "";
  if (kind == "experts") return RunCommand<millrace::cli::ExpertsCommand>(argc - 1, argv + 1);
  if (kind == "finetune") return RunCommand<millrace::cli::FinetuneCommand>(argc - 1, argv + 1);
  if (kind == "go") return RunCommand<millrace::cli::GoCommand>(argc - 1, argv + 1);
  if (kind == "hdp") return RunCommand<millrace::cli::HdpCommand>(argc - 1, argv + 1);
  if (kind == "moves") return RunCommand<millrace::cli::MovesCommand>(argc - 1, argv + 1);
  return RunCommand<millrace::cli::GFlowNetCommand>(argc, argv);
}
