// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/random/random.h"
#include "millrace/runtime/kernel.h"

// What the kernels' tests share: a model of a few nodes made by hand, and a way to run one group of it.
namespace millrace::testing {

using TensorData = std::shared_ptr<const ConstantData>;

// Elements uniform in [low, high).
TensorData RandomTensor(Random& random, const Shape& shape, double low = -1, double high = 1);

class ModelMaker {
 public:
  explicit ModelMaker(std::int64_t opset = 13) { model_.opset = opset; }

  int Input(const Shape& shape, DataType type = DataType::kFloat32);
  int Constant(TensorData data);
  // Appends a node and returns the value id of its first output. Output shapes are the caller's to say.
  int Node(const std::string& op_type, const std::vector<int>& inputs, const Shape& output_shape,
           const std::map<std::string, Attribute>& attributes = {}, DataType output_type = DataType::kFloat32);
  // The same for several outputs; returns their ids.
  std::vector<int> NodeOf(const std::string& op_type, const std::vector<int>& inputs,
                          const std::vector<std::pair<DataType, Shape>>& outputs,
                          const std::map<std::string, Attribute>& attributes = {});
  void Output(int value) { model_.outputs.push_back(value); }

  const Model& model() const { return model_; }
  std::vector<int> AllNodes() const;

 private:
  Model model_;
};

using KernelMaker = std::function<std::unique_ptr<Kernel>(const KernelRequest&)>;

inline constexpr Layout kLayouts[] = {Layout::kPlain, Layout::kBlocked, Layout::kChannelsLast};

// Whether a tensor may lie so.
bool MayLie(DataType type, const Shape& shape, Layout layout);

struct HarnessOptions {
  int workers = 1;
  Layout available = Layout::kPlain;  // of every input that may lie so, as the kernel is told
  KernelMaker make = MakeKernel;
};

// Makes the group's kernel, lays the inputs (by value id, plain) as it asks, runs every phase of every worker, and
// returns its outputs by value id, plain. Fails the test where the kernel's border is not the group's, where it writes
// past a buffer, or leaves padding that is not zero. Buffers start as NaN bits.
std::map<int, TensorData> RunGroup(const Model& model, const std::vector<int>& nodes,
                                   const std::map<int, TensorData>& inputs, const HarnessOptions& options = {});

// Fails the test unless every element is within `tolerance` x (1 + the largest magnitude expected).
void ExpectClose(const TensorData& actual, const TensorData& expected, double tolerance = 1e-4);

}  // namespace millrace::testing
