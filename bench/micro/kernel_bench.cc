// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <numeric>

#include "millrace/random/random.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/kernel.h"
#include "millrace/runtime/one_openmp_thread.h"

// Heavy kernels on one worker, as share of the core's floating-point rate: the counter says operations per second.
namespace millrace {
namespace {

std::shared_ptr<const ConstantData> RandomConstant(const Shape& shape) {
  Random random(1);
  std::vector<float> values(static_cast<std::size_t>(ElementsOf(shape)));
  for (float& value : values) value = static_cast<float>(random.Uniform(-0.1, 0.1));
  return ConstantData::Floats(shape, values);
}

int AddValue(Model& model, const Shape& shape, std::shared_ptr<const ConstantData> constant = nullptr) {
  Value value;
  value.shape = shape;
  value.constant = std::move(constant);
  model.values.push_back(value);
  return static_cast<int>(model.values.size()) - 1;
}

int AddTimedNode(Model& model, const std::string& type, std::vector<int> inputs, const Shape& output,
                 std::map<std::string, Attribute> attributes = {}) {
  Node node;
  node.op_type = type;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.outputs = {AddValue(model, output)};
  model.values.back().producer = static_cast<int>(model.nodes.size());
  model.nodes.push_back(node);
  return node.outputs.front();
}

void RunKernel(benchmark::State& state, const Model& model, double operations, Layout layout = Layout::kBlocked) {
  const OneOpenMpThread one_thread;
  std::vector<int> nodes(model.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  KernelRequest request;
  request.model = &model;
  request.nodes = nodes;
  for (const Value& value : model.values)
    request.available.push_back(value.shape.size() == 4 ? layout : Layout::kPlain);
  const std::unique_ptr<Kernel> kernel = MakeKernel(request);
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const TensorSpec& spec : kernel->input_specs()) {
    memory.push_back(AllocateAligned(spec.bytes()));
    inputs.push_back(memory.back().get());
  }
  for (const TensorSpec& spec : kernel->output_specs()) {
    memory.push_back(AllocateAligned(spec.bytes()));
    outputs.push_back(memory.back().get());
  }
  memory.push_back(AllocateAligned(kernel->scratch_bytes()));
  const KernelBuffers buffers{inputs.data(), outputs.data(), memory.back().get()};
  for (auto _ : state) {
    for (int phase = 0; phase < kernel->phases(); ++phase) kernel->Run(buffers, phase, 0);
  }
  state.counters["flops"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

// Arguments: channels in and out, side of image and kernel, groups, whether a residual and a Relu follow, whether
// channels lie innermost (with AVX-512).
void BM_Convolution(benchmark::State& state) {
  const std::int64_t channels = state.range(0), outputs = state.range(1), side = state.range(2);
  const std::int64_t kernel = state.range(3), groups = state.range(4), pad = kernel / 2;
  const Shape output = {1, outputs, side, side};
  Model model;
  const int source = AddValue(model, {1, channels, side, side});
  const Shape weights = {outputs, channels / groups, kernel, kernel};
  int value = AddTimedNode(model, "Conv",
                           {source, AddValue(model, weights, RandomConstant(weights)),
                            AddValue(model, {outputs}, RandomConstant({outputs}))},
                           output, {{"group", groups}, {"pads", Shape{pad, pad, pad, pad}}});
  if (state.range(5) != 0) {
    value = AddTimedNode(model, "Add", {value, AddValue(model, output)}, output);
    AddTimedNode(model, "Relu", {value}, output);
  }
  RunKernel(state, model, 2.0 * static_cast<double>(ElementsOf(output) * ElementsOf(weights) / outputs),
            state.range(6) != 0 ? Layout::kChannelsLast : Layout::kBlocked);
}
BENCHMARK(BM_Convolution)
    ->ArgNames({"in", "out", "side", "kernel", "groups", "residual", "last"})
    ->Args({64, 64, 56, 3, 1, 0, 0})
    ->Args({128, 128, 28, 3, 1, 0, 0})
    ->Args({256, 256, 14, 3, 1, 1, 0})
    ->Args({256, 64, 56, 1, 1, 0, 0})
    ->Args({64, 256, 56, 1, 1, 0, 0})
    ->Args({64, 256, 56, 1, 1, 1, 0})
    ->Args({3, 64, 112, 7, 1, 0, 0})
    ->Args({128, 128, 56, 3, 128, 0, 0})
    ->Args({64, 64, 56, 3, 1, 0, 1})
    ->Args({256, 64, 56, 1, 1, 0, 1})
    ->Args({64, 256, 56, 1, 1, 0, 1})
    ->Args({64, 256, 56, 1, 1, 1, 1})
    ->Args({128, 128, 56, 3, 128, 0, 1})
    ->Unit(benchmark::kMicrosecond);

// Arguments: rows, inner size, columns, whether the right-hand side is constant.
void BM_MatrixProduct(benchmark::State& state) {
  const std::int64_t rows = state.range(0), inner = state.range(1), columns = state.range(2);
  Model model;
  const int left = AddValue(model, {rows, inner});
  const Shape right = {inner, columns};
  AddTimedNode(model, "MatMul", {left, AddValue(model, right, state.range(3) != 0 ? RandomConstant(right) : nullptr)},
               {rows, columns});
  RunKernel(state, model, 2.0 * static_cast<double>(rows * inner * columns));
}
BENCHMARK(BM_MatrixProduct)
    ->ArgNames({"rows", "inner", "columns", "constant"})
    ->Args({128, 768, 768, 1})
    ->Args({128, 768, 768, 0})
    ->Args({128, 768, 3072, 1})
    ->Args({16, 512, 512, 1})
    ->Args({1, 4096, 4096, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace millrace
