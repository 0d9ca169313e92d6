// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/kernel_harness.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/group_values.h"
#include "millrace/runtime/one_openmp_thread.h"
#include "millrace/runtime/reorder.h"

namespace millrace::testing {
namespace {

constexpr unsigned char kGarbage = 0xff;  // NaN as float32 and float64

// At which end of its pages a buffer lies. No page beside them may be touched, not even by a masked store that writes
// nothing there.
enum class Place { kFirst, kLast };

// 64-byte aligned, of whole cache lines. What is left of its pages is garbage that has to stay.
class Buffer {
 public:
  Buffer(std::size_t bytes, Place place) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inside_ = (AlignedSize(bytes) / page + 1) * page;
    mapped_ = inside_ + 2 * page;
    void* const all = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    all_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(all), [size = mapped_](void* it) { munmap(it, size); });
    std::byte* const begin = all_.get() + page;
    if (mprotect(begin, inside_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(begin, kGarbage, inside_);
    offset_ = page + (place == Place::kFirst ? 0 : inside_ - AlignedSize(bytes));
  }

  std::byte* data() const { return all_.get() + offset_; }

  bool RestIntact() const {
    const std::byte* const begin = all_.get() + (mapped_ - inside_) / 2;
    const auto garbage = [](std::byte value) { return value == std::byte{kGarbage}; };
    return std::all_of(begin, static_cast<const std::byte*>(data()), garbage) &&
           std::all_of(static_cast<const std::byte*>(data()) + bytes_, begin + inside_, garbage);
  }

 private:
  std::size_t bytes_, inside_ = 0, mapped_ = 0, offset_ = 0;
  std::shared_ptr<std::byte> all_;
};

void ExpectZeroPadding(const TensorSpec& spec, const std::byte* data) {
  if (spec.layout != Layout::kBlocked || spec.shape[1] % ChannelBlock() == 0) return;
  const auto* values = reinterpret_cast<const float*>(data);
  const std::int64_t pixels = spec.shape[2] * spec.shape[3];
  const std::int64_t blocks = (spec.shape[1] + ChannelBlock() - 1) / ChannelBlock();
  for (std::int64_t image = 0; image < spec.shape[0]; ++image) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const float* block = values + ((image * blocks + blocks - 1) * pixels + pixel) * ChannelBlock();
      for (std::int64_t lane = spec.shape[1] % ChannelBlock(); lane < ChannelBlock(); ++lane) {
        ASSERT_EQ(block[lane], 0.0f) << "padding of image " << image << ", pixel " << pixel << ", lane " << lane;
      }
    }
  }
}

}  // namespace

TensorData RandomTensor(Random& random, const Shape& shape, double low, double high) {
  std::vector<float> values(static_cast<std::size_t>(ElementsOf(shape)));
  for (float& value : values) value = static_cast<float>(random.Uniform(low, high));
  return ConstantData::Floats(shape, values);
}

int ModelMaker::Input(const Shape& shape, DataType type) {
  const int id = static_cast<int>(model_.values.size());
  Value value;
  value.name = "value" + std::to_string(id);
  value.type = type;
  value.shape = shape;
  model_.values.push_back(value);
  model_.inputs.push_back(id);
  return id;
}

int ModelMaker::Constant(TensorData data) {
  const int id = Input(data->shape(), data->type());
  model_.inputs.pop_back();
  model_.values.back().constant = std::move(data);
  return id;
}

int ModelMaker::Node(const std::string& op_type, const std::vector<int>& inputs, const Shape& output_shape,
                     const std::map<std::string, Attribute>& attributes, DataType output_type) {
  return NodeOf(op_type, inputs, {{output_type, output_shape}}, attributes).front();
}

std::vector<int> ModelMaker::NodeOf(const std::string& op_type, const std::vector<int>& inputs,
                                    const std::vector<std::pair<DataType, Shape>>& outputs,
                                    const std::map<std::string, Attribute>& attributes) {
  const int node_id = static_cast<int>(model_.nodes.size());
  millrace::Node node;
  node.name = "node" + std::to_string(node_id);
  node.op_type = op_type;
  node.inputs = inputs;
  node.attributes = attributes;
  for (const auto& [type, shape] : outputs) {
    node.outputs.push_back(Input(shape, type));
    model_.inputs.pop_back();
    model_.values.back().producer = node_id;
  }
  model_.nodes.push_back(node);
  return node.outputs;
}

