// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/planners.h"

#include <fmt/core.h>

#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/gflownet/sampling/window_resampling.h"
#include "millrace/heuristics/start.h"
#include "millrace/network/model_file.h"
#include "millrace/planning/chained_planner.h"
#include "millrace/search/local_search_planner.h"

namespace millrace {
namespace {

constexpr char kShipped[] = "gflownet.safetensors";

struct Loaded {
  std::shared_ptr<const Policy> policy;
  TemperatureRange temperatures;
};

using SharedPolicy = std::shared_future<Loaded>;

Loaded Read(const std::string& path) {
  const Weights weights = ReadWeights(path);
  try {
    return {MakeLearnedPolicy(weights), TrainedTemperatures(weights)};
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
}

void CheckTemperatures(const std::vector<double>& temperatures, const TemperatureRange& trained) {
  for (const double temperature : temperatures) {
    if (temperature >= trained.lowest && temperature <= trained.highest) continue;
    throw InvalidInput(fmt::format(
        "the reward temperature {:g} is not among those that the weights were trained at: take {:g} to {:g}",
        temperature, trained.lowest, trained.highest));
  }
}

// A policy under a name, with all that its planners have in common.
struct Family {
  std::string name;     // "gflownet"
  std::string weights;  // what the weights are, for people
  SharedPolicy policy;
  std::function<bool()> available;
  int threads = 1;
  bool trained = true;

  PlannerTraits Traits(const std::string& suffix, const std::string& meaning) const {
    return {.name = name + suffix,
            .meaning = meaning + weights,
            .takes_samples = true,
            .learned = trained,
            .usual_samples = 100,
            .in_pool = trained,
            .seconds_per_visit = 3e-6,
            .options = {{.name = "temperature",
                         .meaning = "reward temperatures to draw at: lower for better, higher for more varied plans",
                         .least = 1e-300,
                         .most = 1e300,
                         .usual = "0.01,0.04",
                         .several = true}}};
  }

  std::vector<double> Temperatures(const PlannerSettings& settings) const {
    const std::vector<double> usual = SamplingPlannerOptions().reward_temperatures;
    std::vector<double> temperatures = settings.Several("temperature", usual);
    if (temperatures != usual) CheckTemperatures(temperatures, policy.get().temperatures);
    return temperatures;
  }

  std::unique_ptr<Planner> Sampling(const PlannerTraits& traits, const PlannerSettings& settings) const {
    SamplingPlannerOptions options;
    options.threads = threads;
    options.reward_temperatures = Temperatures(settings);
    return MakeSamplingPlanner(traits, policy.get().policy, options);
  }

  std::unique_ptr<Planner> Resampling(const PlannerTraits& traits, const PlannerSettings& settings) const {
    WindowResamplingOptions options;
    options.threads = threads;
    options.reward_temperatures = Temperatures(settings);
    return MakeWindowResampling(traits, Sampling(traits, settings), policy.get().policy, options);
  }

  std::unique_ptr<Planner> Search(const PlannerTraits& traits, const PlannerSettings& settings) const {
    return MakeLocalSearchPlanner(traits, MakeChainedPlanner("starts", {MakeStart(), Resampling(traits, settings)}),
                                  {});
  }
};

using MakeOfFamily = std::unique_ptr<Planner> (Family::*)(const PlannerTraits&, const PlannerSettings&) const;

void AddFamily(PlannerRegistry& registry, const Family& family) {
  const auto add = [&](const PlannerTraits& traits, MakeOfFamily make) {
    registry.Add({traits,
                  [family, make](const PlannerTraits& own, const PlannerSettings& settings) {
                    return (family.*make)(own, settings);
                  },
                  family.available});
  };
  add(family.Traits("", "plans drawn step by step by a learned policy"), &Family::Sampling);
  PlannerTraits search = family.Traits("+search", "local search from drawn plans and the best heuristic one");
  search.takes_iterations = true;
  search.pool_share = 2;
  search.seconds_per_visit = 1e-6;  // what its search takes when drawing was late
  add(search, &Family::Search);
  PlannerTraits resampling = family.Traits("+resampling", "drawn plans, then windows of the best drawn anew");
  // Its plans are too similar for a pool, and the search offers them, too.
  resampling.in_pool = false;
  add(resampling, &Family::Resampling);
}

}  // namespace

std::string GFlowNetWeightsFile(const std::string& named) { return named.empty() ? FindModelFile(kShipped) : named; }

std::shared_ptr<const Policy> UntrainedGFlowNetPolicy() {
  Random random(0);
  return MakeMessagePassingPolicy(InitialMessagePassingWeights(random));
}

void AddGFlowNetPlanners(PlannerRegistry& registry, const std::string& weights, int threads) {
  const auto read = [weights] { return Read(GFlowNetWeightsFile(weights)); };
  AddFamily(registry, {.name = "gflownet",
                       .weights = "",
                       .policy = std::async(std::launch::deferred, read).share(),
                       .available = [weights] { return !weights.empty() || LookForModelFile(kShipped).has_value(); },
                       .threads = threads});
  AddFamily(registry, {.name = "gflownet-untrained",
                       .weights = ", with the weights that training starts from",
                       .policy = std::async(std::launch::deferred,
                                            [] {
                                              return Loaded{UntrainedGFlowNetPolicy(), {}};
                                            })
                                     .share(),
                       .available = nullptr,
                       .threads = threads,
                       .trained = false});
}

}  // namespace millrace
