// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

// The command line of `millrace-train finetune`: weights for one graph on one machine.
namespace millrace::cli {

struct FinetuneRequest;

class FinetuneCommand {
 public:
  FinetuneCommand();
  ~FinetuneCommand();

  CLI::App& app() { return app_; }
  int Run() const;  // once parsed; returns the exit code

 private:
  CLI::App app_{"Millrace adapts a sampler's weights to one graph on one machine."};
  std::unique_ptr<FinetuneRequest> request_;
};

}  // namespace millrace::cli
