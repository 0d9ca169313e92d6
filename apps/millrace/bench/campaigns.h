// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "millrace/experiments/targets/on_targets.h"
#include "millrace/verb.h"

// What robustness, generalization and real-graphs have in common: plans chosen by a proxy, judged by targets that it
// does not know.
namespace millrace::cli {

// Below it a graph is nearly a chain, and every order is as good as any.
inline constexpr double kLeastParallelism = 1.1;

struct CampaignFlags {
  bool quick = false;
  std::vector<std::string> methods;  // empty: all
  std::string weights;               // of the gflownet; empty: the ones that came with Millrace
  std::string ppo_weights;           // trained by PPO; empty: no ppo among the methods
  double seconds = 2;                // of every search, and of all of optimize for each target
};

void AddCampaignFlags(CLI::App& flags, CampaignFlags& options, const std::string& quick);

struct Campaign {
  std::vector<GraphUnderTest> graphs;
  std::vector<SimulatedCase> targets;
  OnTargetsOptions options;
  std::string name;  // in front of its tables
};

// Transfers free as in the paper, then, unless it is to be quick, links that the proxy knows.
std::vector<Campaign> FreeAndLinked(const std::vector<GraphUnderTest>& graphs, bool quick);

// Runs them one after the other and prints their tables under these notes; the exit code.
int RunCampaigns(const CommandLine& line, const CampaignFlags& options, const std::vector<Campaign>& campaigns,
                 const std::vector<std::string>& notes);

// "inception_v3 (126 ops, at most 1.9 x), ...".
std::string NamesOf(const std::vector<GraphUnderTest>& graphs);

}  // namespace millrace::cli
