// SPDX-License-Identifier: Apache-2.0
#include "millrace/rollout/one_shot_source.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/rollout/parallel.h"

namespace millrace {
namespace {

// Plans between two looks at the clock, per thread; each holds a graph of its own.
constexpr std::int64_t kBatchPerThread = 4;

// Decodes on several threads and offers in order.
void DecodeAll(const OneShotDecoder& decoder, const std::vector<const Decisions*>& decisions, int threads,
               const std::function<void(OneShotPlan)>& offer) {
  std::vector<OneShotPlan> plans(decisions.size());
  RunInParallel(static_cast<int>(plans.size()), threads, [&](int i) {
    StopIfInterrupted();
    plans[static_cast<std::size_t>(i)] = decoder.Decode(*decisions[static_cast<std::size_t>(i)]);
  });
  for (OneShotPlan& plan : plans) offer(std::move(plan));
}

OneShotPlan EmptyPlan(const CostModel& model) {
  OneShotPlan plan;
  plan.costed = std::make_shared<const CostedGraph>(MakeCostedGraph(model, {}));
  return plan;
}

}  // namespace

void OneShotSource::Propose(const CostModel& model, const SourceBudget& budget, const Random& random,
                            const std::function<void(OneShotPlan)>& offer) const {
  if (model.graph().num_ops() == 0) {
    offer(EmptyPlan(model));
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const OneShotProblem problem(model);
  const OneShotDecoder decoder(problem);
  const PreparedOneShot prepared = policy_->Prepare(problem, LoopOf(options_.threads));
  OneShotOptions drawing;
  drawing.iterations = options_.iterations;
  drawing.threads = options_.threads;

  // Every iteration of a draw is a plan of its own: decoding costs little beside deciding.
  std::int64_t left = std::max<std::int64_t>(1, budget.samples);
  const auto decode = [&](const std::vector<OneShotDraw>& draws) {
    std::vector<const Decisions*> decisions;
    for (const OneShotDraw& draw : draws) {
      for (auto y = draw.iterations.rbegin(); y != draw.iterations.rend() && left > 0; ++y, --left)
        decisions.push_back(&*y);
    }
    DecodeAll(decoder, decisions, options_.threads, offer);
  };
  const double begin = spent();
  drawing.softmax_temperature = 0;
  decode(DrawOneShot(problem, prepared, 1, drawing, random));

  const auto levels = static_cast<std::int64_t>(options_.softmax_temperatures.size());
  const std::int64_t wanted = left / options_.iterations + (left % options_.iterations > 0 ? 1 : 0);
  std::int64_t drawn_before = 1;
  for (std::int64_t level = 0; level < levels; ++level) {
    const std::int64_t draws = wanted / levels + (level < wanted % levels ? 1 : 0);
    const double share = static_cast<double>(level + 1) / static_cast<double>(levels);
    drawing.softmax_temperature = options_.softmax_temperatures[static_cast<std::size_t>(level)];
    const Random stream = random.Fork(static_cast<std::uint64_t>(level));
    for (std::int64_t drawn = 0; drawn < draws;) {
      std::int64_t count = std::min(draws - drawn, kBatchPerThread * options_.threads);
      if (budget.seconds) {
        const double per_draw = (spent() - begin) / static_cast<double>(drawn_before);
        const double likely = std::max(0.0, *budget.seconds * share - spent()) / per_draw;
        if (likely < 1) break;
        count = std::min(count, static_cast<std::int64_t>(std::min(likely, 1e9)));
      }
      drawing.first = drawn;
      decode(DrawOneShot(problem, prepared, static_cast<int>(count), drawing, stream));
      drawn += count;
      drawn_before += count;
    }
  }
}

BestOneShot RunOneShot(const OneShotSource& source, const CostModel& model, const SourceBudget& budget,
                       const Random& random, std::size_t most) {
  BestOneShot best;
  source.Propose(model, budget, random, [&](OneShotPlan plan) {
    StopIfInterrupted();
    ++best.offered;
    if (!plan.fits) {
      ++best.overfull;
      return;
    }
    std::vector<OneShotPlan>& kept = best.kept;
    if (most == 0 || (kept.size() == most && kept.back().makespan <= plan.makespan)) return;
    const auto at =
        std::upper_bound(kept.begin(), kept.end(), plan.makespan,
                         [](double makespan, const OneShotPlan& other) { return makespan < other.makespan; });
    for (auto same = at; same != kept.begin() && std::prev(same)->makespan == plan.makespan; --same) {
      if (std::prev(same)->assignment == plan.assignment && std::prev(same)->costed->groups == plan.costed->groups)
        return;
    }
    kept.insert(at, std::move(plan));
    if (kept.size() > most) kept.pop_back();
  });
  return best;
}

}  // namespace millrace
