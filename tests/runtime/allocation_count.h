// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Counts what this test program takes from the heap through operator new, on any thread.
namespace millrace::testing {

// False under the sanitizers, which bring their own operator new.
bool CountsAllocations();

std::uint64_t AllocationsSoFar();

}  // namespace millrace::testing
