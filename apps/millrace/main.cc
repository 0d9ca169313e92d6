// SPDX-License-Identifier: Apache-2.0
#include "command_line/ending.h"
#include "command_line/kept_memory.h"
#include "millrace/errors/interrupt.h"
#include "millrace/verb.h"

int main(int argc, char** argv) {
  using namespace millrace;
  cli::KeepFreedMemory();
  WatchForInterrupt(/*most_seconds=*/1);
  return cli::RunToItsEnd("millrace", [&] {
    cli::CommandLine line;
    try {
      cli::AddVerbs(line);
      line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return cli::ExplainUsage(line, error);
    }
    return line.action();
  });
}
