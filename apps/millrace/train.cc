// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/trainer_program.h"
#include "millrace/verb.h"

// millrace train KIND: hands everything to millrace-train, which lies beside this program. Only that one is linked with
// libtorch, which takes half a second to start.
namespace millrace::cli {
namespace {

int BecomeTrainer(const std::vector<std::string>& words) {
  const std::string program = TrainerProgram();
  std::vector<char*> arguments;
  arguments.push_back(const_cast<char*>(program.c_str()));  // execv takes what it does not change
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw WorkFailed(fmt::format("{} cannot be run: {}", program, std::strerror(errno)));
}

}  // namespace

void AddTrain(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand("train", "Learn a sampler's weights (the program millrace-train)");
  verb->set_help_flag();
  verb->prefix_command();
  verb->callback([&line, verb] { line.action = [verb] { return BecomeTrainer(verb->remaining()); }; });
}

}  // namespace millrace::cli
