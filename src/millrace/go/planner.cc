// SPDX-License-Identifier: Apache-2.0
#include "millrace/go/planner.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "millrace/errors/interrupt.h"
#include "millrace/go/decoder.h"
#include "millrace/go/guided_search.h"
#include "millrace/go/network.h"
#include "millrace/go/sampler.h"
#include "millrace/network/model_file.h"
#include "millrace/planning/deadline.h"
#include "millrace/planning/parallel.h"
#include "millrace/search/anneal.h"
#include "millrace/search/anneal_fusion.h"
#include "millrace/search/fuse_for_plan.h"

namespace millrace {
namespace {

constexpr char kShipped[] = "go.safetensors";
constexpr char kShippedMoves[] = "go-moves.safetensors";

using SharedPolicy = std::shared_future<std::shared_ptr<const GoPolicy>>;

// Shares of a time limit, where a search comes after: of draws, and until when the policy guides the search.
constexpr double kDrawsShare = 0.1;
constexpr double kGuidedUntil = 0.4;
constexpr double kGuidedAtMostUntil = 0.8;

// Without one: changes that annealing tries, and groups and edges that all of them may look at together.
constexpr std::int64_t kChanges = 30'000;
constexpr std::int64_t kVisits = 200'000'000;
constexpr std::int64_t kFewestChanges = 1000;  // fewer are of no use

// Of the plans asked for, those that the search makes.
constexpr std::int64_t kSearchedPlans = 1;

// Null where they did not come with this build.
std::shared_ptr<const GoPolicy> ReadMoves(const std::string& named) {
  const std::optional<std::string> file = named.empty() ? LookForModelFile(kShippedMoves) : named;
  return file ? std::make_shared<const GoPolicy>(ReadGoPolicy(*file)) : nullptr;
}

// Draws between two looks at the clock, per thread. It is small because every plan holds a graph of its own.
constexpr std::int64_t kBatchPerThread = 4;

// Decodes on several threads and offers in order.
void DecodeAll(const GoDecoder& decoder, const std::vector<const Decisions*>& decisions, int threads,
               const std::function<void(const Decisions&, DecodedPlan)>& offer) {
  std::vector<DecodedPlan> plans(decisions.size());
  RunInParallel(static_cast<int>(plans.size()), threads, [&](int i) {
    StopIfInterrupted();
    plans[static_cast<std::size_t>(i)] = decoder.Decode(*decisions[static_cast<std::size_t>(i)]);
  });
  for (std::size_t i = 0; i < plans.size(); ++i) offer(*decisions[i], std::move(plans[i]));
}

// The fastest of the plan and of those that annealing goes on to. Moves of blocks change placements alone; a plan is
// its order and its groups, too. Groups that nobody has timed stay out where others are timed: what they take is a
// guess.
DecodedPlan AnnealOn(const PlanningProblem& problem, DecodedPlan plan, const Budget& budget, Random& random) {
  const CostModel& model = problem.proxy();
  const bool guessed = !model.graph().group_seconds().empty();
  const bool time = !budget.seconds || TimeToOpenFusion(*plan.costed, *budget.seconds);
  const bool open = problem.fusion_open() && !guessed && time;
  DecodedPlan best = plan;
  const Offer keep = [&](ProposedPlan found) {
    if (found.costed == nullptr) found.costed = plan.costed;
    const double makespan = SecondsIfItFits(*found.costed, found.assignment);
    if (makespan >= best.makespan) return;
    best.costed = std::move(found.costed);
    best.assignment = std::move(found.assignment);
    best.priorities.clear();
    best.makespan = makespan;
  };
  if (open) {
    MakeAnnealingFusion()->Propose(PlanningProblem(model).WithStart(*plan.costed, plan.assignment), budget, random,
                                   keep);
  } else {
    MakeAnnealing()->Propose(PlanningProblem(model, *plan.costed).WithStart(plan.assignment), budget, random, keep);
  }
  return best;
}

class GoPlanner final : public Planner {
 public:
  GoPlanner(PlannerTraits traits, std::shared_ptr<const GoPolicy> policy, std::shared_ptr<const GoPolicy> moves,
            GoPlannerOptions options)
      : Planner(std::move(traits)),
        policy_(std::move(policy)),
        moves_(std::move(moves)),
        options_(std::move(options)) {}

  std::int64_t SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const override;
  void Propose(const PlanningProblem& problem, const Budget& budget, Random& random, const Offer& offer) const override;

