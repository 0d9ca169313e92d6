// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/api.h"

namespace millrace::ort {
namespace {

template <typename Function>
void Take(const Place* table, int place, Function& function) {
  function = reinterpret_cast<Function>(table[place]);
}

}  // namespace

Functions::Functions(const Place* table) {
  Take(table, 2, message_of);
  Take(table, 3, create_environment);
  Take(table, 8, create_session);
  Take(table, 9, run);
  Take(table, 10, create_session_options);
  Take(table, 13, set_execution_mode);
  Take(table, 24, set_intra_op_threads);
  Take(table, 25, set_inter_op_threads);
  Take(table, 49, create_tensor);
  Take(table, 69, create_cpu_memory);
  Take(table, 92, release_environment);
  Take(table, 93, release_status);
  Take(table, 94, release_memory);
  Take(table, 95, release_session);
  Take(table, 96, release_tensor);
  Take(table, 100, release_session_options);
  Take(table, 130, set_option);
}

}  // namespace millrace::ort
