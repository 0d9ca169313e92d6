// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/cost/costed_graph.h"
#include "millrace/graph/computation_graph.h"
#include "millrace/machine/machine.h"

// The grid that plans of all methods are judged on: fresh random graphs, never seen in any training, from where HEFT is
// nearly optimal to where it is far off.
//
// 60, 200 and 1000 ops x 4 and 8 equal devices, 2 + 2 and 4 + 4 unlike ones x CCR 0.2, 1 and 5 x the five random
// families, or others, x 2 graphs: 360 instances of five families. Links carry 1e9 bytes/s without latency, so the CCR
// holds on them. Unlike devices: half of kind "slow", an op's seconds there twice those on "fast", either x a factor
// drawn per op and kind from [0.75, 1.25).
//
// Instance i of a whole grid is drawn from seed kQualitySeed + i. Seeds from kQualitySeed to kQualitySeed + 999'999
// are kept for experiments: trainings must not use them. (They draw 64-bit seeds: one in a million million trainings
// of a million graphs would meet one of these 360.)
namespace millrace {

inline constexpr std::uint64_t kQualitySeed = 7'000'000'000;

struct QualityInstance {
  int ops = 0;
  std::string devices;  // "4", "8", "2+2", "4+4"
  double ccr = 0;
  std::string family;
  int number = 0;  // which graph of the cell
  std::uint64_t seed = 0;
  bool quick = false;  // is it one of the quick grid?
};

// Of the random families.
std::vector<QualityInstance> QualityGrid();

// Of these, random ones or those of task graphs; at least one.
std::vector<QualityInstance> QualityGridOf(const std::vector<std::string>& families);

// Of a grid, every ops x devices x CCR once, families taking turns so that each meets each value of each dimension: a
// tenth where there are five.
std::vector<QualityInstance> QuickPartOf(const std::vector<QualityInstance>& grid);

// Of a random family or one of task graphs.
ComputationGraph MakeQualityGraph(const QualityInstance& instance);
Machine MakeQualityMachine(const QualityInstance& instance);

// The graph on the machine, every op by itself.
CostedGraph MakeQualityProblem(const QualityInstance& instance);

}  // namespace millrace
