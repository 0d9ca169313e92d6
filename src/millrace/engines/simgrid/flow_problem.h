// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

// What SimGrid is asked, in its own terms: hosts that compute, links that flows share, and activities that wait for
// each other. Plain data, so that only the module that runs it knows SimGrid. Time and bytes are in units of whoever
// asks.
namespace millrace {

struct FlowLink {
  double bandwidth = 1;
  double latency = 0;
  bool shared = true;  // flows at one time share the bandwidth; else each has all of it
};

struct FlowRoute {
  int from = 0, to = 0;    // hosts
  std::vector<int> links;  // on the way
};

struct FlowActivity {
  int from = 0;       // the host that computes, or sends
  int to = -1;        // the host that receives; -1: it computes
  double amount = 0;  // time of computing, or bytes
};

struct FlowProblem {
  int hosts = 0;  // each computes one unit of time in one unit of time
  std::vector<FlowLink> links;
  std::vector<FlowRoute> routes;  // one-way, one for a pair
  std::vector<FlowActivity> activities;
  std::vector<std::pair<int, int>> before;  // the first activity ends before the second begins; no pair twice
};

struct FlowTime {
  double start = 0, finish = 0;
};

// The module's one function: the time of every activity, by its number. At most once in a process, for SimGrid's engine
// is there once. Throws std::runtime_error where some activity never ends. Its name changes with these structures.
extern "C" void MillraceRunFlows1(const FlowProblem& problem, std::vector<FlowTime>* times);

}  // namespace millrace
