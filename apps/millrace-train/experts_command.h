// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

// `millrace train experts`: searches long for good plans of many training graphs.
namespace millrace::cli {

struct ExpertsRequest;

class ExpertsCommand {
 public:
  ExpertsCommand();
  ~ExpertsCommand();

  CLI::App& app() { return app_; }
  int Run() const;

 private:
  std::unique_ptr<ExpertsRequest> request_;
  CLI::App app_;
};

}  // namespace millrace::cli
