// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/host_units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <set>

#include "millrace/errors/errors.h"

namespace millrace {

std::vector<int> AllowedProcessors() {
  std::vector<int> allowed;
  // The mask of a large host does not fit a plain cpu_set_t; the system says so, and a larger one is tried.
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t* mask = CPU_ALLOC(most);
    if (mask == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, mask);
    const bool known = sched_getaffinity(0, bytes, mask) == 0;
    for (int cpu = 0; known && cpu < most; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask)) allowed.push_back(cpu);
    }
    CPU_FREE(mask);
    if (known) return allowed;
  }
  throw WorkFailed("the operating system does not say which processors this process may use");
}

std::vector<int> UnitsOf(const Machine& machine) {
  std::set<int> units;
  for (const Device& device : machine.devices) units.insert(device.units.begin(), device.units.end());
  return {units.begin(), units.end()};
}

void CheckRunsHere(const Machine& machine) {
  const std::vector<int> allowed = AllowedProcessors();
  for (const Device& device : machine.devices) {
    for (const int unit : device.units) {
      if (std::binary_search(allowed.begin(), allowed.end(), unit)) continue;
      throw InvalidInput(fmt::format(
          "machine '{}' cannot be run on here: unit {} of device '{}' is no processor this process may use ({}); "
          "take --machine this, or a simulated target",
          machine.name, unit, device.name, fmt::join(allowed, ", ")));
    }
  }
}

}  // namespace millrace
