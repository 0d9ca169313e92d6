// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/quality.h"

#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"

namespace millrace {
namespace {

bool InScope(QualityScope scope, const QualityInstance& instance) {
  switch (scope) {
    case QualityScope::kAll:
      return true;
    case QualityScope::kFirstOfCell:
      return instance.number == 0;
    case QualityScope::kQuickGrid:
      return instance.quick;
  }
  return true;
}

// What the method of this name, which comes before the others, took.
std::optional<double> SecondsOf(const std::string& name, const std::vector<QualityMethod>& methods,
                                const QualityOutcomes& outcomes) {
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (methods[m].method.name == name && outcomes[m]) return outcomes[m]->seconds;
  }
  return std::nullopt;
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
    if (!methods[m].as_long_as.empty()) {
      method.budget.seconds = SecondsOf(methods[m].as_long_as, methods, outcomes);
      if (!method.budget.seconds) continue;
    }
    const Deadline clock;
    if (methods[m].adapt) method.planner = methods[m].adapt(instance);
    const double adapting = clock.Elapsed();
    const Answer answer = Ask(method, costed, stream);
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
  RunInParallel(
      static_cast<int>(instances.size()), threads,
      [&](int number) {
        const auto i = static_cast<std::size_t>(number);
        const std::uint64_t instance = instances[i].seed;
        const std::optional<QualityOutcomes> recorded = record ? record->Find(instance) : std::nullopt;
        result.outcomes[i] = recorded ? *recorded : RunInstance(instances[i], result.methods, random.Fork(instance));
        if (record && !recorded) record->Add(instance, result.outcomes[i]);
      },
      progress);
  return result;
}

}  // namespace millrace