 private:
  std::shared_ptr<const GoPolicy> policy_;
  std::shared_ptr<const GoPolicy> moves_;  // null: none
  GoPlannerOptions options_;
};

// Large graphs get fewer samples: each one runs a network over all ops, several times.
std::int64_t GoPlanner::SamplesFor(const PlanningProblem& problem, std::int64_t wanted) const {
  constexpr std::int64_t kOps = 200'000;
  constexpr std::int64_t kFewest = 4;
  const std::int64_t ops = std::max<std::int64_t>(1, problem.proxy().graph().num_ops());
  return std::clamp<std::int64_t>(kOps / ops, kFewest, std::max(kFewest, wanted));
}

void GoPlanner::Propose(const PlanningProblem& asked, const Budget& budget, Random& random, const Offer& offer) const {
  const CostModel& model = asked.proxy();
  const bool fusion_open = asked.fusion_open();
  if (model.graph().num_ops() == 0) {
    offer({Assignment{}, fusion_open ? std::make_shared<const CostedGraph>(MakeCostedGraph(model, {})) : nullptr});
    return;
  }
  const Deadline deadline(budget.seconds);
  const GoProblem problem(model);
  const std::unique_ptr<const GoDecoder> decoder = fusion_open
                                                       ? std::make_unique<const GoDecoder>(problem)
                                                       : std::make_unique<const GoDecoder>(problem, asked.costed());
  GoDrawOptions tasks;
  tasks.tasks[static_cast<std::size_t>(Task::kFusion)] = fusion_open;
  Budget rest = budget;
  const bool moves =
      moves_ != nullptr && options_.looks > 0 && problem.num_devices() > 1 && budget.samples > kSearchedPlans;
  if (moves) rest.samples -= kSearchedPlans;
  if (rest.seconds) rest.seconds = (moves ? kDrawsShare : 1) * deadline.Left();
  const std::function<void(DecodedPlan)> offer_plan = [&](DecodedPlan plan) {
    offer({std::move(plan.assignment), fusion_open ? std::move(plan.costed) : nullptr});
  };
  std::optional<DecodedPlan> best;
  DrawGoPlans(*decoder, *policy_, options_, tasks, rest, random, [&](const Decisions&, DecodedPlan plan) {
    if (plan.fits && (!best || plan.makespan < best->makespan)) best = plan;
    offer_plan(std::move(plan));
  });
  if (!moves || deadline.Passed()) return;
  GuidedSearchOptions search{
      .looks = options_.looks, .moves_temperature = options_.moves_temperature, .threads = options_.threads};
  if (budget.seconds) {
    search.seconds = std::max(0.0, kGuidedUntil * *budget.seconds - deadline.Elapsed());
    search.most_seconds = std::max(0.0, kGuidedAtMostUntil * *budget.seconds - deadline.Elapsed());
  }
  DecodedPlan found = SearchGuided(*decoder, *moves_, search, best, random);
  Budget annealing;
  if (budget.seconds) {
    annealing.seconds = deadline.Left();
  } else {
    annealing.iterations = std::min(kChanges, kVisits / std::max<std::int64_t>(1, found.costed->Visits()));
  }
  const bool time = annealing.seconds ? *annealing.seconds > 0 : *annealing.iterations >= kFewestChanges;
  offer_plan(found.fits && time ? AnnealOn(asked, std::move(found), annealing, random) : std::move(found));
}

}  // namespace

void DrawGoPlans(const GoDecoder& decoder, const GoPolicy& policy, const GoPlannerOptions& options,
                 const GoDrawOptions& tasks, const Budget& budget, Random& random,
                 const std::function<void(const Decisions&, DecodedPlan)>& offer) {
  const Deadline deadline(budget.seconds);
  const GoProblem& problem = decoder.problem();
  const PreparedGoPolicy prepared = policy.Prepare(problem, LoopOf(options.threads));
  GoDrawOptions drawing = tasks;
  drawing.iterations = options.iterations;
  drawing.threads = options.threads;

  // Every iteration of a draw gives a plan: decoding costs little beside deciding.
  std::int64_t left = std::max<std::int64_t>(1, budget.samples);
  const auto decode = [&](const std::vector<GoDraw>& draws) {
    std::vector<const Decisions*> decisions;
    for (const GoDraw& draw : draws) {
      for (auto y = draw.iterations.rbegin(); y != draw.iterations.rend() && left > 0; ++y, --left)
        decisions.push_back(&*y);
    }
    DecodeAll(decoder, decisions, options.threads, offer);
  };
  const double begin = deadline.Elapsed();
  drawing.softmax_temperature = 0;
  if (budget.seconds) drawing.seconds = std::max(0.0, *budget.seconds - begin);
  decode(DrawGo(problem, prepared, 1, drawing, random));

  const auto levels = static_cast<std::int64_t>(options.softmax_temperatures.size());
  const std::int64_t wanted = left / options.iterations + (left % options.iterations > 0 ? 1 : 0);
  std::int64_t drawn_before = 1;
  for (std::int64_t level = 0; level < levels; ++level) {
    const std::int64_t draws = wanted / levels + (level < wanted % levels ? 1 : 0);
    const double share = static_cast<double>(level + 1) / static_cast<double>(levels);
    drawing.softmax_temperature = options.softmax_temperatures[static_cast<std::size_t>(level)];
    const Random stream = random.Fork(static_cast<std::uint64_t>(level));
    for (std::int64_t drawn = 0; drawn < draws;) {
      std::int64_t count = std::min(draws - drawn, kBatchPerThread * options.threads);
      if (budget.seconds) {
        const double per_draw = (deadline.Elapsed() - begin) / static_cast<double>(drawn_before);
        const double likely = std::max(0.0, *budget.seconds * share - deadline.Elapsed()) / per_draw;
        if (likely < 1) break;
        count = std::min(count, static_cast<std::int64_t>(std::min(likely, 1e9)));
      }
      drawing.first = drawn;
      decode(DrawGo(problem, prepared, static_cast<int>(count), drawing, stream));
      drawn += count;
      drawn_before += count;
    }
  }
}

std::unique_ptr<Planner> MakeGoPlanner(PlannerTraits traits, std::shared_ptr<const GoPolicy> policy,
                                       std::shared_ptr<const GoPolicy> moves, const GoPlannerOptions& options) {
  return std::make_unique<GoPlanner>(std::move(traits), std::move(policy), std::move(moves), options);
}

std::string GoWeightsFile(const std::string& named) { return named.empty() ? FindModelFile(kShipped) : named; }

std::shared_ptr<const GoPolicy> UntrainedGoPolicy() {
  Random random(0);
  return std::make_shared<const GoPolicy>(InitialGoWeights(random));
}

std::shared_ptr<const GoPolicy> UntrainedMoves() {
  Random random(0);
  return std::make_shared<const GoPolicy>(InitialGoMoveWeights(random));
}

void AddGoPlanners(PlannerRegistry& registry, const std::string& weights, const std::string& moves, int threads) {
  const auto add = [&](PlannerTraits traits, const SharedPolicy& policy, const SharedPolicy& mover,
                       std::function<bool()> available) {
    traits.takes_samples = true;
    traits.chooses_fusion = true;
    traits.learned = traits.in_pool;
    traits.usual_samples = 100;
    traits.seconds_per_visit = 3e-6;
    traits.pool_share = 2.5;
    traits.options = {
        {.name = "softmax-temperature",
         .meaning = "how evenly it draws, with as many draws at each",
         .least = 1e-3,
         .most = 100,
         .usual = "0.1,0.5",
         .several = true},
        {.name = "draw-iterations",
         .meaning = "how often a draw is decided anew, each time a plan",
         .least = 1,
         .most = 100,
         .usual = "3",
         .whole = true},
        {.name = "looks",
         .meaning = "how often the policy looks at the plan that a search has come to, to say which moves "
                    "of blocks it tries next",
         .least = 0,
         .most = 10'000,
         .usual = "160",
         .whole = true},
        {.name = "moves-temperature",
         .meaning = "how evenly the moves tried are drawn; 0: the likeliest first",
         .least = 0,
         .most = 100,
         .usual = "0.15"}};
    registry.Add({std::move(traits),
                  [policy, mover, threads](const PlannerTraits& own, const PlannerSettings& settings) {
                    GoPlannerOptions options;
                    options.threads = threads;
                    options.iterations = static_cast<int>(settings.One("draw-iterations", options.iterations));
                    options.softmax_temperatures =
                        settings.Several("softmax-temperature", options.softmax_temperatures);
                    options.looks = static_cast<int>(settings.One("looks", options.looks));
                    options.moves_temperature = settings.One("moves-temperature", options.moves_temperature);
                    return MakeGoPlanner(own, policy.get(), mover.get(), options);
                  },
                  std::move(available)});
  };
  const auto read = [weights] { return std::make_shared<const GoPolicy>(ReadGoPolicy(GoWeightsFile(weights))); };
  add({.name = "go", .meaning = "GO's policy: a whole graph decided at once"},
      std::async(std::launch::deferred, read).share(), std::async(std::launch::deferred, ReadMoves, moves).share(),
      [weights] { return !weights.empty() || LookForModelFile(kShipped).has_value(); });
  add({.name = "go-untrained", .meaning = "go with the weights that training starts from", .in_pool = false},
      std::async(std::launch::deferred, UntrainedGoPolicy).share(),
      std::async(std::launch::deferred, UntrainedMoves).share(), nullptr);
}

}  // namespace millrace
