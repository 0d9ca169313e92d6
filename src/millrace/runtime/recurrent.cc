// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/recurrent.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/recurrent_cell.h"
#include "millrace/runtime/recurrent_matrix.h"

namespace millrace {
namespace {

enum class Cell { kLstm, kGru, kGruAfterReset, kRnn };  // after: the reset gate is applied after the product

Cell CellOf(const Node& node) {
  if (node.op_type == "LSTM") return Cell::kLstm;
  if (node.op_type == "RNN") return Cell::kRnn;
  return Model::IntOf(node, "linear_before_reset", 0) != 0 ? Cell::kGruAfterReset : Cell::kGru;
}

std::int64_t GatesOf(Cell cell) { return cell == Cell::kLstm ? 4 : (cell == Cell::kRnn ? 1 : 3); }

// What one direction of a layer has of its own.
struct Direction {
  bool backwards = false;
  std::array<GateActivation, 3> activations{};
  std::vector<GateWeights> input;      // of all gates
  std::vector<GateWeights> state;      // of all gates multiplied first; of a GRU without its candidate
  std::vector<GateWeights> candidate;  // of a GRU whose reset comes before the product
  std::vector<float> start;            // [block][gate][16]: the biases the products start from
  std::vector<float> candidate_bias;   // [block][16]: of the state's part of a candidate that is reset afterwards
  std::vector<float> peepholes;        // [block][3][16]: input, output, forget
};

class RecurrentKernel : public OneNodeKernel {
 public:
  explicit RecurrentKernel(const KernelRequest& request) : OneNodeKernel(request), cell_(CellOf(node_)) {
    batch_first_ = Model::IntOf(node_, "layout", 0) != 0;
    const Shape& input = InputValue(0).shape;
    steps_ = input[batch_first_ ? 1 : 0];
    batch_ = input[batch_first_ ? 0 : 1];
    depth_ = input[2];
    const Shape& recurrence = InputValue(2).shape;
    hidden_ = recurrence[2];
    blocks_ = (hidden_ + kUnits - 1) / kUnits;
    padded_ = blocks_ * kUnits;
    gates_ = GatesOf(cell_);
    states_gates_ = cell_ == Cell::kGru ? 2 : gates_;
    multiply_input_ = MultiplyBlockFor(gates_);
    multiply_state_ = MultiplyBlockFor(states_gates_);
    multiply_one_ = MultiplyBlockFor(1);
    ReadInput(0);
    for (const int i : {4, 5, 6})
      if (HasInput(i) && !(i == 6 && cell_ != Cell::kLstm)) ReadInput(i);
    lengths_ = HasInput(4);
    initial_state_ = HasInput(5);
    initial_cell_ = cell_ == Cell::kLstm && HasInput(6);
    MakeDirections(recurrence[0]);
    const auto directions = static_cast<std::int64_t>(directions_.size());
    const std::int64_t products = directions * steps_ * batch_ * blocks_ * gates_ * kUnits;
    const std::int64_t state = directions * batch_ * padded_;
    states_at_ = products;
    cells_at_ = products + 2 * state;
    reset_at_ = cells_at_ + (cell_ == Cell::kLstm ? state : 0);
    const std::int64_t total = reset_at_ + (cell_ == Cell::kGru ? 2 * state : 0);
    scratch_bytes_ = static_cast<std::size_t>(total) * sizeof(float);
    phases_per_step_ = cell_ == Cell::kGru ? 2 : 1;
    phases_ = workers_ == 1 ? 1 : static_cast<int>(1 + steps_ * phases_per_step_);
  }

  void Run(const KernelBuffers& buffers, int phase, int worker) const override {
    const auto directions = static_cast<std::int64_t>(directions_.size());
    const Share share = ShareOf(directions * blocks_, workers_, worker);
    // There and back: where the weights are too many for a cache, the last ones of a step are still there in the next.
    const auto one = [&](std::int64_t number) {
      for (std::int64_t k = 0; k < share.size(); ++k) {
        const std::int64_t i = number / phases_per_step_ % 2 == 0 ? share.begin + k : share.end - 1 - k;
        const std::int64_t d = i / blocks_, block = i % blocks_;
        if (number == 0) {
          Begin(buffers, d, block);
        } else if (phases_per_step_ == 2 && number % 2 == 0) {
          Candidate(buffers, d, block, (number - 1) / 2);
        } else {
          Step(buffers, d, block, (number - 1) / phases_per_step_);
        }
      }
    };
    if (workers_ > 1) return one(phase);
    for (std::int64_t number = 0; number <= steps_ * phases_per_step_; ++number) one(number);
  }

