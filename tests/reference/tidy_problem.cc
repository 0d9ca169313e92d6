// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/tidy_problem.h"

#include <string>
#include <vector>

#include "millrace/workloads/random_graph.h"

namespace millrace::testing {

ComputationGraph TidyGraph(Random& random, int ops) {
  const std::vector<std::string>& families = RandomFamilyNames();
  RandomGraphOptions options;
  options.ops = ops;
  options.seed = random.Next();
  return MakeRandomGraph(families[random.Below(families.size())], options);
}

Machine EqualMachine(int devices) {
  Machine machine;
  for (int d = 0; d < devices; ++d) {
    Device device;
    device.name = "device" + std::to_string(d);
    device.kind = "cpu";
    device.units = {d};
    device.flops_per_second = device.memory_bandwidth = 1e9;
    machine.devices.push_back(device);
  }
  machine.default_link = DefaultLink{1e-3, 1e9};
  return machine;
}

}  // namespace millrace::testing
