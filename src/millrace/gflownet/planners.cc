// SPDX-License-Identifier: Apache-2.0
#include "millrace/gflownet/planners.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/gflownet/sampling/beam.h"
#include "millrace/gflownet/sampling/sampling_planner.h"
#include "millrace/gflownet/sampling/window_resampling.h"
#include "millrace/heuristics/start.h"
#include "millrace/network/model_file.h"
#include "millrace/planning/chained_planner.h"
#include "millrace/search/local_search_planner.h"

namespace millrace {
namespace {

constexpr char kShipped[] = "gflownet.safetensors";
constexpr char kShippedExact[] = "gflownet-exact.safetensors";
constexpr char kExact[] = "exact";  // what people call them

// What a reward temperature does to the shipped weights by themselves is uneven: where transfers are dear, plans drawn
// hotter are often better. So the temperature that is asked for turns the softmax temperature, which every graph
// follows, and the network is asked at one temperature, at which its plans are good on all graphs.
// Plans that differ as much as plans can do not differ more when they are drawn flatter, and only become longer; so the
// softmax temperature rises less where the temperature asked for is high. Source: trials on the tuning families
// (docs/results/gflownet.md).
constexpr double kNetworkTemperature = 0.02;
constexpr double kLowestTemperature = 0.004;
constexpr double kFlatnessAtLowest = 0.6;
constexpr double kHighTemperature = 0.046;  // from about here on flatness rises less
const std::vector<double> kUsualTemperatures = {0.004, 0.0068};

// How much flatter than usual plans are drawn at this reward temperature.
double FlatnessAt(double temperature) {
  const double low = temperature / kLowestTemperature;
  const double high = temperature / kHighTemperature;
  return kFlatnessAtLowest * low * low / (1 + high * high);
}

// Of a search's time; plans that were looked ahead for are so good that more of them gain less than changes do.
constexpr double kSearchSampleShare = 0.08;

struct Loaded {
  std::shared_ptr<const Policy> policy;
  TemperatureRange temperatures;
  bool proportional = false;  // trained to draw in proportion to the reward, and asked for that
};

// At what a policy draws: the network's own temperatures, and how much flatter than usual each time.
struct Levels {
  std::vector<double> network;
  std::vector<double> flatter;
};

using SharedPolicy = std::shared_future<Loaded>;

Loaded Read(const std::string& path) {
  const Weights weights = ReadWeights(path);
  try {
    // A network that reads the whole state at every step is there to be exact.
    const auto encodes = weights.metadata.find("encodes");
    const bool proportional = encodes != weights.metadata.end() && encodes->second == "state";
    return {MakeLearnedPolicy(weights), TrainedTemperatures(weights), proportional};
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
                         .usual = fmt::format("{}", fmt::join(kUsualTemperatures, ",")),
                         .several = true},
                        {.name = "softmax-temperature",
                         .meaning = "how flat choices are drawn: 1 as the policy says, above 1 flatter",
                         .least = 1e-3,
                         .most = 1e3,
                         .usual = "0.7, less on large graphs"}}};
  }

  Levels LevelsOf(const PlannerSettings& settings) const {
    const Loaded& loaded = policy.get();
    const TemperatureRange& range = loaded.temperatures;
    const bool asked = settings.values().contains("temperature");
    if (loaded.proportional && !asked) return {{std::sqrt(range.lowest * range.highest)}, {}};
    const bool by_network = loaded.proportional || settings.values().contains("softmax-temperature");
    Levels levels{
        settings.Several("temperature", by_network ? SamplingPlannerOptions().reward_temperatures : kUsualTemperatures),
        {}};
    if (asked || by_network) CheckTemperatures(levels.network, range);
    if (by_network) return levels;
    for (double& temperature : levels.network) {
      levels.flatter.push_back(FlatnessAt(temperature));
      temperature = std::clamp(kNetworkTemperature, range.lowest, range.highest);
    }
    return levels;
  }

  SoftmaxTemperature Softmax(const PlannerSettings& settings) const {
    const bool given = settings.values().contains("softmax-temperature");
    if (!given && !policy.get().proportional) return {};
    return {.most = settings.One("softmax-temperature", 1), .power = 0, .ccr_power = 0};
  }

  std::unique_ptr<Planner> Sampling(const PlannerTraits& traits, const PlannerSettings& settings) const {
    SamplingPlannerOptions options;
    options.threads = threads;
    const Levels levels = LevelsOf(settings);
    options.reward_temperatures = levels.network;
    options.flatter = levels.flatter;
    options.softmax_temperature = Softmax(settings);
    options.greedy = !policy.get().proportional;
    // Whoever names a temperature asks for what is drawn at that one.
    options.flatter_on_repeats = options.greedy && !settings.values().contains("temperature");
    return MakeSamplingPlanner(traits, policy.get().policy, options);
  }

  std::unique_ptr<Planner> Beam(const PlannerTraits& traits, const PlannerSettings& settings) const {
    BeamOptions options;
    options.reward_temperature = LevelsOf(settings).network.front();
    return MakeBeam(traits, policy.get().policy, options);
  }

  std::unique_ptr<Planner> Resampling(const PlannerTraits& traits, const PlannerSettings& settings) const {
    WindowResamplingOptions options;
    options.threads = threads;
    const Levels levels = LevelsOf(settings);
    options.reward_temperatures = levels.network;
    options.flatter = levels.flatter;
    options.softmax_temperature = Softmax(settings);
    return MakeWindowResampling(traits, Sampling(traits, settings), policy.get().policy, options);
  }

  std::unique_ptr<Planner> Search(const PlannerTraits& traits, const PlannerSettings& settings) const {
    LocalSearchPlannerOptions options;
    if (const int chains = static_cast<int>(settings.One("chains", 1)); chains > 1) {
      // Plans for their variety: windows would make them alike, and so would a choice of the best.
      options.samples = chains;
      options.starts = chains;
      options.most_rounds = 0;
      return MakeLocalSearchPlanner(traits, Sampling(traits, settings), options);
    }
    options.sample_share = kSearchSampleShare;
    return MakeLocalSearchPlanner(traits, MakeChainedPlanner("starts", {MakeStart(), Resampling(traits, settings)}),
                                  options);
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
  search.goes_on = search.in_pool;
  search.options.push_back({.name = "chains",
                            .meaning = "1: on from the best; more: so many drawn plans, each improved by itself",
                            .least = 1,
                            .most = 1000,
                            .usual = "1",
                            .whole = true});
  search.pool_share = 2;
  search.seconds_per_visit = 1e-6;  // what its search takes when drawing was late
  add(search, &Family::Search);
  PlannerTraits beam = family.Traits("+beam", "beam search by a policy's likeliest choices, judged by list scheduling");
  beam.options.clear();  // it draws nothing
  // At equal time a pool gains nothing by it that drawn plans and the search from them do not find.
  beam.in_pool = false;
  add(beam, &Family::Beam);
  PlannerTraits resampling = family.Traits("+resampling", "drawn plans, then windows of the best drawn anew");
  // Its plans are too similar for a pool, and the search offers them, too.
  resampling.in_pool = false;
  add(resampling, &Family::Resampling);
}

}  // namespace

std::string GFlowNetWeightsFile(const std::string& named) {
  if (named.empty()) return FindModelFile(kShipped);
  return named == kExact ? FindModelFile(kShippedExact) : named;
}

std::shared_ptr<const Policy> UntrainedGFlowNetPolicy() {
  Random random(0);
  Weights weights = InitialMessagePassingWeights(random);
  LookAhead(weights);
  return MakeMessagePassingPolicy(weights);
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