 private:
  void MakeDirections(std::int64_t count);

  float* Scratch(const KernelBuffers& buffers) const { return reinterpret_cast<float*>(buffers.scratch); }
  float* Product(const KernelBuffers& buffers, std::int64_t d, std::int64_t time, std::int64_t b,
                 std::int64_t block) const {
    return Scratch(buffers) + (((d * steps_ + time) * batch_ + b) * blocks_ + block) * gates_ * kUnits;
  }
  // The hidden state before step `step`: two buffers take turns.
  float* State(const KernelBuffers& buffers, std::int64_t step, std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(directions_.size());
    return Scratch(buffers) + states_at_ + ((step % 2 * directions + d) * batch_ + b) * padded_;
  }
  float* CellState(const KernelBuffers& buffers, std::int64_t d, std::int64_t b) const {
    return Scratch(buffers) + cells_at_ + (d * batch_ + b) * padded_;
  }
  // Of a GRU: the state after its reset, and the update gate.
  float* Reset(const KernelBuffers& buffers, std::int64_t which, std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(directions_.size());
    return Scratch(buffers) + reset_at_ + ((which * directions + d) * batch_ + b) * padded_;
  }
  std::int64_t Length(const KernelBuffers& buffers, std::int64_t b) const {
    if (!lengths_) return steps_;
    return std::clamp<std::int64_t>(reinterpret_cast<const std::int32_t*>(In(buffers, 4))[b], 0, steps_);
  }
  std::int64_t TimeOf(const Direction& direction, std::int64_t step, std::int64_t length) const {
    return direction.backwards ? length - 1 - step : step;
  }
  // Where [direction][batch] lies in initial and final states.
  std::int64_t EndOffset(std::int64_t d, std::int64_t b) const {
    const auto directions = static_cast<std::int64_t>(directions_.size());
    return (batch_first_ ? b * directions + d : d * batch_ + b) * hidden_;
  }
  std::int64_t Live(std::int64_t block) const { return std::min(kUnits, hidden_ - block * kUnits); }

  void Begin(const KernelBuffers& buffers, std::int64_t d, std::int64_t block) const;
  void Step(const KernelBuffers& buffers, std::int64_t d, std::int64_t block, std::int64_t step) const;
  void Candidate(const KernelBuffers& buffers, std::int64_t d, std::int64_t block, std::int64_t step) const;
  void StepRows(const KernelBuffers& buffers, std::int64_t d, std::int64_t block, std::int64_t step,
                const std::int64_t* rows, std::int64_t count) const;
  void Emit(const KernelBuffers& buffers, std::int64_t d, std::int64_t b, std::int64_t block, std::int64_t time,
            const float* state) const;
  void EmitLast(const KernelBuffers& buffers, std::int64_t d, std::int64_t b, std::int64_t block,
                std::int64_t step) const;

