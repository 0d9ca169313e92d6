// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "millrace/bench.h"
#include "millrace/bench/campaigns.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/targets/test_graphs.h"

// millrace bench generalization: plans for random graphs that no training draws, judged by the proxy alone.
namespace millrace::cli {
namespace {

int RunGeneralization(const CommandLine& line, const CampaignFlags& options) {
  Campaign campaign{UnseenRandomGraphs(options.quick ? 2 : 10), {{"proxy", ""}}, {}, "Unseen random graphs"};
  return RunCampaigns(line, options, {campaign},
                      {fmt::format("{} graphs of 50 ops, 4 equal devices, free transfers; graph seeds from {}.",
                                   campaign.graphs.size(), kQualitySeed + 20'000)});
}

}  // namespace

ExperimentRun AddGeneralization(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<CampaignFlags>();
  AddCampaignFlags(flags, *options, "2 graphs of each family, 2 seeds");
  return [&line, options] { return RunGeneralization(line, *options); };
}

}  // namespace millrace::cli
