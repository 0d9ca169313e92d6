// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

// The command line of `millrace-train go`: GO's policy learns many graphs, or one to the end.
namespace millrace::cli {

struct GoRequest;

class GoCommand {
 public:
  GoCommand();
  ~GoCommand();

  CLI::App& app() { return app_; }
  int Run() const;  // once parsed; returns the exit code

 private:
  CLI::App app_{"Millrace learns the weights of GO, the policy that decides a whole graph at once."};
  std::unique_ptr<GoRequest> request_;
};

}  // namespace millrace::cli
