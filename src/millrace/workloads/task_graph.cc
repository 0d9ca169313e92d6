// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/task_graph.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/random/random.h"
#include "millrace/workloads/task_families.h"

namespace millrace {
namespace {

constexpr double kMeanSeconds = 0.5;
constexpr double kLeastFactor = 0.5;
constexpr double kMostFactor = 1.5;

enum TaskStream : std::uint64_t { kWiring, kTimes, kSizes };

struct TaskFamily {
  const char* name;
  void (*draft)(std::int64_t ops, Random& random, TaskDraft& draft);
};

// A family whose structure is left to nothing but its size.
template <void (*Draft)(std::int64_t, TaskDraft&)>
void WithoutChance(std::int64_t ops, Random& /*random*/, TaskDraft& draft) {
  Draft(ops, draft);
}

constexpr TaskFamily kFamilies[] = {
    {"fft", WithoutChance<DraftFft>}, {"gaussian_elimination", WithoutChance<DraftGaussianElimination>},
    {"lu", WithoutChance<DraftLu>},   {"montage", DraftMontage},
    {"randwire", DraftRandwire},      {"nas_cells", DraftNasCells},
    {"moe", DraftMixtureOfExperts},   {"skip_pipeline", WithoutChance<DraftSkipPipeline>},
};

}  // namespace

const std::vector<std::string>& TaskGraphNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const TaskFamily& family : kFamilies) all.emplace_back(family.name);
    return all;
  }();
  return names;
}

ComputationGraph MakeTaskGraph(std::string_view family, const TaskGraphOptions& options) {
  const auto* const found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                         [&](const TaskFamily& other) { return other.name == family; });
  if (found == std::end(kFamilies)) {
    throw InvalidInput(
        fmt::format("'{}' is no family of task graphs; there are {}", family, fmt::join(TaskGraphNames(), ", ")));
  }
  CheckDrawnCosts(options.ops, options.ccr, options.kinds, options.heterogeneity);
  const Random random(options.seed);
  Random wiring = random.Fork(kWiring);
  TaskDraft draft;
  found->draft(options.ops, wiring, draft);
  StopIfInterrupted();

  const std::vector<double> work = draft.work();
  const double mean = std::accumulate(work.begin(), work.end(), 0.0) / static_cast<double>(work.size());
  GraphData data = draft.Finish();
  data.name = fmt::format("{}-{}-ccr{}-seed{}", family, data.ops.size(), options.ccr, options.seed);
  KindFactors kinds = options.kinds;
  std::sort(kinds.begin(), kinds.end());
  Random times = random.Fork(kTimes);
  for (std::size_t i = 0; i < data.ops.size(); ++i) {
    const double seconds = work[i] / mean * kMeanSeconds * times.Uniform(kLeastFactor, kMostFactor);
    StateSeconds(seconds, kinds, options.heterogeneity, times, data.ops[i]);
  }
  Random sizes = random.Fork(kSizes);
  for (Tensor& tensor : data.tensors) tensor.bytes *= sizes.Uniform(kLeastFactor, kMostFactor);
  ScaleBytes(options.ccr, MeanStatedSeconds(data.ops), data.tensors);
  StopIfInterrupted();
  return ComputationGraph(std::move(data));
}

}  // namespace millrace
