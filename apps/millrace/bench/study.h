// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "millrace/bench/output.h"
#include "millrace/bench/trainers.h"
#include "millrace/experiments/go/go_methods.h"
#include "millrace/planning/registry.h"
#include "millrace/verb.h"

// What the go-... experiments have in common: their workloads, the planners, how methods are chosen and tables printed.
namespace millrace::cli {

struct GoStudyFlags {
  bool quick = false;                  // shortened workloads, one seed
  std::vector<std::string> workloads;  // empty: all
  std::vector<std::string> methods;    // empty: all
  std::string weights;                 // of the gflownet; empty: the ones that came with Millrace
  std::string go_weights;              // likewise of go
  int draws = 16;                      // plans of go
  double seconds = 10;                 // of every search, of sampling by the gflownet and of optimize
  std::string record;                  // file that outcomes are kept in and taken from; empty: none
};

// --quick and --workloads.
void AddWorkloadFlags(CLI::App& flags, GoStudyFlags& options);

// --draws.
void AddDraws(CLI::App& flags, GoStudyFlags& options);

// --go-weights.
void AddGoWeights(CLI::App& flags, GoStudyFlags& options);

// --methods, --seconds and --record.
void AddMethodFlags(CLI::App& flags, GoStudyFlags& options);

struct GoStudy {
  std::string go_weights;    // file of the weights of `go`
  PlannerRegistry planners;  // on one thread, as the searches they are compared with
  int seeds = 1;
};

// Notes in the account what holds for all tables.
GoStudy BeginGoStudy(const GoStudyFlags& options, BenchAccount& account);

// The workloads that --quick and --workloads leave. Throws InvalidInput for a name that is none.
std::vector<GoWorkload> GoWorkloadsOf(const GoStudyFlags& options);

// Runs the methods that --methods names, all without it, those they have their time from, and the subjects, which the
// others are compared with, on the workloads, and prints the tables. Throws InvalidInput for a name that is no
// method's.
void RunGoStudy(const CommandLine& line, const GoStudyFlags& options, std::vector<GoMethod> methods, int seeds,
                const std::vector<std::string>& subjects, BenchAccount& account);

// Those of GoBaselines that are named.
std::vector<GoMethod> GoBaselinesNamed(const GoStudy& study, double seconds, const std::vector<std::string>& names);

// The planner of the registry for so many plans, or so many seconds.
GoPlanned SamplesOf(const GoStudy& study, const std::string& planner, int plans);
GoPlanned SecondsOf(const GoStudy& study, const std::string& planner, double seconds);

// `go` with weights of a workload's own; an empty name: those that came with Millrace. Where it draws alone nothing is
// searched for.
GoPlannerFor GoWith(GoStart policy, GoStart moves, bool draws_alone = false);

}  // namespace millrace::cli
