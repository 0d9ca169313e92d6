// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "millrace/engines/simgrid/flow_problem.h"

// SimGrid in a process of its own: its engine exists once in a process, cannot begin anew, and aborts on errors.
namespace millrace {

// The times of the problem's activities. The module is looked for beside the executable, then where Millrace was
// installed to. Throws InvalidInput where it is not there, WorkFailed where no answer comes, Interrupted.
std::vector<FlowTime> RunFlowsInChild(const FlowProblem& problem);

}  // namespace millrace