  Cell cell_;
  bool batch_first_ = false, lengths_ = false, initial_state_ = false, initial_cell_ = false;
  std::int64_t steps_ = 0, batch_ = 0, depth_ = 0, hidden_ = 0, blocks_ = 0, padded_ = 0;
  std::int64_t gates_ = 0, states_gates_ = 0, phases_per_step_ = 1;
  std::int64_t states_at_ = 0, cells_at_ = 0, reset_at_ = 0;
  MultiplyBlock multiply_input_ = nullptr, multiply_state_ = nullptr, multiply_one_ = nullptr;
  std::vector<Direction> directions_;
};

void RecurrentKernel::MakeDirections(std::int64_t count) {
  const auto floats = [&](int i) { return HasInput(i) ? InputValue(i).constant->AsFloats() : std::vector<float>(); };
  const std::vector<float> input = floats(1), state = floats(2), biases = floats(3), peepholes = floats(7);
  const bool reverse = Model::StringOf(node_, "direction", "forward") == "reverse";
  std::vector<std::int64_t> rows;
  for (std::int64_t g = 0; g < gates_; ++g) rows.push_back(g * hidden_);
  const std::vector<std::int64_t> first_rows(rows.begin(), rows.begin() + states_gates_);
  for (std::int64_t d = 0; d < count; ++d) {
    Direction direction;
    direction.backwards = d == 1 || reverse;
    ActivationsOf(node_, d, direction.activations);
    const float* own_state = state.data() + d * gates_ * hidden_ * hidden_;
    direction.input.emplace_back(input.data() + d * gates_ * hidden_ * depth_, rows, hidden_, depth_);
    direction.state.emplace_back(own_state, first_rows, hidden_, hidden_);
    if (cell_ == Cell::kGru) {
      const std::int64_t last[] = {2 * hidden_};
      direction.candidate.emplace_back(own_state, last, hidden_, hidden_);
    }
    direction.start.assign(static_cast<std::size_t>(padded_ * gates_), 0.0f);
    direction.candidate_bias.assign(static_cast<std::size_t>(padded_), 0.0f);
    direction.peepholes.assign(static_cast<std::size_t>(padded_ * 3), 0.0f);
    for (std::int64_t unit = 0; unit < hidden_; ++unit) {
      const std::int64_t block = unit / kUnits, lane = unit % kUnits;
      for (std::int64_t g = 0; g < gates_ && !biases.empty(); ++g) {
        const auto from = static_cast<std::size_t>(d * 2 * gates_ * hidden_ + g * hidden_ + unit);
        const float of_input = biases[from], of_state = biases[from + static_cast<std::size_t>(gates_ * hidden_)];
        const bool apart = cell_ == Cell::kGruAfterReset && g == 2;
        direction.start[static_cast<std::size_t>((block * gates_ + g) * kUnits + lane)] =
            apart ? of_input : of_input + of_state;
        if (apart) direction.candidate_bias[static_cast<std::size_t>(unit)] = of_state;
      }
      for (std::int64_t g = 0; g < 3 && !peepholes.empty(); ++g) {
        direction.peepholes[static_cast<std::size_t>((block * 3 + g) * kUnits + lane)] =
            peepholes[static_cast<std::size_t>((d * 3 + g) * hidden_ + unit)];
      }
    }
    directions_.push_back(std::move(direction));
  }
}

// The inputs of all steps times their weights, and the initial states.
void RecurrentKernel::Begin(const KernelBuffers& buffers, std::int64_t d, std::int64_t block) const {
  const Direction& direction = directions_[static_cast<std::size_t>(d)];
  const float* input = reinterpret_cast<const float*>(In(buffers, 0));
  alignas(64) float start[4 * kUnits];
  std::memcpy(start, direction.start.data() + block * gates_ * kUnits,
              static_cast<std::size_t>(gates_ * kUnits) * sizeof(float));
  const float* const starts[kRows] = {start, start, start, start};
  const std::int64_t rows = steps_ * batch_;
  for (std::int64_t row = 0; row < rows; row += kRows) {
    const std::int64_t count = std::min(kRows, rows - row);
    const float* from[kRows] = {};
    float* to[kRows] = {};
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t time = (row + r) / batch_, b = (row + r) % batch_;
      from[r] = input + (batch_first_ ? b * steps_ + time : time * batch_ + b) * depth_;
      to[r] = Product(buffers, d, time, b, block);
    }
    multiply_input_(from, starts, to, count, direction.input[0].block(block), depth_);
  }
  const auto bytes = static_cast<std::size_t>(Live(block)) * sizeof(float);
  for (std::int64_t b = 0; b < batch_; ++b) {
    const auto begin = [&](float* state, bool given, int input_index) {
      std::fill(state + block * kUnits, state + (block + 1) * kUnits, 0.0f);
      if (!given) return;
      const float* initial = reinterpret_cast<const float*>(In(buffers, input_index));
      std::memcpy(state + block * kUnits, initial + EndOffset(d, b) + block * kUnits, bytes);
    };
    begin(State(buffers, 0, d, b), initial_state_, 5);
    if (cell_ == Cell::kLstm) begin(CellState(buffers, d, b), initial_cell_, 6);
    if (steps_ == 0) EmitLast(buffers, d, b, block, -1);
  }
}

void RecurrentKernel::Step(const KernelBuffers& buffers, std::int64_t d, std::int64_t block, std::int64_t step) const {
  std::int64_t rows[kRows];
  std::int64_t count = 0;
  for (std::int64_t b = 0; b < batch_; ++b) {
    if (step < Length(buffers, b)) {
      rows[count++] = b;
      if (count == kRows) {
        StepRows(buffers, d, block, step, rows, count);
        count = 0;
      }
      continue;
    }
    std::memcpy(State(buffers, step + 1, d, b) + block * kUnits, State(buffers, step, d, b) + block * kUnits,
                kUnits * sizeof(float));
    static constexpr float kZeros[kUnits] = {};
    Emit(buffers, d, b, block, step, kZeros);
    if (cell_ != Cell::kGru && step == steps_ - 1) EmitLast(buffers, d, b, block, step);
  }
  if (count > 0) StepRows(buffers, d, block, step, rows, count);
}

void RecurrentKernel::StepRows(const KernelBuffers& buffers, std::int64_t d, std::int64_t block, std::int64_t step,
                               const std::int64_t* rows, std::int64_t count) const {
  const Direction& direction = directions_[static_cast<std::size_t>(d)];
  alignas(64) float sums[kRows][4 * kUnits];
  alignas(64) float starts_apart[kRows][4 * kUnits];
  const float* states[kRows] = {};
  const float* starts[kRows] = {};
  float* outs[kRows] = {};
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t time = TimeOf(direction, step, Length(buffers, rows[r]));
    states[r] = State(buffers, step, d, rows[r]);
    starts[r] = Product(buffers, d, time, rows[r], block);
    outs[r] = sums[r];
    if (cell_ != Cell::kGruAfterReset) continue;
    std::memcpy(starts_apart[r], starts[r], 2 * kUnits * sizeof(float));
    std::memcpy(starts_apart[r] + 2 * kUnits, direction.candidate_bias.data() + block * kUnits, kUnits * sizeof(float));
    starts[r] = starts_apart[r];
  }
  multiply_state_(states, starts, outs, count, direction.state[0].block(block), hidden_);
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t b = rows[r], time = TimeOf(direction, step, Length(buffers, b));
    const float* before = states[r] + block * kUnits;
    float* after = State(buffers, step + 1, d, b) + block * kUnits;
    switch (cell_) {
      case Cell::kLstm:
        LstmCell(direction.activations, sums[r], direction.peepholes.data() + block * 3 * kUnits,
                 CellState(buffers, d, b) + block * kUnits, after);
        break;
      case Cell::kRnn:
        RnnCell(direction.activations, sums[r], after);
        break;
      case Cell::kGruAfterReset:
        GruCell(direction.activations, sums[r], Product(buffers, d, time, b, block) + 2 * kUnits, before, after);
        break;
      case Cell::kGru:
        GruGates(direction.activations, sums[r], before, Reset(buffers, 0, d, b) + block * kUnits,
                 Reset(buffers, 1, d, b) + block * kUnits);
        continue;
    }
    Emit(buffers, d, b, block, time, after);
    if (step == steps_ - 1) EmitLast(buffers, d, b, block, step);
  }
}

