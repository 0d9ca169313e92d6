// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/campaigns.h"
#include "millrace/bench/flags.h"
#include "millrace/experiments/targets/test_graphs.h"

// millrace bench real-graphs: robustness on the public networks that are kept from training.
namespace millrace::cli {
namespace {

struct RealGraphsFlags {
  CampaignFlags campaign;
  std::string data;
};

int RunRealGraphs(const CommandLine& line, const RealGraphsFlags& options) {
  constexpr int kMostOps = 500, kMostOpsQuick = 300;
  const bool quick = options.campaign.quick;
  std::vector<GraphUnderTest> unseen, trained;
  for (GraphUnderTest& graph :
       WithParallelism(PublicNetworks(options.data, quick ? kMostOpsQuick : kMostOps), kLeastParallelism))
    (KeptForTesting(graph.family) ? unseen : trained).push_back(std::move(graph));
  if (quick && unseen.size() > 3) unseen.resize(3);
  return RunCampaigns(line, options.campaign, FreeAndLinked(unseen, quick),
                      {"Unseen, split by family: " + NamesOf(unseen) + ".",
                       "For training, where real graphs are used: " + NamesOf(trained) + "."});
}

}  // namespace

ExperimentRun AddRealGraphs(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<RealGraphsFlags>();
  AddCampaignFlags(flags, options->campaign, "3 graphs, 2 seeds, free transfers only");
  AddData(flags, options->data, "its onnx_light and pipedream_profiles are planned, too");
  return [&line, options] { return RunRealGraphs(line, *options); };
}

}  // namespace millrace::cli
