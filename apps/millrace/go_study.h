// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/go_methods.h"
#include "millrace/go_trainers.h"
#include "millrace/verb.h"

// What the go-... experiments have in common: their workloads, the shipped one-shot policy, how methods are chosen and
// tables printed.
namespace millrace::cli {

inline constexpr double kGoSearchSeconds = 10;  // of annealing, of contended search, of sampling by the GFlowNet

struct GoStudy {
  std::string weights;  // of the one-shot policy: --go-weights, or those that came with Millrace
  GoPolicyFor zero_shot;
  GoDraws draws;
  int seeds = 1;
};

// Notes in the account what holds for all tables.
GoStudy BeginGoStudy(const BenchOptions& options, int threads, BenchAccount& account);

// The workloads that --quick and --workloads leave. Throws InvalidInput for a name that is none.
std::vector<GoWorkload> GoWorkloadsOf(const BenchOptions& options);

// Runs the methods that --methods names, all without it, and the subjects, which the others are compared with, on the
// workloads, and prints the tables. Throws InvalidInput for a name that is no method's.
void RunGoStudy(const CommandLine& line, const BenchOptions& options, std::vector<GoMethod> methods, int seeds,
                const std::vector<std::string>& subjects, const BenchAccount& account);

// Those of GoBaselines that are named.
std::vector<GoMethod> GoBaselinesNamed(const std::vector<std::string>& names);

}  // namespace millrace::cli
