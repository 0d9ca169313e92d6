// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/campaigns.h"

#include <fmt/core.h>

#include <iterator>
#include <memory>

#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/targets/target_methods.h"
#include "millrace/experiments/targets/target_tables.h"
#include "millrace/experiments/targets/test_graphs.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"

namespace millrace::cli {
namespace {

PlannerRegistry RegistryWith(const std::string& weights) {
  return MakePlannerRegistry({.gflownet_weights = weights, .go_weights = {}});
}

}  // namespace

void AddCampaignFlags(CLI::App& flags, CampaignFlags& options, const std::string& quick) {
  AddQuick(flags, options.quick, quick);
  AddMethods(flags, options.methods);
  AddSeconds(flags, "--seconds", options.seconds, "Seconds of every search, and of optimize for each target")
      ->capture_default_str();
  AddWeights(flags, options.weights);
  flags.add_option("--ppo-weights", options.ppo_weights, "Weights trained by PPO, to have ppo among the methods");
}

std::vector<Campaign> FreeAndLinked(const std::vector<GraphUnderTest>& graphs, bool quick) {
  std::vector<Campaign> campaigns(1);
  campaigns[0] = {graphs, UsualTargets(false), {}, "Free transfers by the proxy"};
  if (quick) return campaigns;
  campaigns.push_back({graphs, UsualTargets(true), {}, "Links of CCR 1 by the proxy"});
  campaigns[1].options.link_ccr = 1;
  return campaigns;
}

int RunCampaigns(const CommandLine& line, const CampaignFlags& options, const std::vector<Campaign>& campaigns,
                 const std::vector<std::string>& notes) {
  TargetMethodOptions method_options;
  method_options.search_seconds = options.seconds;
  TargetPlanners planners{std::make_shared<const PlannerRegistry>(RegistryWith(options.weights)), nullptr};
  if (!options.ppo_weights.empty())
    planners.ppo = std::make_shared<const PlannerRegistry>(RegistryWith(options.ppo_weights));
  const std::vector<TargetMethod> methods = MakeTargetMethods(options.methods, planners, method_options);
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  account.Note(
      fmt::format("Weights: {}. Methods that draw: {} plans; of all at most {} go to each target. Searches have {} s, "
                  "and so has optimize, which measures as it goes, for each target.",
                  options.weights.empty() ? "as shipped" : options.weights, method_options.samples,
                  method_options.top_k, method_options.search_seconds));
  for (const std::string& note : notes) account.Note(note);
  std::vector<Table> tables;
  ProgressBar bar(line.common.quiet);
  for (const Campaign& campaign : campaigns) {
    OnTargetsOptions run = campaign.options;
    run.seed = line.common.seed;
    run.threads = threads;
    if (options.quick) run.seeds = 2;
    const OnTargetsResult result =
        RunOnTargets(campaign.graphs, methods, campaign.targets, run,
                     [&](int done, int total) { bar.Show(campaign.name + " graphs and seeds", done, total); });
    std::vector<Table> made = TargetTables(result, campaign.name + ": ");
    for (Table& table : made) table.caption = campaign.name + ". " + table.caption;
    tables.insert(tables.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
  }
  bar.Clear();
  account.Print(tables);
  return 0;
}

std::string NamesOf(const std::vector<GraphUnderTest>& graphs) {
  std::string names;
  for (const GraphUnderTest& graph : graphs)
    names += (names.empty() ? "" : ", ") +
             fmt::format("{} ({} ops, at most {:.1f} x)", graph.name, graph.graph.num_ops(), Parallelism(graph.graph));
  return names;
}

}  // namespace millrace::cli