// The second half of a step of a GRU: all units' reset states are there now.
void RecurrentKernel::Candidate(const KernelBuffers& buffers, std::int64_t d, std::int64_t block,
                                std::int64_t step) const {
  const Direction& direction = directions_[static_cast<std::size_t>(d)];
  for (std::int64_t b = 0; b < batch_; ++b) {
    const std::int64_t length = Length(buffers, b);
    if (step < length) {
      const std::int64_t time = TimeOf(direction, step, length);
      alignas(64) float sum[kUnits];
      const float* reset = Reset(buffers, 0, d, b);
      const float* start = Product(buffers, d, time, b, block) + 2 * kUnits;
      float* out = sum;
      multiply_one_(&reset, &start, &out, 1, direction.candidate[0].block(block), hidden_);
      float* after = State(buffers, step + 1, d, b) + block * kUnits;
      GruMix(direction.activations, sum, Reset(buffers, 1, d, b) + block * kUnits,
             State(buffers, step, d, b) + block * kUnits, after);
      Emit(buffers, d, b, block, time, after);
    }
    if (step == steps_ - 1) EmitLast(buffers, d, b, block, step);
  }
}

void RecurrentKernel::Emit(const KernelBuffers& buffers, std::int64_t d, std::int64_t b, std::int64_t block,
                           std::int64_t time, const float* state) const {
  if (!HasOutput(0)) return;
  const auto directions = static_cast<std::int64_t>(directions_.size());
  const std::int64_t row = batch_first_ ? (b * steps_ + time) * directions + d : (time * directions + d) * batch_ + b;
  float* to = reinterpret_cast<float*>(Out(buffers, 0)) + row * hidden_ + block * kUnits;
  std::memcpy(to, state, static_cast<std::size_t>(Live(block)) * sizeof(float));
}

