// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/method.h"

#include <chrono>
#include <utility>

#include "millrace/optimize/different.h"

namespace millrace {
namespace {

// Of how many plans, for each that goes on, the different ones are picked.
constexpr std::size_t kPickedFrom = 50;

}  // namespace

Answer Ask(const Method& method, const CostedGraph& shown, const CostedGraph& judged, Random& random) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t most = method.least_distance > 0 ? kPickedFrom * method.keep : method.keep;
  BestOf best = RunSourceShown(*method.source, shown, judged, method.budget, random, most);
  Answer answer;
  answer.offered = best.offered;
  answer.plans = method.least_distance > 0
                     ? SelectDifferent(judged, std::move(best.kept), method.keep, method.least_distance)
                     : std::move(best.kept);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

}  // namespace millrace
