// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/families.h"

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/task_graph.h"

namespace millrace {
namespace {

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> NamedBy(const std::string& word) {
  if (word == "tune") return TuningFamilies();
  if (word == "judge") return JudgingFamilies();
  if (word == "random") return RandomFamilyNames();
  if (Holds(TaskGraphNames(), word) || Holds(RandomFamilyNames(), word)) return {word};
  std::string all = "tune, judge, random";
  for (const auto* names : {&TaskGraphNames(), &RandomFamilyNames()}) {
    for (const std::string& name : *names) all += ", " + name;
  }
  throw InvalidInput("there is no family '" + word + "'; there are: " + all);
}

}  // namespace

const std::vector<std::string>& TuningFamilies() {
  static const std::vector<std::string> names = {"fft", "lu", "nas_cells", "moe"};
  return names;
}

const std::vector<std::string>& JudgingFamilies() {
  static const std::vector<std::string> names = {"gaussian_elimination", "montage", "randwire", "skip_pipeline"};
  return names;
}

std::vector<std::string> FamiliesOf(const std::vector<std::string>& words) {
  std::vector<std::string> families;
  for (const std::string& word : words) {
    for (const std::string& name : NamedBy(word)) {
      if (!Holds(families, name)) families.push_back(name);
    }
  }
  return families;
}

std::string UseOfFamily(const std::string& family) { return Holds(JudgingFamilies(), family) ? "judges" : "tunes"; }

}  // namespace millrace
