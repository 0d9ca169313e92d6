// SPDX-License-Identifier: Apache-2.0
// The smallest program that uses the library: plan_a_model MODEL.onnx prints how fast the best plan for this host is
// and where it puts each op.
#include <cstdio>
#include <exception>

#include "millrace/formats/load.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/optimize.h"
#include "millrace/optimize/planners.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: plan_a_model MODEL.onnx\n");
    return 2;
  }
  try {
    const millrace::LoadedGraph loaded = millrace::LoadGraph(argv[1]);
    millrace::OptimizeOptions options;
    options.quick = true;
    const millrace::OptimizeResult result =
        millrace::Optimize(loaded, millrace::DetectHost(), millrace::MakePlannerRegistry(), options, nullptr);
    std::printf("%.6f s by %s\n", result.best.target_seconds.value_or(0), result.best.method.c_str());
    const millrace::Plan& plan = result.best.plan;
    for (const int group : plan.sequence) {
      const auto at = static_cast<std::size_t>(group);
      const auto device = static_cast<std::size_t>(plan.placement[at]);
      for (const millrace::OpId op : plan.groups[at]) {
        std::printf("%s on %s\n", result.graph.op(op).name.c_str(), result.machine.devices[device].name.c_str());
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plan_a_model: %s\n", error.what());
    return 1;
  }
  return 0;
}
