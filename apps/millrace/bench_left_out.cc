// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/errors.h"
#include "millrace/verb.h"

// millrace bench of a build without the experiments, which are half of what the command takes to build.
namespace millrace::cli {

void AddBench(CommandLine& line) {
  CLI::App* verb =
      AddVerb(line, "bench", "Run an experiment and print its tables (left out of this build)", []() -> int {
        throw WorkFailed("the experiments are left out of this build: configure with -DMILLRACE_EXPERIMENTS=ON");
      });
  verb->allow_extras();
}

}  // namespace millrace::cli
