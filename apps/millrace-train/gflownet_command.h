// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

// The command line of `millrace-train gflownet` and `ppo`: the GFlowNet's policy, or one that looks for one best plan.
namespace millrace::cli {

struct GFlowNetRequest;

class GFlowNetCommand {
 public:
  GFlowNetCommand();
  ~GFlowNetCommand();

  CLI::App& app() { return app_; }
  int Run() const;  // once parsed; returns the exit code

 private:
  CLI::App app_{"Millrace learns the weights of a sampler from random problems and from given graphs."};
  std::unique_ptr<GFlowNetRequest> request_;
};

}  // namespace millrace::cli
