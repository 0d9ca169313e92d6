// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"

namespace millrace {
namespace {

int AddValue(Model& model, const std::string& name, const Shape& shape, int producer,
             std::shared_ptr<const ConstantData> constant = nullptr) {
  Value value;
  value.name = name;
  value.shape = shape;
  value.constant = std::move(constant);
  value.producer = producer;
  model.values.push_back(std::move(value));
  return static_cast<int>(model.values.size()) - 1;
}

int AddNode(Model& model, const std::string& op_type, const std::vector<int>& inputs, const Shape& shape) {
  const int index = static_cast<int>(model.nodes.size());
  Node node;
  node.op_type = op_type;
  node.name = op_type + std::to_string(index);
  node.inputs = inputs;
  node.outputs = {AddValue(model, "t" + std::to_string(index), shape, index)};
  model.nodes.push_back(std::move(node));
  return model.nodes.back().outputs[0];
}

// Residual blocks of matrix products, 64 kB of weights each.
Model Blocks(int blocks) {
  const Shape shape{32, 128};
  Model model;
  model.name = "blocks";
  int at = AddValue(model, "x", shape, -1);
  model.inputs = {at};
  for (int i = 0; i < blocks; ++i) {
    const auto weights = ConstantData::Floats({128, 128}, std::vector<float>(128 * 128, 0.5F));
    const int product =
        AddNode(model, "MatMul", {at, AddValue(model, "w" + std::to_string(i), {128, 128}, -1, weights)}, shape);
    at = AddNode(model, "Add", {at, AddNode(model, "Relu", {product}, shape)}, shape);
  }
  model.outputs = {at};
  return model;
}

void ImportOnnxModel(benchmark::State& state) {
  const std::string bytes = OnnxBytes(Blocks(static_cast<int>(state.range(0))));
  std::vector<std::string> warnings;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ImportOnnx(bytes, nullptr, {}, ShapeSource::kInference, warnings));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
  state.counters["nodes"] = static_cast<double>(3 * state.range(0));
}
BENCHMARK(ImportOnnxModel)->Arg(100)->Arg(3000)->Unit(benchmark::kMillisecond);

void WriteOnnxModel(benchmark::State& state) {
  const Model model = Blocks(static_cast<int>(state.range(0)));
  std::size_t bytes = 0;
  for (auto _ : state) bytes = OnnxBytes(model).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}
BENCHMARK(WriteOnnxModel)->Arg(3000)->Unit(benchmark::kMillisecond);

void GraphOfALargeModel(benchmark::State& state) {
  const Model model = Blocks(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(GraphOfModel(model));
}
BENCHMARK(GraphOfALargeModel)->Arg(3000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace
