// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/experiments/method.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/table.h"
#include "millrace/planning/registry.h"

// How varied plans are at equal quality: every method makes plans for as long as every other, keeps the best few that
// are different, and is a curve, a point for each level of what makes its plans more varied. The thesis of "Robust
// Scheduling with GFlowNets" (Zhang et al., 2023) is that a GFlowNet's curve lies above the others. Seconds.
namespace millrace {

struct TradeoffOptions {
  double seconds = 0.5;               // of every method, for one instance
  std::size_t keep = 50;              // plans, the best by the proxy
  std::vector<double> temperatures;   // reward temperatures of the GFlowNet; no others than its weights allow
  std::vector<std::string> families;  // words as of FamiliesOf (families.h)
  std::vector<int> ops = {60, 200};
  std::vector<std::string> devices = {"4", "8", "2+2"};
  std::vector<double> ccr = {0.2, 1, 5};
  std::uint64_t seed = 0;
  int threads = 1;  // instances at once
};

// A point of a curve.
struct TradeoffMethod {
  std::string curve;  // "gflownet"
  std::string level;  // "T = 0.01"
  Method method;
};

// gflownet and gflownet-untrained by reward temperature; ppo by softmax temperature, where there are such planners;
// randomised-list by its doubt; brkga, anneal and the searches from drawn plans (a chain for each plan kept) by how
// much of the time they take: the later, the better and the more alike. Where at most half of BRKGA's population is
// kept, no mutant is.
std::vector<TradeoffMethod> TradeoffMethods(const TradeoffOptions& options, const PlannerRegistry& planners,
                                            const PlannerRegistry* ppo);

struct TradeoffPoint {
  double mean = 0;      // makespan of the plans over that of the better HEFT
  double best = 0;      // likewise of the best
  double distance = 0;  // mean over pairs of the edit distance of their chains, 0..1; 0 of fewer than two plans
  std::size_t plans = 0;
  double seconds = 0;
};

struct TradeoffResult {
  std::vector<TradeoffMethod> methods;
  std::vector<QualityInstance> instances;
  std::vector<std::vector<TradeoffPoint>> points;  // by instance, by method
};

// Graph seeds from kQualitySeed + 700'000. Methods of an instance run one after the other. Throws Interrupted, and
// WorkFailed where a method finds no plan.
TradeoffResult RunTradeoff(const TradeoffOptions& options, const std::vector<TradeoffMethod>& methods,
                           const std::function<void(int, int)>& progress);

// "points": a row for each method and level: mean and best over HEFT's (geometric means), distance, seconds, and, for
// others than the GFlowNet, how much longer its plans take than the GFlowNet's that are at least as different, with the
// interval of 95 % over instances: above 1 the GFlowNet's curve is above it. "instances": every point, for programs.
std::vector<Table> TradeoffTables(const TradeoffResult& result);

// The makespan, on a curve through these points (distance, makespan), of plans at least as different as `distance`;
// infinity where none is.
double LeastAtDistance(std::vector<std::pair<double, double>> curve, double distance);

// An SVG of the curves: distance across, mean makespan over HEFT's up, the better the higher.
std::string TradeoffPlot(const TradeoffResult& result);

}  // namespace millrace
