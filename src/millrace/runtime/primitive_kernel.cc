// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/primitive_kernel.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/group_values.h"

namespace millrace {
namespace {

// A primitive with the memory objects it is executed on. The objects' addresses are set before every execution; one
// worker owns each of these.
class BoundPrimitive {
 public:
  BoundPrimitive(const dnnl::primitive& primitive, const std::vector<Argument>& arguments)
      : primitive_(primitive), stream_(CpuEngine()) {
    for (const Argument& argument : arguments) {
      operands_.push_back(argument.operand);
      memories_.push_back(dnnl::memory(argument.description, CpuEngine(), DNNL_MEMORY_NONE));
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) arguments_.push_back({arguments[i].name, memories_[i].get()});
  }

  void Execute(const KernelBuffers& buffers) {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      dnnl_memory_set_data_handle(memories_[i].get(), const_cast<std::byte*>(operands_[i].Read(buffers)));
    dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
  }

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<Operand> operands_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

// Of a worker's tasks in a phase.
std::size_t PlaceOf(int phase, int worker, int workers) {
  return static_cast<std::size_t>(phase) * static_cast<std::size_t>(workers) + static_cast<std::size_t>(worker);
}

}  // namespace

dnnl::engine CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

Operand Operand::Plus(std::size_t bytes) const {
  Operand moved = *this;
  moved.offset += bytes;
  return moved;
}

const std::byte* Operand::Read(const KernelBuffers& buffers) const {
  switch (kind) {
    case Kind::kInput:
      return buffers.inputs[index] + offset;
    case Kind::kOutput:
      return buffers.outputs[index] + offset;
    case Kind::kScratch:
      return buffers.scratch + offset;
    case Kind::kOwned:
      return owned + offset;
  }
  return nullptr;
}

std::byte* Operand::Write(const KernelBuffers& buffers) const {
  return kind == Kind::kOutput ? buffers.outputs[index] + offset : buffers.scratch + offset;
}

PrimitiveKernel::PrimitiveKernel(const KernelRequest& request) : workers_(request.workers) {
  const Model& model = *request.model;
  inputs_ = GroupInputs(model, request.nodes);
  outputs_ = GroupOutputs(model, request.nodes);
  for (const int value : inputs_) input_specs_.push_back(SpecOf(model, value));
  for (const int value : outputs_) output_specs_.push_back(SpecOf(model, value));
}

void PrimitiveKernel::Run(const KernelBuffers& buffers, int phase, int worker) const {
  const std::size_t at = PlaceOf(phase, worker, workers_);
  if (at >= tasks_.size()) return;
  for (const Task& task : tasks_[at]) task(buffers);
}

void PrimitiveKernel::AddTask(int phase, int worker, Task task) {
  phases_ = std::max(phases_, phase + 1);
  const std::size_t at = PlaceOf(phase, worker, workers_);
  if (tasks_.size() <= at) tasks_.resize(at + 1);
  tasks_[at].push_back(std::move(task));
}

void PrimitiveKernel::AddCopy(int phase, int worker, const Operand& from, const Operand& to, std::size_t bytes) {
  AddTask(phase, worker, [from, to, bytes](const KernelBuffers& buffers) {
    std::memcpy(to.Write(buffers), from.Read(buffers), bytes);
  });
}

void PrimitiveKernel::AddPrimitive(int phase, int worker, const dnnl::primitive& primitive,
                                   const dnnl::memory::desc& scratchpad, const std::vector<Argument>& arguments) {
  std::vector<Argument> all = arguments;
  // Every primitive of a worker has room of its own: simple, and the executor shares scratch between kernels anyway.
  if (scratchpad.get_size() > 0) all.push_back({DNNL_ARG_SCRATCHPAD, scratchpad, TakeScratch(scratchpad.get_size())});
  auto bound = std::make_shared<BoundPrimitive>(primitive, all);
  AddTask(phase, worker, [bound](const KernelBuffers& buffers) { bound->Execute(buffers); });
}

Operand PrimitiveKernel::TakeScratch(std::size_t bytes) {
  Operand scratch;
  scratch.kind = Operand::Kind::kScratch;
  scratch.offset = scratch_bytes_;
  scratch_bytes_ += AlignedSize(bytes);
  return scratch;
}

Operand PrimitiveKernel::KeepWeights(const KernelRequest& request, const std::string& key,
                                     const dnnl::memory::desc& from, const float* plain, const dnnl::memory::desc& to) {
  return KeepPrepared(request, key, to, to.get_size(),
                      [&](std::byte* destination) { ReorderWeights(from, plain, to, destination); });
}

Operand PrimitiveKernel::KeepPrepared(const KernelRequest& request, const std::string& key,
                                      const dnnl::memory::desc& to, std::size_t bytes,
                                      const std::function<void(std::byte*)>& fill) {
  if (request.weights != nullptr) {
    const std::string_view description(reinterpret_cast<const char*>(&to.data), sizeof(to.data));
    const std::size_t format = std::hash<std::string_view>()(description);
    std::string full_key = key + " format " + std::to_string(format) + " nodes";
    for (const int node : request.nodes) full_key += " " + std::to_string(node);
    kept_.push_back(request.weights->Get(full_key, bytes, fill));
  } else {
    std::shared_ptr<std::byte> memory = AllocateAligned(bytes);
    fill(memory.get());
    kept_.push_back(std::move(memory));
  }
  return Operand::Owned(kept_.back().get());
}

Operand PrimitiveKernel::KeepFloats(const std::vector<float>& values, std::size_t padded_size) {
  std::shared_ptr<std::byte> memory = AllocateAligned(std::max(values.size(), padded_size) * sizeof(float));
  if (!values.empty()) std::memcpy(memory.get(), values.data(), values.size() * sizeof(float));
  kept_.push_back(memory);
  return Operand::Owned(memory.get());
}

Operand PrimitiveKernel::KeepBytes(const void* bytes, std::size_t count) {
  std::shared_ptr<std::byte> memory = AllocateAligned(count);
  std::memcpy(memory.get(), bytes, count);
  kept_.push_back(memory);
  return Operand::Owned(memory.get());
}

Operand PrimitiveKernel::OperandOf(const Model& model, int value) {
  const Value& of = model.values[static_cast<std::size_t>(value)];
  if (of.constant != nullptr) return KeepFloats(of.constant->AsFloats());
  return Operand::Input(InputIndex(value));
}

std::size_t PrimitiveKernel::InputIndex(int value) const {
  return static_cast<std::size_t>(std::find(inputs_.begin(), inputs_.end(), value) - inputs_.begin());
}

dnnl::primitive_attr PrimitiveAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::desc PlainDescription(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return {shape, dnnl::memory::data_type::f32, strides};
}

void ReorderWeights(const dnnl::memory::desc& from, const float* plain, const dnnl::memory::desc& to,
                    std::byte* written) {
  dnnl::memory source(from, CpuEngine(), const_cast<float*>(plain));
  dnnl::memory target(to, CpuEngine(), written);
  dnnl::stream stream(CpuEngine());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

bool IsReference(const char* implementation) {
  const std::string_view name(implementation);
  return name.starts_with("ref") || name.find(":ref") != std::string_view::npos;
}

}  // namespace millrace
