// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality.h"

#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/parallel_tasks.h"

namespace millrace {
namespace {

std::vector<std::optional<QualityOutcome>> RunInstance(const QualityInstance& instance,
                                                       const std::vector<QualityMethod>& methods,
                                                       const Random& random) {
  const CostedGraph costed = MakeQualityProblem(instance);
  std::vector<std::optional<QualityOutcome>> outcomes(methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    StopIfInterrupted();
    if (methods[m].first_of_cell && instance.number != 0) continue;
    Random stream = random.Fork(m);
    const Answer answer = Ask(methods[m].method, costed, costed, stream);
    if (answer.plans.empty()) throw WorkFailed("method " + methods[m].method.name + " offered no plan");
    outcomes[m] = QualityOutcome{answer.plans.front().makespan, answer.seconds};
  }
  return outcomes;
}

}  // namespace

QualityResult RunQuality(const std::vector<QualityInstance>& instances, std::vector<QualityMethod> methods, int threads,
                         std::uint64_t seed, const std::function<void(int, int)>& progress) {
  QualityResult result;
  result.methods = std::move(methods);
  result.instances = instances;
  result.outcomes.resize(instances.size());
  const Random random(seed);
  RunTasks(
      instances.size(), threads,
      [&](std::size_t i) {
        result.outcomes[i] = RunInstance(instances[i], result.methods, random.Fork(instances[i].seed));
      },
      progress);
  return result;
}

}  // namespace millrace
