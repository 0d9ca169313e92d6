// SPDX-License-Identifier: Apache-2.0
// Light kernels on one worker: bytes_per_second of elementwise ops, items_per_second of an LSTM in floating-point
// operations of its matrix products.
#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>

#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/kernel.h"
#include "millrace/runtime/one_openmp_thread.h"

namespace millrace {
namespace {

class Layers {
 public:
  int Tensor(const Shape& shape) {
    Value value;
    value.shape = shape;
    model_.values.push_back(value);
    return static_cast<int>(model_.values.size()) - 1;
  }

  int Constant(const Shape& shape) {
    Random random(1);
    std::vector<float> elements(static_cast<std::size_t>(ElementsOf(shape)));
    for (float& element : elements) element = static_cast<float>(random.Uniform(0.1, 0.2));
    const int id = Tensor(shape);
    model_.values.back().constant = ConstantData::Floats(shape, elements);
    return id;
  }

  int Op(const std::string& type, const std::vector<int>& inputs, const Shape& output,
         const std::map<std::string, Attribute>& attributes = {}) {
    Node node;
    node.op_type = type;
    node.inputs = inputs;
    node.attributes = attributes;
    node.outputs = {Tensor(output)};
    model_.values.back().producer = static_cast<int>(model_.nodes.size());
    model_.nodes.push_back(node);
    return node.outputs[0];
  }

  // Makes all ops one kernel and runs it for the benchmark; returns the bytes that go in and out.
  std::size_t Run(benchmark::State& state, Layout layout = Layout::kPlain) const {
    const OneOpenMpThread one_thread;
    std::vector<int> nodes(model_.nodes.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    KernelRequest request;
    request.model = &model_;
    request.nodes = nodes;
    for (const Value& value : model_.values)
      request.available.push_back(value.shape.size() == 4 ? layout : Layout::kPlain);
    const std::unique_ptr<Kernel> kernel = MakeKernel(request);
    std::vector<std::shared_ptr<std::byte>> memory;
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::size_t bytes = 0;
    for (const TensorSpec& spec : kernel->input_specs()) {
      memory.push_back(AllocateAligned(spec.bytes()));
      float* elements = reinterpret_cast<float*>(memory.back().get());
      for (std::size_t i = 0; i < spec.bytes() / sizeof(float); ++i)
        elements[i] = 0.001f * static_cast<float>(i % 1000);
      inputs.push_back(memory.back().get());
      bytes += spec.bytes();
    }
    for (const TensorSpec& spec : kernel->output_specs()) {
      memory.push_back(AllocateAligned(spec.bytes()));
      outputs.push_back(memory.back().get());
      bytes += spec.bytes();
    }
    memory.push_back(AllocateAligned(kernel->scratch_bytes()));
    const KernelBuffers buffers{inputs.data(), outputs.data(), memory.back().get()};
    for (auto _ : state) {
      for (int phase = 0; phase < kernel->phases(); ++phase) kernel->Run(buffers, phase, 0);
    }
    return bytes;
  }

 private:
  Model model_;
};

void Report(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void BM_Unary(benchmark::State& state, const char* op) {
  Layers layers;
  const Shape shape = {128, 3072};
  layers.Op(op, {layers.Tensor(shape)}, shape);
  Report(state, layers.Run(state));
}
BENCHMARK_CAPTURE(BM_Unary, exp, "Exp");
BENCHMARK_CAPTURE(BM_Unary, erf, "Erf");
BENCHMARK_CAPTURE(BM_Unary, abs, "Abs");

void BM_AddBias(benchmark::State& state) {
  Layers layers;
  const Shape shape = {128, 768};
  layers.Op("Add", {layers.Tensor(shape), layers.Constant({768})}, shape);
  Report(state, layers.Run(state));
}
BENCHMARK(BM_AddBias);

void BM_SpelledOutGeluWithoutItsLastProduct(benchmark::State& state) {
  Layers layers;
  const Shape shape = {128, 3072};
  const int input = layers.Tensor(shape);
  const int scaled = layers.Op("Div", {input, layers.Constant({})}, shape);
  const int erf = layers.Op("Erf", {scaled}, shape);
  const int more = layers.Op("Add", {erf, layers.Constant({})}, shape);
  layers.Op("Mul", {input, more}, shape);
  Report(state, layers.Run(state));
}
BENCHMARK(BM_SpelledOutGeluWithoutItsLastProduct);

void BM_SmallOp(benchmark::State& state) {
  Layers layers;
  layers.Op("Abs", {layers.Tensor({16})}, {16});
  Report(state, layers.Run(state));
}
BENCHMARK(BM_SmallOp);

void BM_ReduceMeanOfRows(benchmark::State& state) {
  Layers layers;
  layers.Op("ReduceMean", {layers.Tensor({128, 768})}, {128, 1}, {{"axes", std::vector<std::int64_t>{-1}}});
  Report(state, layers.Run(state));
}
BENCHMARK(BM_ReduceMeanOfRows);

void BM_TransposeHeads(benchmark::State& state) {
  Layers layers;
  layers.Op("Transpose", {layers.Tensor({1, 128, 12, 64})}, {1, 12, 128, 64},
            {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  Report(state, layers.Run(state));
}
BENCHMARK(BM_TransposeHeads);

void BM_Lstm(benchmark::State& state) {
  Layers layers;
  const std::int64_t steps = 16, batch = state.range(0), hidden = state.range(1);
  layers.Op("LSTM",
            {layers.Tensor({steps, batch, hidden}), layers.Constant({1, 4 * hidden, hidden}),
             layers.Constant({1, 4 * hidden, hidden})},
            {steps, 1, batch, hidden}, {{"hidden_size", hidden}});
  layers.Run(state);
  state.SetItemsProcessed(state.iterations() * steps * batch * 16 * hidden * hidden);
}
BENCHMARK(BM_Lstm)->Args({1, 512})->Args({16, 512})->Args({32, 1024});

}  // namespace
}  // namespace millrace
