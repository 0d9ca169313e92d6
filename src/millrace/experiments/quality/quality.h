// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/experiments/method.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/experiments/quality/quality_record.h"
#include "millrace/experiments/table.h"

// How good the plans of every method are, by the proxy, over the quality grid. Seconds.
namespace millrace {

// Which instances a method is run on, where all would take too long.
enum class QualityScope {
  kAll,
  kFirstOfCell,  // graphs of number 0: half of them
  kQuickGrid     // a tenth
};

struct QualityMethod {
  Method method;
  std::vector<std::string> rivals = {};  // names of methods that are held against it, having the same budget
  QualityScope scope = QualityScope::kAll;
  // Makes the planner for one instance, in place of method.planner; the seconds it takes are the method's. Called from
  // several threads.
  std::function<std::shared_ptr<const Planner>(const QualityInstance&)> adapt = {};
  // Name of a method before it: on each instance this one may take the seconds that one took there, and is left out
  // where that one is. Empty: the budget as it is.
  std::string as_long_as = {};
};

struct QualityResult {
  std::vector<QualityMethod> methods;  // the first is the reference that others are held against
  std::vector<QualityInstance> instances;
  std::vector<QualityOutcomes> outcomes;  // by instance
};

// Every method on every instance, `threads` instances at once. Methods of one instance run one after the other on one
// thread, so that at most as many are timed as there are processors if threads does not exceed these. What has no time
// limit is the same at any number of threads. `progress` is told (done, total) instances. Instances that the record, if
// one is given, has are taken from it, the others added to it. Throws Interrupted.
QualityResult RunQuality(const std::vector<QualityInstance>& instances, std::vector<QualityMethod> methods, int threads,
                         std::uint64_t seed, const std::function<void(int, int)>& progress,
                         QualityRecord* record = nullptr);

// "overall": a row per method: its budget, how many times faster than the reference (geometric mean), the share of the
// gap from the reference to the best known plan that is closed (mean, median and pooled, over instances where there is
// one), worst ratio, seconds. "duels": against rivals. "by ops", "by devices", "by ccr", "by family". "instances":
// every makespan, for programs. Best known: the best of all methods run.
std::vector<Table> QualityTables(const QualityResult& result);

}  // namespace millrace
