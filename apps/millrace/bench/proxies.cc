// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/targets/proxy_agreement.h"
#include "millrace/rank_session.h"
#include "millrace/report/progress_bar.h"

// millrace bench proxies: the linear and the contended timeline beside SimGrid's network, and all of them beside the
// network of MPI's ranks.
namespace millrace::cli {
namespace {

// For all links together, about.
constexpr double kSecondsToMeasureLinks = 10;

struct ProxiesFlags {
  bool quick = false;
  std::string target;
  ProxyAgreementOptions agreement;
};

int RunProxies(const CommandLine& line, ProxiesFlags options) {
  options.agreement.seed = line.common.seed;
  RankSession ranks(options.target);
  if (ranks.follows()) return ranks.Follow(line, "");
  MeasuredNetwork network;
  if (mpi::Leader* const leader = ranks.Lead(line, "", {})) {
    network.name = fmt::format("{} ranks", leader->size());
    network.machine = ranks.MeasuredMachine(fmt::format("homogeneous:{}", leader->size()), kSecondsToMeasureLinks);
    network.target = [&, leader](const ComputationGraph& graph, const CostModel& cost) {
      TargetContext context;
      context.graph = &graph;
      context.machine = &network.machine;
      context.cost = &cost;
      context.ranks = leader;
      return MakeTarget(options.target, context);
    };
    options.agreement.network = &network;
  }
  BenchAccount account(line, 1);
  account.Note(
      options.target.empty()
          ? "Random graphs on four equal devices, links of 1e-3 s and 1e9 bytes/s; half of the plans drawn at random, "
            "half by randomised-list. pairs: a channel for every ordered pair of devices; bus: one for all; tree: one "
            "each way within two pairs of devices, and one between them; hosts: one for what each sends "
            "and one for what it receives."
          : fmt::format(
                "Random graphs whose ops take {:g} s in the mean, on equal devices with the links between these "
                "ranks; half of the plans drawn at random, half by randomised-list, each run on {}.",
                kMeasuredSeconds, options.target));
  ProgressBar bar(line.common.quiet);
  const std::vector<ProxyAgreement> agreements =
      CompareProxies(options.agreement, [&bar](int done, int total) { bar.Show("problems", done, total); });
  bar.Clear();
  account.Print(ProxyAgreementTables(agreements));
  return 0;
}

}  // namespace

ExperimentRun AddProxies(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<ProxiesFlags>();
  ProxyAgreementOptions& agreement = options->agreement;
  AddQuick(flags, options->quick, "20 plans of 30 ops");
  flags
      .add_option("--target", options->target,
                  "mpi,emulate: run the plans over the ranks that this is started on, in place of made-up networks")
      ->check(CLI::IsMember({"mpi,emulate"}));
  flags.add_option("--plans", agreement.plans, "Plans for each graph and network")
      ->check(WholeFrom(2, 100000))
      ->capture_default_str();
  flags.add_option("--ops", agreement.ops, "Ops of the graphs")->check(WholeFrom(2, 100000))->capture_default_str();
  AddList(flags, "--families", agreement.families, "Families of random graphs")->capture_default_str();
  AddList(flags, "--ccr", agreement.ccr, "Communication-to-computation ratios")
      ->check(NumberFrom(0, 1e6))
      ->capture_default_str();
  return [&line, &flags, options] {
    if (options->quick && flags.count("--plans") == 0) options->agreement.plans = 20;
    if (options->quick && flags.count("--ops") == 0) options->agreement.ops = 30;
    return RunProxies(line, *options);
  };
}

}  // namespace millrace::cli
