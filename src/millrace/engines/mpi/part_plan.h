// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "millrace/engines/mpi/letter.h"
#include "millrace/engines/mpi/seats.h"
#include "millrace/plan/plan.h"

// A plan divided over ranks: what each of them runs, what it waits for and what it sends. Bytes, seconds.
namespace millrace::mpi {

// A tensor that one rank makes and others read; it goes to each of them once.
struct Parcel {
  int value = 0;  // of the model, or a tensor of the graph where nothing is executed
  std::size_t bytes = 0;
  int tag = 0;             // tells it apart from the plan's others
  std::vector<int> peers;  // of one that arrives: who makes it; of one that leaves: who reads it, in order of need
};

struct PartGroup {
  int group = 0;                // of the plan
  std::vector<int> ops;         // in execution order
  std::vector<int> processors;  // of the rank, by number among its own
  double seconds = 0;           // that it is expected to take
  std::vector<int> after;       // groups of this part whose tensors it reads, by place in PartPlan::groups
  std::vector<int> arrivals;    // by place in PartPlan::arriving
  std::vector<int> departures;  // by place in PartPlan::leaving
};

struct PartPlan {
  std::vector<PartGroup> groups;  // in the plan's order
  std::vector<Parcel> arriving, leaving;
};

// A tensor between groups.
struct MadeTensor {
  int value = 0;
  std::size_t bytes = 0;
  int maker = 0;             // group
  std::vector<int> readers;  // other groups
};

// By rank. `seconds` by group. `tensors`: all that a group makes and others read. Throws WorkFailed where more tensors
// cross between ranks than can be told apart.
std::vector<PartPlan> DividePlan(const Plan& plan, const std::vector<Seat>& seats, int ranks,
                                 const std::vector<MadeTensor>& tensors, const std::vector<double>& seconds);

void PutPart(const PartPlan& part, Letter& letter);
PartPlan TakePart(Letter& letter);

}  // namespace millrace::mpi
