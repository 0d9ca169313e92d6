// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality.h"

#include <chrono>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/parallel_tasks.h"

namespace millrace {
namespace {

bool InScope(QualityScope scope, const QualityInstance& instance) {
  switch (scope) {
    case QualityScope::kAll:
      return true;
    case QualityScope::kFirstOfCell:
      return instance.number == 0;
    case QualityScope::kQuickGrid:
      return InQuickGrid(instance);
  }
  return true;
}

QualityOutcomes RunInstance(const QualityInstance& instance, const std::vector<QualityMethod>& methods,
                            const Random& random) {
  const CostedGraph costed = MakeQualityProblem(instance);
  QualityOutcomes outcomes(methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    StopIfInterrupted();
    if (!InScope(methods[m].scope, instance)) continue;
    Random stream = random.Fork(m);
    Method method = methods[m].method;
    const auto start = std::chrono::steady_clock::now();
    if (methods[m].adapt) method.source = methods[m].adapt(instance);
    const double adapting = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Answer answer = Ask(method, costed, costed, stream);
    if (answer.plans.empty()) throw WorkFailed("method " + method.name + " offered no plan");
    outcomes[m] = QualityOutcome{answer.plans.front().makespan, adapting + answer.seconds};
  }
  return outcomes;
}

}  // namespace

QualityResult RunQuality(const std::vector<QualityInstance>& instances, std::vector<QualityMethod> methods, int threads,
                         std::uint64_t seed, const std::function<void(int, int)>& progress, QualityRecord* record) {
  QualityResult result;
  result.methods = std::move(methods);
  result.instances = instances;
  result.outcomes.resize(instances.size());
  const Random random(seed);
  RunTasks(
      instances.size(), threads,
      [&](std::size_t i) {
        const std::uint64_t instance = instances[i].seed;
        const std::optional<QualityOutcomes> recorded = record ? record->Find(instance) : std::nullopt;
        result.outcomes[i] = recorded ? *recorded : RunInstance(instances[i], result.methods, random.Fork(instance));
        if (record && !recorded) record->Add(instance, result.outcomes[i]);
      },
      progress);
  return result;
}

}  // namespace millrace
