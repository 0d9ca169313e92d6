// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/revision.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

namespace millrace {

std::string RuntimeRevision() {
  const dnnl_version_t* const library = dnnl_version();
  return fmt::format("millrace {}, kernels {}, oneDNN {}.{}.{}", MILLRACE_VERSION, kKernelRevision, library->major,
                     library->minor, library->patch);
}

}  // namespace millrace
