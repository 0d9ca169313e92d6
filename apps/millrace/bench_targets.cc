// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <iterator>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/quality_grid.h"
#include "millrace/experiments/target_methods.h"
#include "millrace/experiments/target_tables.h"
#include "millrace/experiments/test_graphs.h"
#include "millrace/report/progress_bar.h"

// millrace bench robustness, generalization, real-graphs: plans chosen by a proxy on targets it does not know.
namespace millrace::cli {
namespace {

// Below it a graph is nearly a chain, and every order is as good as any.
constexpr double kLeastParallelism = 1.1;
constexpr int kMostOps = 300;
constexpr int kMostOpsUnseen = 500;

struct Campaign {
  std::vector<GraphUnderTest> graphs;
  std::vector<SimulatedCase> targets;
  OnTargetsOptions options;
  std::string name;  // in front of its tables
};

std::string NamesOf(const std::vector<GraphUnderTest>& graphs) {
  std::string names;
  for (const GraphUnderTest& graph : graphs)
    names += (names.empty() ? "" : ", ") +
             fmt::format("{} ({} ops, at most {:.1f} x)", graph.name, graph.graph.num_ops(), Parallelism(graph.graph));
  return names;
}

int RunCampaigns(const CommandLine& line, const BenchOptions& options, const std::vector<Campaign>& campaigns,
                 const std::vector<std::string>& notes) {
  TargetMethodOptions method_options;
  if (options.quick) method_options.search_iterations /= 10;
  const std::vector<TargetMethod> methods = MakeTargetMethods(options.methods, options.sampler, method_options);
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  account.Note(
      fmt::format("Weights: {}. Methods that draw: {} plans, of which {} at most go to each target; searches: "
                  "{} changes.",
                  options.sampler.weights.empty() ? "as shipped" : options.sampler.weights, method_options.samples,
                  method_options.top_k, method_options.search_iterations));
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

// Transfers free as in the paper, then links that the proxy knows.
std::vector<Campaign> FreeAndLinked(const std::vector<GraphUnderTest>& graphs, bool quick) {
  std::vector<Campaign> campaigns(1);
  campaigns[0] = {graphs, UsualTargets(false), {}, "Free transfers by the proxy"};
  if (quick) return campaigns;
  campaigns.push_back({graphs, UsualTargets(true), {}, "Links of CCR 1 by the proxy"});
  campaigns[1].options.link_ccr = 1;
  return campaigns;
}

}  // namespace

int BenchRobustness(const CommandLine& line, const BenchOptions& options) {
  if (options.cpu) return BenchOnCpu(line, options);
  std::vector<GraphUnderTest> graphs = WithParallelism(PublicNetworks(options.data, kMostOps), kLeastParallelism);
  if (options.quick && graphs.size() > 3) graphs.resize(3);
  return RunCampaigns(line, options, FreeAndLinked(graphs, options.quick), {"Graphs: " + NamesOf(graphs) + "."});
}

int BenchGeneralization(const CommandLine& line, const BenchOptions& options) {
  Campaign campaign{UnseenRandomGraphs(options.quick ? 2 : 10), {{"proxy", ""}}, {}, "Unseen random graphs"};
  return RunCampaigns(line, options, {campaign},
                      {fmt::format("{} graphs of 50 ops, 4 equal devices, free transfers; graph seeds from {}.",
                                   campaign.graphs.size(), kQualitySeed + 20'000)});
}

int BenchRealGraphs(const CommandLine& line, const BenchOptions& options) {
  std::vector<GraphUnderTest> unseen, trained;
  for (GraphUnderTest& graph :
       WithParallelism(PublicNetworks(options.data, options.quick ? kMostOps : kMostOpsUnseen), kLeastParallelism))
    (KeptForTesting(graph.family) ? unseen : trained).push_back(std::move(graph));
  if (options.quick && unseen.size() > 3) unseen.resize(3);
  return RunCampaigns(line, options, FreeAndLinked(unseen, options.quick),
                      {"Unseen, split by family: " + NamesOf(unseen) + ".",
                       "For training, where real graphs are used: " + NamesOf(trained) + "."});
}

}  // namespace millrace::cli