void RecurrentKernel::EmitLast(const KernelBuffers& buffers, std::int64_t d, std::int64_t b, std::int64_t block,
                               std::int64_t step) const {
  const auto bytes = static_cast<std::size_t>(Live(block)) * sizeof(float);
  const std::int64_t at = EndOffset(d, b) + block * kUnits;
  if (HasOutput(1)) {
    std::memcpy(reinterpret_cast<float*>(Out(buffers, 1)) + at, State(buffers, step + 1, d, b) + block * kUnits, bytes);
  }
  if (HasOutput(2)) {
    std::memcpy(reinterpret_cast<float*>(Out(buffers, 2)) + at, CellState(buffers, d, b) + block * kUnits, bytes);
  }
}

std::string AttributesUnsupported(const Node& node) {
  if (node.attributes.contains("clip")) return node.op_type + " with clip";
  if (Model::IntOf(node, "input_forget", 0) != 0) return node.op_type + " with input_forget";
  std::array<GateActivation, 3> activations{};
  const bool both = Model::StringOf(node, "direction", "forward") == "bidirectional";
  for (std::int64_t d = 0; d < (both ? 2 : 1); ++d) {
    const std::string lacking = ActivationsOf(node, d, activations);
    if (!lacking.empty()) return node.op_type + " with activation " + lacking;
  }
  return "";
}

}  // namespace

std::unique_ptr<Kernel> MakeRecurrent(const KernelRequest& request) {
  return std::make_unique<RecurrentKernel>(request);
}

std::string RecurrentUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* input = InputOf(model, node, 0);
  if (input == nullptr || input->type != DataType::kFloat32 || input->shape.size() != 3)
    return node.op_type + " on anything but float32 of three dimensions";
  const std::int64_t gates = GatesOf(CellOf(node));
  const bool both = Model::StringOf(node, "direction", "forward") == "bidirectional";
  const std::int64_t directions = both ? 2 : 1;
  const Value* recurrence = InputOf(model, node, 2);
  if (recurrence == nullptr || recurrence->shape.size() != 3) return node.op_type + " without recurrence weights";
  const std::int64_t hidden = recurrence->shape[2], rows = gates * hidden;
  const bool batch_first = Model::IntOf(node, "layout", 0) != 0;
  const std::int64_t batch = input->shape[batch_first ? 0 : 1];
  const Shape ends = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const std::array<Shape, 8> shapes = {input->shape,
                                       Shape{directions, rows, input->shape[2]},
                                       Shape{directions, rows, hidden},
                                       Shape{directions, 2 * rows},
                                       Shape{batch},
                                       ends,
                                       ends,
                                       Shape{directions, 3 * hidden}};
  for (int i = 1; i < 8; ++i) {
    const Value* value = InputOf(model, node, i);
    const bool weights = i <= 3 || i == 7;
    if (value == nullptr) {
      if (i <= 2) return node.op_type + " without weights";
      continue;
    }
    if (weights && !value->constant) return node.op_type + " with computed weights";
    if (value->type != (i == 4 ? DataType::kInt32 : DataType::kFloat32) ||
        value->shape != shapes[static_cast<std::size_t>(i)]) {
      return node.op_type + " with an input of another type or shape";
    }
  }
  return AttributesUnsupported(node);
}

}  // namespace millrace
