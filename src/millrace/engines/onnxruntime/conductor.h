// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "millrace/engines/onnxruntime/engine.h"
#include "millrace/runtime/progress.h"

// Runs the pieces of a model, each in a session of ONNX Runtime: on one pinned worker per processor, each piece as soon
// as those it waits for are over.
//
// Every tensor that goes from piece to piece has one place in memory, where the one writes and the others read: handing
// over copies nothing. Inputs of the model are what the caller writes; they stay from run to run.
namespace millrace::ort {

class Conductor {
 public:
  // Throws WorkFailed as Engine::Ready does, and where there is no memory for tensors.
  Conductor(std::shared_ptr<Engine> engine, const std::vector<Piece>& pieces);

  // The i-th input of the model, plain and row-major. Zeros until written.
  std::span<std::byte> input(std::size_t i);
  // The i-th output; empty where it is a constant.
  std::span<const std::byte> output(std::size_t i) const;

  // One run; the seconds it took. Throws WorkFailed, in ONNX Runtime's words, where a session fails.
  double Run();

 private:
  // So many pieces of that worker have to be over.
  struct Wait {
    int worker = 0;
    std::uint32_t pieces = 0;
  };
  struct Part {
    std::shared_ptr<const LoadedModel> model;
    std::vector<const Tensor*> inputs;
    std::vector<Tensor*> outputs;
    std::vector<Wait> waits;
  };
  struct Buffer {
    std::shared_ptr<std::byte> memory;
    std::span<std::byte> elements;
    std::unique_ptr<BoundTensor> tensor;
  };

  Buffer& BufferOf(int value);
  int NumberOf(int cpu);
  void Work(std::size_t worker);
  void RunPart(Part& part);

  std::shared_ptr<Engine> engine_;
  std::vector<Buffer> buffers_;            // by value of the model; empty for those within a piece
  std::vector<std::vector<Part>> parts_;   // by worker, in order
  std::vector<int> pool_workers_;          // by worker: its number in the pool, ascending; none: the caller runs all
  std::unique_ptr<Progress[]> finished_;   // by worker
  std::atomic<Status*> failure_{nullptr};  // the first; the pieces after it are passed over
};

}  // namespace millrace::ort
