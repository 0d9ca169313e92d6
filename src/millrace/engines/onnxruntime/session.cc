// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/graph/index.h"

namespace millrace::ort {
namespace {

// The numbers of ONNX's TensorProto, which ONNX Runtime uses as well.
int ElementTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return 1;
    case DataType::kUint8:
      return 2;
    case DataType::kInt8:
      return 3;
    case DataType::kUint16:
      return 4;
    case DataType::kInt16:
      return 5;
    case DataType::kInt32:
      return 6;
    case DataType::kInt64:
      return 7;
    case DataType::kString:
      return 8;
    case DataType::kBool:
      return 9;
    case DataType::kFloat16:
      return 10;
    case DataType::kFloat64:
      return 11;
    case DataType::kUint32:
      return 12;
    case DataType::kUint64:
      return 13;
    case DataType::kBfloat16:
      return 16;
  }
  return 0;
}

// Released at the end of the scope.
class Options {
 public:
  explicit Options(const Library& library) : library_(library) {
    library.Check(library.functions().create_session_options(&options_), "no session options");
  }
  ~Options() { library_.functions().release_session_options(options_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  SessionOptions* get() const { return options_; }
  void Set(const char* key, const std::string& value) const {
    library_.Check(library_.functions().set_option(options_, key, value.c_str()), fmt::format("option {}", key));
  }

 private:
  const Library& library_;
  SessionOptions* options_ = nullptr;
};

void Apply(const SessionSettings& settings, const Library& library, const Options& options) {
  const Functions& functions = library.functions();
  library.Check(functions.set_intra_op_threads(options.get(), settings.threads), "threads of a session");
  if (settings.parallel_ops > 0) {
    library.Check(functions.set_execution_mode(options.get(), kParallel), "a session's mode");
    library.Check(functions.set_inter_op_threads(options.get(), settings.parallel_ops), "threads of a session");
  }
  if (settings.shares_cpus) options.Set("session.force_spinning_stop", "1");
  if (settings.cpus.empty()) return;
  // It counts processors from 1, and lists those of each thread but the caller's.
  std::vector<int> numbers;
  for (const int cpu : settings.cpus) numbers.push_back(cpu + 1);
  options.Set("session.intra_op_thread_affinities", fmt::format("{}", fmt::join(numbers, ";")));
}

}  // namespace

BoundTensor::BoundTensor(std::shared_ptr<const Library> library, const Value& value, std::span<std::byte> elements)
    : library_(std::move(library)) {
  if (value.type == DataType::kString)
    throw WorkFailed(fmt::format("tensor '{}' holds strings, which are not handed to ONNX Runtime", Shown(value.name)));
  const Functions& functions = library_->functions();
  MemoryInfo* memory = nullptr;
  library_->Check(functions.create_cpu_memory(kDeviceAllocator, kDefaultMemory, &memory), "no memory of the processor");
  Status* const status = functions.create_tensor(memory, elements.data(), elements.size(), value.shape.data(),
                                                 value.shape.size(), ElementTypeOf(value.type), &tensor_);
  functions.release_memory(memory);
  library_->Check(status, fmt::format("no tensor '{}'", Shown(value.name)));
}

BoundTensor::~BoundTensor() { library_->functions().release_tensor(tensor_); }

LoadedModel::LoadedModel(std::shared_ptr<const Library> library, const Model& model, const SessionSettings& settings)
    : library_(std::move(library)) {
  const Options options(*library_);
  Apply(settings, *library_, options);
  const std::string bytes = OnnxBytes(model);
  library_->Check(library_->functions().create_session(library_->environment(), bytes.data(), bytes.size(),
                                                       options.get(), &session_),
                  "ONNX Runtime does not take the model");
  for (const auto* ids : {&model.inputs, &model.outputs}) {
    for (const int id : *ids) names_.push_back(model.values[Index(id)].name);
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    (i < model.inputs.size() ? input_names_ : output_names_).push_back(names_[i].c_str());
  }
}

LoadedModel::~LoadedModel() { library_->functions().release_session(session_); }

Status* LoadedModel::Run(std::span<const Tensor* const> inputs, std::span<Tensor*> outputs) const {
  return library_->functions().run(session_, nullptr, input_names_.data(), inputs.data(), inputs.size(),
                                   output_names_.data(), outputs.size(), outputs.data());
}

}  // namespace millrace::ort
