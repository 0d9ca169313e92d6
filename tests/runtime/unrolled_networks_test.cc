// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "millrace/workloads/models.h"
#include "tests/reference/random_problem.h"
#include "tests/runtime/random_model.h"
#include "tests/workloads/small_models.h"

// The unrolled networks compute what they are named after.
namespace millrace {
namespace {

using Tables = std::vector<std::vector<float>>;

class UnrolledNetworks : public ::testing::Test {
 protected:
  // By input of the model; ids as floats.
  static Tables RandomInputs(const Model& model, std::int64_t vocabulary) {
    Random random(5);
    Tables inputs;
    for (const int id : model.inputs) {
      const Value& value = model.values[static_cast<std::size_t>(id)];
      std::vector<float> elements(static_cast<std::size_t>(ElementsOf(value.shape)));
      for (float& element : elements) {
        element = value.type == DataType::kInt64
                      ? static_cast<float>(random.Below(static_cast<std::uint64_t>(vocabulary)))
                      : static_cast<float>(random.Uniform(-1, 1));
      }
      inputs.push_back(std::move(elements));
    }
    return inputs;
  }

  Tables Run(const Model& model, const Tables& inputs) {
    const Program program = CompileProgram(model, machine_, testing::OneByOne(model));
    Executor executor(program, pool_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Value& value = model.values[static_cast<std::size_t>(model.inputs[i])];
      const std::vector<std::int64_t> ids(inputs[i].begin(), inputs[i].end());
      (value.type == DataType::kInt64 ? ConstantData::Int64s(value.shape, ids)
                                      : ConstantData::Floats(value.shape, inputs[i]))
          ->CopyTo(executor.input(i).data());
    }
    executor.Run();
    Tables outputs;
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      const Value& value = model.values[static_cast<std::size_t>(model.outputs[i])];
      const auto bytes = executor.output(i);
      outputs.push_back(ConstantData::Dense(value.type, value.shape, {bytes.begin(), bytes.end()})->AsFloats());
    }
    return outputs;
  }

  static std::size_t InputNamed(const Model& model, const std::string& name) {
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      if (model.values[static_cast<std::size_t>(model.inputs[i])].name == name) return i;
    }
    throw std::runtime_error("no input " + name);
  }

  const Machine machine_ = testing::HostMachine();
  WorkerPool pool_{AllowedProcessors()};
};

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// Weights of a model by name.
std::vector<float> ConstantFloats(const Model& model, const std::string& name) {
  for (const Value& value : model.values) {
    if (value.name == name && value.constant) return value.constant->AsFloats();
  }
  throw std::runtime_error("no constant " + name);
}

// rows x inner times inner x columns, added to `sum`.
void AddProduct(const std::vector<float>& a, const std::vector<float>& b, std::size_t inner, std::size_t columns,
                std::vector<float>& sum) {
  for (std::size_t row = 0; row < a.size() / inner; ++row) {
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t c = 0; c < columns; ++c) sum[row * columns + c] += a[row * inner + k] * b[k * columns + c];
    }
  }
}

TEST_F(UnrolledNetworks, RnnlmIsTheTextbooksLstm) {
  const ModelOptions options = SmallOptions("rnnlm");
  const Model model = MakeModel("rnnlm", options);
  const Tables inputs = RandomInputs(model, *options.vocabulary);
  const auto batch = static_cast<std::size_t>(*options.batch);
  const auto hidden = static_cast<std::size_t>(*options.hidden);
  const auto steps = static_cast<std::size_t>(*options.sequence);
  const auto vocabulary = static_cast<std::size_t>(*options.vocabulary);
  const std::vector<float> embedding = ConstantFloats(model, "embedding/embedding");
  Tables x(steps);
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t sample = 0; sample < batch; ++sample) {
      const auto id = static_cast<std::ptrdiff_t>(inputs[InputNamed(model, "input_ids")][t * batch + sample]);
      const auto row = embedding.begin() + id * static_cast<std::ptrdiff_t>(hidden);
      x[t].insert(x[t].end(), row, row + static_cast<std::ptrdiff_t>(hidden));
    }
  }
  for (std::int64_t layer = 1; layer <= *options.layers; ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    const std::vector<float> kernel = ConstantFloats(model, name + "/LstmCell.kernel");
    const std::vector<float> recurrent = ConstantFloats(model, name + "/LstmCell.recurrent");
    const std::vector<float> bias = ConstantFloats(model, name + "/LstmCell.bias");
    std::vector<float> state = inputs[InputNamed(model, name + "_hidden")];
    std::vector<float> cell = inputs[InputNamed(model, name + "_cell")];
    for (std::size_t t = 0; t < steps; ++t) {
      std::vector<float> gates(batch * 4 * hidden, 0);
      AddProduct(x[t], kernel, hidden, 4 * hidden, gates);
      AddProduct(state, recurrent, hidden, 4 * hidden, gates);
      for (std::size_t i = 0; i < batch * hidden; ++i) {
        const auto gate = [&](std::size_t which) {
          const std::size_t column = which * hidden + i % hidden;
          return gates[i / hidden * 4 * hidden + column] + bias[column];
        };
        cell[i] = Sigmoid(gate(2)) * cell[i] + Sigmoid(gate(0)) * std::tanh(gate(1));
        state[i] = Sigmoid(gate(3)) * std::tanh(cell[i]);
      }
      x[t] = state;
    }
  }
  std::vector<float> all;
  for (const std::vector<float>& step : x) all.insert(all.end(), step.begin(), step.end());
  const std::vector<float> bias = ConstantFloats(model, "decoder/Add.bias");
  std::vector<float> expected;
  for (std::size_t row = 0; row < steps * batch; ++row) expected.insert(expected.end(), bias.begin(), bias.end());
  AddProduct(all, ConstantFloats(model, "decoder/MatMul.weight"), hidden, vocabulary, expected);
  const std::vector<float> actual = Run(model, inputs).at(0);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

