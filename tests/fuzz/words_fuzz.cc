// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "millrace/cost/steering_request.h"
#include "millrace/engines/llama/rpc_probe.h"
#include "millrace/engines/llama/tensor_split.h"
#include "millrace/planning/objective.h"
#include "millrace/target/command_target.h"
#include "millrace/target/disturbance.h"
#include "millrace/target/mpi_target.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace millrace;

// The small languages of the command line and of what the kernel tells.
void Read(unsigned char which, std::string_view text) {
  switch (which % 8) {
    case 0:
      static_cast<void>(ParseObjective(text));
      return;
    case 1:
      static_cast<void>(ParsePin(text));
      return;
    case 2:
      static_cast<void>(ParseCommandTarget(text));
      return;
    case 3:
      static_cast<void>(ParseMpiTarget(text));
      return;
    case 4:
      static_cast<void>(ParseTensorSplit(std::string(text)));
      return;
    case 5:
      static_cast<void>(ParseRpcEndpoint(text));
      return;
    case 6:
      static_cast<void>(ParseProcessorTimes(text, {0, 2}, 100));
      return;
    default:
      static_cast<void>(ParseWaited(text));
  }
}

}  // namespace

// The first byte chooses the language.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  return millrace::fuzz::TakesOrRefuses(data + 1, size - 1, [data](std::string_view text) { Read(data[0], text); });
}
