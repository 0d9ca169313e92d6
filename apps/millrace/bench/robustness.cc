// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/campaigns.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/on_cpu.h"
#include "millrace/experiments/targets/test_graphs.h"

// millrace bench robustness: plans for public networks, chosen by a proxy, on targets that it does not know, or with
// --cpu on this machine.
namespace millrace::cli {
namespace {

struct RobustnessFlags {
  CampaignFlags campaign;
  std::string data;
  bool cpu = false;
  OnCpuOptions on_cpu;  // where `cpu`; methods and quick are those of the campaign
};

int RunRobustness(const CommandLine& line, const RobustnessFlags& options) {
  constexpr int kMostOps = 300;
  if (options.cpu) {
    OnCpuOptions on_cpu = options.on_cpu;
    on_cpu.quick = options.campaign.quick;
    on_cpu.methods = options.campaign.methods;
    return RunOnCpu(line, on_cpu);
  }
  std::vector<GraphUnderTest> graphs = WithParallelism(PublicNetworks(options.data, kMostOps), kLeastParallelism);
  if (options.campaign.quick && graphs.size() > 3) graphs.resize(3);
  return RunCampaigns(line, options.campaign, FreeAndLinked(graphs, options.campaign.quick),
                      {"Graphs: " + NamesOf(graphs) + "."});
}

}  // namespace

ExperimentRun AddRobustness(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<RobustnessFlags>();
  AddCampaignFlags(flags, options->campaign, "3 graphs, 2 seeds, free transfers only; with --cpu: as optimize --quick");
  CLI::Option* data = AddData(flags, options->data, "its onnx_light and pipedream_profiles are planned, too");
  CLI::Option* cpu =
      flags.add_flag("--cpu", options->cpu, "Measured on this CPU, not on simulated targets")->excludes(data);
  for (const char* name : {"--weights", "--ppo-weights", "--seconds"}) cpu->excludes(flags.get_option(name));
  AddList(flags, "--models", options->on_cpu.models, "With --cpu: only these networks")->needs(cpu);
  flags
      .add_option("--profile-cache", options->on_cpu.profile_cache, "With --cpu: file that keeps op times between runs")
      ->needs(cpu);
  return [&line, options] { return RunRobustness(line, *options); };
}

}  // namespace millrace::cli
