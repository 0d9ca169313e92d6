// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What Millrace calls of ONNX Runtime's C interface. Its library exports one function, which hands out a table of
// functions. Versions only ever add to the table's end, so the places below hold in every version that has them.
//
// Source: the C API of ONNX Runtime, version 14 (release 1.14, the first whose sessions take thread affinities by an
// option). tests/engines/onnxruntime/api_test.cc holds the places to what the functions do.
namespace millrace::ort {

inline constexpr std::uint32_t kApiVersion = 14;

// Opaque things of the library. Made by a Create function, given back to the Release function of their kind.
struct Status;  // what every call returns: null, or an error that has to be released
struct Environment;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Tensor;
struct MemoryInfo;

using Place = void (*)();

struct ApiBase {
  const Place* (*get_api)(std::uint32_t version);  // null where the library is older
  const char* (*get_version)();                    // "1.30.0"
};
using GetApiBase = const ApiBase* (*)();
inline constexpr const char* kGetApiBase = "OrtGetApiBase";

enum Severity : int { kFatal = 4 };  // of what it prints to stderr
enum ExecutionMode : int { kSequential = 0, kParallel = 1 };
enum AllocatorKind : int { kDeviceAllocator = 0 };
enum MemoryKind : int { kDefaultMemory = 0 };

struct Functions {
  explicit Functions(const Place* table);

  const char* (*message_of)(const Status*) = nullptr;
  Status* (*create_environment)(int severity, const char* name, Environment** made) = nullptr;
  Status* (*create_session)(const Environment*, const void* model, std::size_t bytes, const SessionOptions*,
                            Session** made) = nullptr;
  Status* (*run)(Session*, const RunOptions*, const char* const* input_names, const Tensor* const* inputs,
                 std::size_t num_inputs, const char* const* output_names, std::size_t num_outputs,
                 Tensor** outputs) = nullptr;
  Status* (*create_session_options)(SessionOptions** made) = nullptr;
  Status* (*set_execution_mode)(SessionOptions*, int mode) = nullptr;
  Status* (*set_intra_op_threads)(SessionOptions*, int threads) = nullptr;
  Status* (*set_inter_op_threads)(SessionOptions*, int threads) = nullptr;
  Status* (*set_option)(SessionOptions*, const char* key, const char* value) = nullptr;
  // The memory stays the caller's and outlives the tensor.
  Status* (*create_tensor)(const MemoryInfo*, void* elements, std::size_t bytes, const std::int64_t* shape,
                           std::size_t rank, int element_type, Tensor** made) = nullptr;
  Status* (*create_cpu_memory)(int allocator, int memory, MemoryInfo** made) = nullptr;
  void (*release_environment)(Environment*) = nullptr;
  void (*release_status)(Status*) = nullptr;
  void (*release_memory)(MemoryInfo*) = nullptr;
  void (*release_session)(Session*) = nullptr;
  void (*release_tensor)(Tensor*) = nullptr;
  void (*release_session_options)(SessionOptions*) = nullptr;
};

}  // namespace millrace::ort
