// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

// The command line of `millrace-train moves`: GO's policy learns to improve placements block by block.
namespace millrace::cli {

struct MovesRequest;

class MovesCommand {
 public:
  MovesCommand();
  ~MovesCommand();

  CLI::App& app() { return app_; }
  int Run() const;  // once parsed; returns the exit code

 private:
  CLI::App app_{"Millrace learns the weights of GO's moves, which improve a placement block by block."};
  std::unique_ptr<MovesRequest> request_;
};

}  // namespace millrace::cli
