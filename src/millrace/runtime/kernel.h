// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/runtime/weight_cache.h"

// A kernel executes one fusion group of a model on one device of the CPU: prepared once (weights reordered, primitives
// created with one thread each), then run any number of times without allocation. A device of several units (a gang)
// runs the kernel on as many workers at once; the work is split over them, in phases with a barrier between.
namespace millrace {

class RunFault;

// How a tensor's elements lie in memory: row-major as ONNX has them; or (4-D float32 only) oneDNN's form for this
// processor: channels in blocks (ChannelBlock), innermost, padded with zeros to a whole block, where padding must be
// zero for every reader; or with the channels innermost: 8 bits of three to five dimensions, and 4-D float32 where the
// processor has AVX-512.
enum class Layout { kPlain, kBlocked, kChannelsLast };

struct TensorSpec {
  DataType type = DataType::kFloat32;
  Shape shape;
  Layout layout = Layout::kPlain;

  std::size_t bytes() const;  // with the padding of the layout

  bool operator==(const TensorSpec&) const = default;
};

struct KernelRequest {
  const Model* model = nullptr;
  std::span<const int> nodes;     // the group, in execution order
  int workers = 1;                // how many run it at once
  std::vector<Layout> available;  // by value id: the layout each non-constant value is at hand in

  // Where prepared weights are shared with the kernels of other programs of this model; null: the kernel keeps its own.
  // Without it, sixteen plans loaded for a race hold the weights sixteen times.
  WeightCache* weights = nullptr;
};

// Where the kernel finds its tensors: inputs and outputs in the order of Kernel::inputs() and outputs(), in the layouts
// it asked for, 64-byte aligned; `scratch` is shared by the workers of this run. `fault` takes what is wrong with the
// data; null where nobody wants to know, as when made-up data is timed.
struct KernelBuffers {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
  std::byte* scratch = nullptr;
  RunFault* fault = nullptr;
};

// An input that a kernel only copies: where it lies at `offset` bytes of output 0 already, it is left alone.
struct PlacedInput {
  int input = 0;  // as Kernel::inputs() lists it
  std::size_t offset = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Value ids read from outside the group (constants excluded, none twice) and made for outside it.
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  const std::vector<TensorSpec>& input_specs() const { return input_specs_; }
  const std::vector<TensorSpec>& output_specs() const { return output_specs_; }
  // Inputs that whoever lays out memory may put into output 0, none of them upon another.
  const std::vector<PlacedInput>& placed_inputs() const { return placed_inputs_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  int phases() const { return phases_; }

  // Worker `worker` of the request's `workers` does its share of phase `phase`. Every worker calls every phase in turn
  // and waits for the others between two phases. Allocates nothing of ours; must not throw.
  virtual void Run(const KernelBuffers& buffers, int phase, int worker) const = 0;

 protected:
  std::vector<int> inputs_, outputs_;
  std::vector<TensorSpec> input_specs_, output_specs_;
  std::vector<PlacedInput> placed_inputs_;
  std::size_t scratch_bytes_ = 0;
  int phases_ = 1;
};

// The kernel for a group. Throws InvalidInput where the runtime lacks an op of it (see UnsupportedReason).
std::unique_ptr<Kernel> MakeKernel(const KernelRequest& request);

// Why the runtime cannot execute this node, in a few words ("op Foo", "Conv on float16"); empty if it can.
std::string UnsupportedReason(const Model& model, int node);

}  // namespace millrace
