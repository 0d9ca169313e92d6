// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/lstm_cell.h"

namespace millrace {

LstmCellWeights MakeLstmCellWeights(ModelBuilder& builder, const std::vector<std::int64_t>& features,
                                    std::int64_t hidden) {
  std::int64_t fan_in = hidden;
  for (const std::int64_t part : features) fan_in += part;
  LstmCellWeights weights;
  for (const std::int64_t part : features) {
    weights.kernels.push_back(builder.Weight("LstmCell.kernel", {part, 4 * hidden}, fan_in, kReluGain));
  }
  weights.recurrent = builder.Weight("LstmCell.recurrent", {hidden, 4 * hidden}, fan_in, kReluGain);
  weights.bias = builder.UniformWeight("LstmCell.bias", {4 * hidden}, -0.1, 0.1);
  return weights;
}

LstmCellState InputLstmState(ModelBuilder& builder, const std::string& name, std::int64_t batch, std::int64_t hidden) {
  LstmCellState state;
  state.hidden = builder.Input(name + "_hidden", DataType::kFloat32, {batch, hidden});
  state.cell = builder.Input(name + "_cell", DataType::kFloat32, {batch, hidden});
  return state;
}

LstmCellState LstmCell(ModelBuilder& builder, const std::vector<int>& inputs, const LstmCellWeights& weights,
                       const LstmCellState& before) {
  int sum = builder.MatMul(before.hidden, weights.recurrent);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sum = builder.Add(builder.MatMul(inputs[i], weights.kernels[i]), sum);
  }
  const std::vector<int> gates = builder.Split(builder.Add(sum, weights.bias), 1, 4);
  const int input = builder.Elementwise("Sigmoid", gates[0]);
  const int candidate = builder.Elementwise("Tanh", gates[1]);
  const int forget = builder.Elementwise("Sigmoid", gates[2]);
  const int output = builder.Elementwise("Sigmoid", gates[3]);
  LstmCellState after;
  // Each in a statement of its own: a compiler may choose the order of two calls in one, and op ids depend on it.
  const int added = builder.Elementwise("Mul", input, candidate);
  const int kept = builder.Elementwise("Mul", forget, before.cell);
  after.cell = builder.Add(kept, added);
  after.hidden = builder.Elementwise("Mul", output, builder.Elementwise("Tanh", after.cell));
  return after;
}

}  // namespace millrace
