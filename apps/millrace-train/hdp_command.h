// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

// The command line of `millrace-train hdp`: the hierarchical placer learns one graph on one machine and leaves a plan.
namespace millrace::cli {

struct HdpRequest;

class HdpCommand {
 public:
  HdpCommand();
  ~HdpCommand();

  CLI::App& app() { return app_; }
  int Run() const;  // once parsed; returns the exit code

 private:
  CLI::App app_{"Millrace learns a placement of one graph as HDP does, a baseline: groups of ops, a device for each."};
  std::unique_ptr<HdpRequest> request_;
};

}  // namespace millrace::cli