// Elements of the output that differ, as indices of blocks of `block` elements.
std::vector<std::size_t> ChangedBlocks(const std::vector<float>& a, const std::vector<float>& b, std::size_t block) {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) < 1e-6F) continue;
    if (changed.empty() || changed.back() != i / block) changed.push_back(i / block);
  }
  return changed;
}

TEST_F(UnrolledNetworks, WavenetHearsTheSamplesOfItsReachAndNoLaterOnes) {
  ModelOptions options =
      SmallOptions("wavenet");  // two stacks that dilate by 1, 2, 4: it reaches 1 + 2 x 7 samples back
  options.batch = 1;
  const Model model = MakeModel("wavenet", options);
  Tables inputs = RandomInputs(model, 1);
  const std::vector<float> before = Run(model, inputs).at(0);
  inputs[0][3] += 1;
  const std::vector<float> after = Run(model, inputs).at(0);
  const auto samples = static_cast<std::size_t>(*options.sequence);
  for (std::size_t t = 0; t < samples; ++t) {
    bool changed = false;
    for (std::size_t level = 0; level < 256; ++level) {
      changed |= std::abs(after[level * samples + t] - before[level * samples + t]) > 1e-6F;
    }
    EXPECT_EQ(changed, t >= 3 && t <= 3 + 15) << t;
  }
}

TEST_F(UnrolledNetworks, GnmtReadsTheWholeSourceAndTheTargetSoFar) {
  const ModelOptions options = SmallOptions("gnmt");
  const Model model = MakeModel("gnmt", options);
  const Tables inputs = RandomInputs(model, *options.vocabulary);
  const Tables plain = Run(model, inputs);
  ASSERT_EQ(plain.size(), 5U);
  const auto outputs_changed_by = [&](const std::string& input, std::size_t step) {
    Tables other = inputs;
    float& id = other[InputNamed(model, input)][step * static_cast<std::size_t>(*options.batch)];
    id = id == 0 ? 1 : id - 1;
    const Tables changed = Run(model, other);
    std::vector<std::size_t> steps;
    for (std::size_t t = 0; t < plain.size(); ++t) {
      const auto samples = ChangedBlocks(plain[t], changed[t], static_cast<std::size_t>(*options.vocabulary));
      if (samples.empty()) continue;
      EXPECT_EQ(samples, std::vector<std::size_t>{0}) << "only the sample whose word it was";
      steps.push_back(t);
    }
    return steps;
  };
  EXPECT_EQ(outputs_changed_by("source_ids", 4), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(outputs_changed_by("target_ids", 2), (std::vector<std::size_t>{2, 3, 4}));
}

class TransformerXlTest : public UnrolledNetworks {
 protected:
  // One layer over segments of five tokens, masked so that no token sees later ones.
  void SetUp() override {
    options_.layers = 1;
    options_.batch = 1;
    model_ = MakeModel("transformer_xl", options_);
    inputs_ = RandomInputs(model_, *options_.vocabulary);
    std::vector<float>& mask = inputs_[InputNamed(model_, "mask")];
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 10; ++j) mask[i * 10 + j] = j <= i + 5 ? 0.0F : -1e9F;
    }
  }

  // Tokens, counted over all segments, whose logits differ after the change.
  std::vector<std::size_t> TokensChangedBy(const std::function<void(Tables&)>& change) {
    const Tables before = Run(model_, inputs_);
    Tables other = inputs_;
    change(other);
    const Tables after = Run(model_, other);
    std::vector<std::size_t> tokens;
    for (std::size_t segment = 0; segment < before.size(); ++segment) {
      for (const std::size_t token :
           ChangedBlocks(before[segment], after[segment], static_cast<std::size_t>(*options_.vocabulary))) {
        tokens.push_back(segment * 5 + token);
      }
    }
    return tokens;
  }

  ModelOptions options_ = SmallOptions("transformer_xl");
  Model model_;
  Tables inputs_;
};

TEST_F(TransformerXlTest, SeesItsSegmentSoFarAndTheOneBefore) {
  const std::size_t ids = InputNamed(model_, "input_ids_0");
  EXPECT_EQ(TokensChangedBy([&](Tables& inputs) { inputs[ids][3] = inputs[ids][3] == 0 ? 1 : 0; }),
            (std::vector<std::size_t>{3, 4, 5, 6, 7, 8, 9}));
  const std::size_t memory = InputNamed(model_, "memory_1");
  EXPECT_EQ(TokensChangedBy([&](Tables& inputs) { inputs[memory][0] += 1; }),
            (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// Row k of the positions is the distance 9 - k: nine tokens back is seen by the last token of a segment alone, and
// five or more by all.
TEST_F(TransformerXlTest, ShiftsPositionsToTheTokensTheyAreAbout) {
  const std::size_t positions = InputNamed(model_, "positions");
  const auto far = [&](std::size_t row) {
    return TokensChangedBy([&](Tables& inputs) {
      const auto features = static_cast<std::size_t>(*options_.hidden);
      for (std::size_t k = 0; k < features; ++k) inputs[positions][row * features + k] += 1;
    });
  };
  EXPECT_EQ(far(0), (std::vector<std::size_t>{4, 9, 14}));
  EXPECT_EQ(far(1), (std::vector<std::size_t>{3, 4, 8, 9, 13, 14}));
  EXPECT_EQ(far(4).size(), 15U);
  EXPECT_EQ(far(9).size(), 15U);
}

}  // namespace
}  // namespace millrace
