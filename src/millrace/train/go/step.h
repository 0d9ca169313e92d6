// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "millrace/go/decision_features.h"
#include "millrace/go/decisions.h"

// One iteration of GO's policy on a problem, with all that the network is told in it, so that training can score the
// same decisions again.
namespace millrace {

struct GoStep {
  std::shared_ptr<const DecisionObservation> before;  // of y[t-1]
  Decisions chosen = {};                              // y[t]; all sampled steps of a batch decide the same tasks
  // By task of kTasks: what DescribeDecisions says of the tasks of y[t] before it. Empty where the task is off.
  std::array<std::vector<float>, kTasks.size()> told = {};
};

GoStep MakeGoStep(const GoProblem& problem, std::shared_ptr<const DecisionObservation> before, Decisions chosen);

// Rows that a pass works out: [first, end). Those before `counted` only lead up to the memory of the others.
struct RowWindow {
  int first = 0;
  int counted = 0;
  int end = 0;
};

// All rows, or where they are more than `most_rows`, whole segments somewhere among them. `position` in 0..1 says
// where.
RowWindow PlaceWindow(int rows, int most_rows, double position);

}  // namespace millrace
