// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/one_openmp_thread.h"

#include <dlfcn.h>

namespace millrace {
namespace {

// Asked for at run time: the OpenMP runtime that matters is the one oneDNN brought along, whichever the compiler at
// hand would link.
struct OpenMpRuntime {
  int (*most_threads)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  void (*set_threads)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
};

const OpenMpRuntime& Runtime() {
  static const OpenMpRuntime runtime;
  return runtime;
}

}  // namespace

OneOpenMpThread::OneOpenMpThread() {
  const OpenMpRuntime& runtime = Runtime();
  if (runtime.most_threads == nullptr || runtime.set_threads == nullptr) return;
  before_ = runtime.most_threads();
  runtime.set_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
  if (before_ > 0) Runtime().set_threads(before_);
}

}  // namespace millrace
