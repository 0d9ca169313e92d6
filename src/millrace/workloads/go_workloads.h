// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/graph/computation_graph.h"
#include "millrace/workloads/models.h"

// The 14 workloads of "Transferable graph optimizers for ML compilers" (GO: Zhou et al., NeurIPS 2020), table 1: six
// families as training graphs, each with the number of P100 it is planned for. The paper names layers, stacks and
// batches of images; the other sizes are those of each family's builder, which says where they come from.
namespace millrace {

struct GoWorkload {
  std::string name;    // "gnmt-8"
  std::string title;   // the paper's: "8-layer GNMT"
  std::string family;  // name of the model (models.h)
  int devices = 0;
  ModelOptions options;
};

// In the paper's order. The largest, gnmt-8, has more than 50,000 ops.
std::vector<GoWorkload> GoWorkloads();

// The same with fewer steps, segments or cells, of the same batch and width: at most 4,000 ops, for quick trainings.
std::vector<GoWorkload> ShortGoWorkloads();

// The training graph, named after the workload.
ComputationGraph MakeGoWorkload(const GoWorkload& workload);

}  // namespace millrace
