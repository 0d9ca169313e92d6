// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "millrace/runtime/kernel.h"
#include "millrace/runtime/weight_cache.h"

// A kernel as a list of tasks for every phase and worker: oneDNN primitives over a worker's slice of the tensors, and
// small loops of our own between them. Only the runtime room sees this header's oneDNN types.
namespace millrace {

dnnl::engine CpuEngine();

// Where an operand of a task lies: `offset` bytes into one of the run's buffers, or in memory the kernel owns.
struct Operand {
  enum class Kind { kInput, kOutput, kScratch, kOwned };

  Kind kind = Kind::kOwned;
  std::size_t index = 0;   // of the input or output
  std::size_t offset = 0;  // bytes
  const std::byte* owned = nullptr;

  static Operand Input(std::size_t index, std::size_t offset = 0) { return {Kind::kInput, index, offset, nullptr}; }
  static Operand Output(std::size_t index, std::size_t offset = 0) { return {Kind::kOutput, index, offset, nullptr}; }
  static Operand Owned(const std::byte* data) { return {Kind::kOwned, 0, 0, data}; }

  Operand Plus(std::size_t bytes) const;

  const std::byte* Read(const KernelBuffers& buffers) const;
  std::byte* Write(const KernelBuffers& buffers) const;  // never of an owned operand
};

// One argument of a primitive.
struct Argument {
  int name = 0;  // DNNL_ARG_...
  dnnl::memory::desc description;
  Operand operand;
};

using Task = std::function<void(const KernelBuffers&)>;

class PrimitiveKernel : public Kernel {
 public:
  void Run(const KernelBuffers& buffers, int phase, int worker) const override;

 protected:
  // Sets the border of the group, plain everywhere; the layouts are the derived kernel's to change.
  explicit PrimitiveKernel(const KernelRequest& request);

  int workers() const { return workers_; }
  void AddTask(int phase, int worker, Task task);
  void AddCopy(int phase, int worker, const Operand& from, const Operand& to, std::size_t bytes);
  // The primitive on these arguments, with a scratchpad of the worker's own where its description asks for one.
  void AddPrimitive(int phase, int worker, const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                    const std::vector<Argument>& arguments);

  // Room in the scratch memory of a run, for nothing else.
  Operand TakeScratch(std::size_t bytes);

  // `plain` (which lies as `from` says) as `to` wants it: kept by this kernel, or shared with others under `key`.
  Operand KeepWeights(const KernelRequest& request, const std::string& key, const dnnl::memory::desc& from,
                      const float* plain, const dnnl::memory::desc& to);
  // `bytes` bytes that `fill` writes, for operands of description `to`, kept as above.
  Operand KeepPrepared(const KernelRequest& request, const std::string& key, const dnnl::memory::desc& to,
                       std::size_t bytes, const std::function<void(std::byte*)>& fill);
  Operand KeepFloats(const std::vector<float>& values, std::size_t padded_size = 0);
  Operand KeepBytes(const void* bytes, std::size_t count);

  // The place of a value: an input of the kernel by its number, or a constant (of float32) kept by it.
  Operand OperandOf(const Model& model, int value);
  std::size_t InputIndex(int value) const;

 private:
  int workers_;
  std::vector<std::vector<Task>> tasks_;  // [phase * workers + worker]
  std::vector<std::shared_ptr<const std::byte>> kept_;
};

// Attributes every primitive of ours has: a scratchpad from outside.
dnnl::primitive_attr PrimitiveAttributes();

// A plain row-major description of these dimensions.
dnnl::memory::desc PlainDescription(const Shape& shape);

// Writes `plain` (which lies as `from` says) to `written` as `to` says.
void ReorderWeights(const dnnl::memory::desc& from, const float* plain, const dnnl::memory::desc& to,
                    std::byte* written);

// Whether oneDNN found nothing better than its reference loops.
bool IsReference(const char* implementation);

}  // namespace millrace