std::vector<int> ModelMaker::AllNodes() const {
  std::vector<int> nodes(model_.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

namespace {

std::map<int, TensorData> RunKernel(const Kernel& kernel, const std::map<int, TensorData>& inputs, int workers,
                                    Place place) {
  std::vector<Buffer> buffers;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;
  for (std::size_t i = 0; i < kernel.inputs().size(); ++i) {
    const TensorData& given = inputs.at(kernel.inputs()[i]);
    const TensorSpec plain{given->type(), given->shape(), Layout::kPlain};
    const TensorSpec& wanted = kernel.input_specs()[i];
    EXPECT_EQ(wanted.shape, given->shape());
    EXPECT_EQ(wanted.type, given->type());
    const Buffer loose(plain.bytes(), place);
    given->CopyTo(loose.data());
    buffers.emplace_back(wanted.bytes(), place);
    Reorder(plain, loose.data(), wanted.layout, buffers.back().data(), 1, 0);
    sources.push_back(buffers.back().data());
  }
  for (const TensorSpec& spec : kernel.output_specs()) {
    buffers.emplace_back(spec.bytes(), place);
    destinations.push_back(buffers.back().data());
  }
  buffers.emplace_back(kernel.scratch_bytes(), place);
  const KernelBuffers given{sources.data(), destinations.data(), buffers.back().data()};
  for (int phase = 0; phase < kernel.phases(); ++phase) {
    for (int worker = 0; worker < workers; ++worker) kernel.Run(given, phase, worker);
  }
  for (const Buffer& buffer : buffers) EXPECT_TRUE(buffer.RestIntact()) << "a kernel wrote beside a buffer";

  std::map<int, TensorData> results;
  for (std::size_t i = 0; i < kernel.outputs().size(); ++i) {
    const TensorSpec& spec = kernel.output_specs()[i];
    ExpectZeroPadding(spec, destinations[i]);
    TensorSpec plain = spec;
    plain.layout = Layout::kPlain;
    std::vector<std::byte> bytes(plain.bytes());
    Reorder(spec, destinations[i], Layout::kPlain, bytes.data(), 1, 0);
    results[kernel.outputs()[i]] = ConstantData::Dense(spec.type, spec.shape, std::move(bytes));
  }
  return results;
}

}  // namespace

bool MayLie(DataType type, const Shape& shape, Layout layout) {
  return layout == Layout::kPlain ||
         (layout == Layout::kBlocked ? CanBeBlocked(type, shape) : CanHaveChannelsLast(type, shape));
}

std::map<int, TensorData> RunGroup(const Model& model, const std::vector<int>& nodes,
                                   const std::map<int, TensorData>& inputs, const HarnessOptions& options) {
  const OneOpenMpThread one_thread;
  KernelRequest request;
  request.model = &model;
  request.nodes = nodes;
  request.workers = options.workers;
  for (const Value& value : model.values)
    request.available.push_back(MayLie(value.type, value.shape, options.available) ? options.available
                                                                                   : Layout::kPlain);
  const std::unique_ptr<Kernel> kernel = options.make(request);
  EXPECT_EQ(kernel->inputs(), GroupInputs(model, nodes));
  EXPECT_EQ(kernel->outputs(), GroupOutputs(model, nodes));
  EXPECT_EQ(kernel->input_specs().size(), kernel->inputs().size());
  EXPECT_EQ(kernel->output_specs().size(), kernel->outputs().size());

  std::map<int, TensorData> results = RunKernel(*kernel, inputs, options.workers, Place::kFirst);
  const std::map<int, TensorData> again = RunKernel(*kernel, inputs, options.workers, Place::kLast);
  for (const auto& [value, data] : results) ExpectClose(again.at(value), data, 0);
  return results;
}

void ExpectClose(const TensorData& actual, const TensorData& expected, double tolerance) {
  ASSERT_EQ(actual->type(), expected->type());
  ASSERT_EQ(actual->shape(), expected->shape());
  const std::vector<float> got = actual->AsFloats();
  const std::vector<float> wanted = expected->AsFloats();
  double largest = 0;
  for (const float value : wanted) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
    ASSERT_LE(std::abs(static_cast<double>(got[i]) - wanted[i]), tolerance * (1 + largest)) << "element " << i;
  }
}

}  // namespace millrace::testing
