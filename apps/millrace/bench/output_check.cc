// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench/output_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/runtime/executor.h"
#include "millrace/target/random_inputs.h"

namespace millrace::cli {
namespace {

using FillInput = std::function<void(std::size_t input, int value, std::span<std::byte> elements)>;

// All outputs of one run.
std::vector<std::vector<float>> Execute(const Model& model, const Machine& machine, const Plan& plan,
                                        const FillInput& fill) {
  const Program program = CompileProgram(model, machine, plan);
  WorkerPool pool(program.cpus);
  Executor executor(program, pool);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) fill(i, program.inputs[i].value, executor.input(i));
  executor.Run();
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const TensorSpec& spec = program.outputs[i].spec;
    const auto elements = executor.output(i);
    outputs.push_back(ConstantData::Dense(spec.type, spec.shape, {elements.begin(), elements.end()})->AsFloats());
  }
  return outputs;
}

double ErrorOf(const std::vector<float>& actual, const std::vector<float>& expected) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (std::isnan(off)) return std::numeric_limits<double>::quiet_NaN();
    difference = std::max(difference, off);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return difference == 0 ? 0 : difference / largest;
}

Plan OneOpAfterTheOther(const Model& model) {
  Plan plan;
  plan.sequence.resize(model.nodes.size());
  std::iota(plan.sequence.begin(), plan.sequence.end(), 0);
  for (const int op : plan.sequence) plan.groups.push_back({op});
  plan.placement.assign(model.nodes.size(), 0);
  return plan;
}

}  // namespace

OutputCheck CheckAgainstFile(const Model& model, const Machine& machine, const Plan& plan, const std::string& path) {
  const auto expected = Widened(ReadTensor(path));
  if (model.outputs.empty() || model.values[static_cast<std::size_t>(model.outputs[0])].shape != expected->shape()) {
    throw InvalidInput(path + ": has another shape than the first output of the model it lies beside");
  }
  const auto outputs = Execute(model, machine, plan, [&model](std::size_t, int value, std::span<std::byte> elements) {
    if (model.values[static_cast<std::size_t>(value)].type != DataType::kFloat32) {
      throw InvalidInput("only networks with float32 inputs are checked against published outputs");
    }
    const std::size_t count = elements.size() / sizeof(float);
    for (std::size_t i = 0; i < count; ++i) {
      const float element = static_cast<float>(static_cast<double>(i) / static_cast<double>(count));
      std::memcpy(elements.data() + i * sizeof(float), &element, sizeof(float));
    }
  });
  return {"published output", ErrorOf(outputs[0], expected->AsFloats()), 1e-3};
}

OutputCheck CheckAgainstSingleOps(const Model& model, const Machine& machine, const Plan& plan, std::uint64_t seed) {
  const Random random(seed);
  const FillInput fill = [&](std::size_t input, int value, std::span<std::byte> elements) {
    Random of_input = random.Fork(input);
    FillRandomly(model, value, of_input, elements);
  };
  const auto expected = Execute(model, machine, OneOpAfterTheOther(model), fill);
  const auto actual = Execute(model, machine, plan, fill);
  OutputCheck check{"single ops", 0, 1e-4};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = ErrorOf(actual[i], expected[i]);
    if (!(error <= check.error)) check.error = error;
    if (std::isnan(error)) break;
  }
  return check;
}

}  // namespace millrace::cli
