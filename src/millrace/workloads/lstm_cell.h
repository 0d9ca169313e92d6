// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/workloads/model_builder.h"

// One step of one LSTM layer (Hochreiter, Schmidhuber 1997, with forget gate), spelled in elementary ops as unrolled
// training graphs have it: a MatMul for each thing read, Add, Split into the four gates, and 9 elementwise ops.
namespace millrace {

// Shared by all steps of a layer.
struct LstmCellWeights {
  std::vector<int> kernels;  // one for each input, its features x 4 hidden
  int recurrent = -1;        // hidden x 4 hidden
  int bias = -1;             // 4 hidden
};

struct LstmCellState {
  int hidden = -1;  // batch x hidden
  int cell = -1;
};

LstmCellWeights MakeLstmCellWeights(ModelBuilder& builder, const std::vector<std::int64_t>& features,
                                    std::int64_t hidden);

// State handed in from outside: two inputs of the model, NAME_hidden and NAME_cell.
LstmCellState InputLstmState(ModelBuilder& builder, const std::string& name, std::int64_t batch, std::int64_t hidden);

// `inputs` are batch x features each, in the order of the kernels.
LstmCellState LstmCell(ModelBuilder& builder, const std::vector<int>& inputs, const LstmCellWeights& weights,
                       const LstmCellState& before);

}  // namespace millrace
