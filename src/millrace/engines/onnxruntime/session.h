// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/engines/onnxruntime/library.h"
#include "millrace/formats/model.h"

// A model made ready in ONNX Runtime, and the tensors it reads and writes.
namespace millrace::ort {

// Tensor over memory of ours.
class BoundTensor {
 public:
  // `elements` holds the value's size and outlives this. Throws WorkFailed for strings, whose elements are no plain
  // bytes.
  BoundTensor(std::shared_ptr<const Library> library, const Value& value, std::span<std::byte> elements);
  ~BoundTensor();
  BoundTensor(const BoundTensor&) = delete;
  BoundTensor& operator=(const BoundTensor&) = delete;

  Tensor* get() const { return tensor_; }

 private:
  std::shared_ptr<const Library> library_;
  Tensor* tensor_ = nullptr;
};

struct SessionSettings {
  int threads = 1;  // the caller's among them
  // Processors of the other threads; empty: wherever the system puts them.
  std::vector<int> cpus = {};
  // Its threads give their processors up as soon as a run ends, for others that have work there.
  bool shares_cpus = false;
  // ONNX Runtime's mode of running ops of several branches at once, with so many threads for that; 0: one op at a time.
  int parallel_ops = 0;
};

class LoadedModel {
 public:
  // Throws WorkFailed: the library cannot run the model, there is no memory.
  LoadedModel(std::shared_ptr<const Library> library, const Model& model, const SessionSettings& settings);
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  // Reads and writes the tensors, in the order of the model's inputs and outputs. Null, or what went wrong: the caller
  // gives it to Library::Check or WordsOf.
  Status* Run(std::span<const Tensor* const> inputs, std::span<Tensor*> outputs) const;

 private:
  std::shared_ptr<const Library> library_;
  Session* session_ = nullptr;
  std::vector<std::string> names_;  // inputs, then outputs
  std::vector<const char*> input_names_, output_names_;
};

}  // namespace millrace::ort
