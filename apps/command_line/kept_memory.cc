// SPDX-License-Identifier: Apache-2.0
#include "command_line/kept_memory.h"

#include <malloc.h>

#include <limits>

namespace millrace::cli {

void KeepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace millrace::cli
