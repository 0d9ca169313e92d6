// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "millrace/bench_networks.h"
#include "millrace/errors/errors.h"
#include "millrace/verb.h"

namespace millrace::cli {

void AddBench(CommandLine& line) {
  auto name = std::make_shared<std::string>();
  auto options = std::make_shared<NetworksOptions>();
  CLI::App* verb = AddVerb(line, "bench", "Run an experiment and print its table", [&line, name, options] {
    if (*name != "networks") throw InvalidInput("there is no experiment '" + *name + "'; there is: networks");
    return BenchNetworks(line, *options);
  });
  verb->add_option(
          "NAME", *name,
          "networks: every model family, and the networks in DATA/onnx_light, planned and measured on this CPU")
      ->required();
  verb->add_option("--data", options->data, "Folder of graphs made by others (onnx_light, ...)");
  verb->add_option("--models", options->models, "Only these, with commas between")->delimiter(',');
  verb->add_flag("--quick", options->quick, "Shorter profiling and fewer runs");
  verb->add_option("--profile-cache", options->profile_cache, "File that keeps op times between runs");
}

}  // namespace millrace::cli
