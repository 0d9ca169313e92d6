// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/formats/model_graph.h"
#include "millrace/go/decoder.h"
#include "millrace/go/sampler.h"
#include "millrace/machine/preset.h"
#include "millrace/optimize/optimize.h"
#include "millrace/optimize/planners.h"
#include "millrace/optimize/pool.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/training_graph.h"
#include "tests/reference/sanitized.h"

// What every method plans for twenty fixed problems, as one number for each method: the numbers say at a glance whether
// a change of the code changes plans. Seconds, bytes.
//
// A number is 64-bit FNV-1a over groups, placements and sequences in the order they are offered, and so over integers
// alone. Makespans and logits stay out: the learned methods' float32 sums differ in their last bits from one
// instruction set to another. Plans depend on them only where a draw falls that close to its bound, and none of these
// does: the table is the same for g++ -O3 and clang -O1 with sanitizers, and with the networks' loops for plain x86-64,
// AVX2 and AVX-512; with g++ -O1 the weights of `gflownet` meet one. A mismatch of learned methods alone, on one kind
// of processor or build alone, may be such a draw.
namespace millrace {
namespace {

using Signature = std::uint64_t;
using Signatures = std::vector<std::pair<std::string, Signature>>;

// A commit that changes plans says so and changes this table.
const Signatures kExpected = {
    {"sequential", 0x257f62caad01142f},
    {"random", 0x2bb3558611a3c3c0},
    {"list", 0x4dd84bb33e355089},
    {"heft", 0xecc39c2cc3d296cf},
    {"heft-append", 0xb21dcd7e14907cce},
    {"weighted-heft", 0x3c08134b3f35d9e5},
    {"forward-backward", 0x4f8d96f40749ee76},
    {"cpop", 0xf53fab07434ea4a8},
    {"peft", 0xd869acafe3e5216f},
    {"etf", 0x5e00ed03c623cecb},
    {"dls", 0x418ea59a953ec88f},
    {"minmin", 0x1c255451545e744d},
    {"maxmin", 0x4d326f48337b09cc},
    {"randomised-list", 0x85526877ee9ec8c5},
    {"metis", 0xd96c41264e27d40e},
    {"expert", 0x5f34b9104758d9ce},
    {"layer-cuts", 0xa63338adc39a714d},
    {"placements", 0x23aab5fda9543ec4},
    {"brkga", 0xbd0ce8591479c3a3},
    {"anneal", 0x55d124eab15d1ce8},
    {"anneal-plain", 0x92c7874e3ba70eea},
    {"anneal+fusion", 0xd4ea1695cb19d76d},
    {"anneal+fusion for given groups", 0x55d124eab15d1ce8},
    {"exact", 0xa47191ccbe97de1c},
    {"gflownet", 0xff95ee683112a6e0},
    {"gflownet+search", 0x683522e854053fd6},
    {"gflownet+beam", 0x7d4a3e0f4145de45},
    {"gflownet+resampling", 0xf684e33d5ea7267d},
    {"gflownet-untrained", 0x38f5daa39865e900},
    {"gflownet-untrained+search", 0x232ab13c2d06b132},
    {"gflownet-untrained+beam", 0xa012a2cedc311766},
    {"gflownet-untrained+resampling", 0x4893f3e85ab0aea2},
    {"go", 0xe367e07ce786280a},
    {"go for given groups", 0x9d0fb740891a0d80},
    {"go-untrained", 0xcd568756b934ced2},
    {"go-untrained for given groups", 0xdfc9dbc5c2afe065},
    {"go without placement", 0xbc61681f87d4b396},
    {"go without priority", 0x02a4244ce7a49149},
    {"go without fusion", 0x710395d06e460aa5},
    {"pool", 0xe8d5b2f4873143e4},
    {"optimize: shared links", 0x13425dd8f35416a4},
    {"optimize: gang", 0x4a5a2ffebe0104a3},
    {"optimize: colocations, layers, fusion", 0x3c3a01b821ad6e87},
};

struct Problem {
  std::string name;
  ComputationGraph graph;
  Machine machine;
};

// ---- Problems

RandomGraphOptions Sized(std::int64_t ops, double ccr, std::uint64_t seed) {
  RandomGraphOptions options;
  options.ops = ops;
  options.ccr = ccr;
  options.seed = seed;
  return options;
}

// Seconds that differ by kind of device.
RandomGraphOptions Unlike(RandomGraphOptions options) {
  options.kinds = {{"big", 0.5}, {"little", 1.5}, {"odd", 1}};
  return options;
}

// Fusible types, and times of some pairs as if they had been measured.
ComputationGraph Fusible(const ComputationGraph& graph) {
  constexpr std::array kTypes = {"Conv", "Relu", "Add", "MatMul", "Sigmoid"};
  GraphData data = graph.data();
  for (std::size_t i = 0; i < data.ops.size(); ++i) data.ops[i].type = kTypes[i % kTypes.size()];
  for (const Tensor& tensor : data.tensors) {
    if (tensor.producer < 0 || tensor.consumers.size() != 1) continue;
    StatedSeconds seconds;
    seconds.everywhere = 0.25 * static_cast<double>(1 + tensor.producer % 5);
    data.group_seconds.push_back({{tensor.producer, tensor.consumers.front()}, seconds});
  }
  return ComputationGraph(std::move(data));
}

ComputationGraph Colocated(const ComputationGraph& graph) {
  GraphData data = graph.data();
  for (std::size_t i = 0; i < data.ops.size(); ++i) {
    if (i % 4 == 1) data.ops[i].colocate = "shard" + std::to_string(i % 5);
  }
  return ComputationGraph(std::move(data));
}

ComputationGraph Layered(const ComputationGraph& graph) {
  GraphData data = graph.data();
  for (std::size_t i = 0; i < data.ops.size(); ++i) data.ops[i].layer = static_cast<int>(i * 6 / data.ops.size());
  return ComputationGraph(std::move(data));
}

ComputationGraph Weighty(const ComputationGraph& graph) {
  GraphData data = graph.data();
  for (std::size_t i = 0; i < data.ops.size(); ++i)
    data.ops[i].weight_bytes = 1e8 * static_cast<double>(1 + i * 7 % 11);
  return ComputationGraph(std::move(data));
}

Machine Preset(std::string_view words) { return MachinePreset(words).value(); }

// Devices of one unit and these kinds, joined by links of 1e9 bytes/s.
Machine OfKinds(const std::vector<std::string>& kinds) {
  Machine machine = Preset("homogeneous:" + std::to_string(kinds.size()) + ",latency=1e-3,bandwidth=1e9");
  for (std::size_t i = 0; i < kinds.size(); ++i) machine.devices[i].kind = kinds[i];
  return machine;
}

// Links of its own for every pair; some share a bus, and the way back is slower.
Machine SharedLinks(int devices) {
  Machine machine = Preset("homogeneous:" + std::to_string(devices));
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to) continue;
      Link link{from, to, 1e-3, from < to ? 1e9 : 2.5e8, std::nullopt};
      if ((from + to) % 3 != 0) link.channel = (from + to) % 3;
      machine.links.push_back(link);
    }
  }
  return machine;
}

// The last device owns the units of all others and is faster than any of them.
Machine WithGang(int singles) {
  Machine machine = Preset("homogeneous:" + std::to_string(singles) + ",latency=1e-2,bandwidth=1e9");
  for (Device& device : machine.devices) device.kind = "big";
  Device gang = machine.devices.front();
  gang.name = "gang";
  gang.kind = "odd";
  gang.units.clear();
  for (const Device& device : machine.devices) gang.units.push_back(device.units.front());
  machine.devices.push_back(gang);
  return machine;
}

Machine WithMemory(Machine machine, double bytes) {
  for (std::size_t i = 0; i < machine.devices.size(); ++i)
    machine.devices[i].memory_bytes = bytes * (1 + 0.25 * static_cast<double>(i));
  return machine;
}

ComputationGraph SmallInception() {
  ModelOptions options;
  options.draw_weights = false;
  options.width = 0.25;
  options.image = 96;
  return GraphOfModel(MakeModel("inception_v3", options));
}

ComputationGraph SmallTraining() {
  ModelOptions options;
  options.draw_weights = false;
  options.layers = 2;
  options.hidden = 16;
  options.sequence = 3;
  options.vocabulary = 50;
  options.batch = 2;
  return TrainingGraphOf(MakeModel("rnnlm", options));
}

std::vector<Problem> MakeProblems() {
  const auto random = [](std::string_view family, const RandomGraphOptions& options) {
    return MakeRandomGraph(family, options);
  };
  const Machine two = Preset("homogeneous:2,latency=1e-3,bandwidth=1e9");
  const Machine four = Preset("homogeneous:4,latency=1e-3,bandwidth=1e9");
  const Machine slow_start = Preset("homogeneous:3,latency=0.5,bandwidth=1e10");
  std::vector<Problem> problems;
  const auto add = [&problems](std::string name, ComputationGraph graph, Machine machine) {
    problems.push_back({std::move(name), std::move(graph), std::move(machine)});
  };
  add("five ops, free transfers", random("layered", Sized(5, 0, 1)), Preset("homogeneous:2"));
  add("twelve ops", random("layered", Sized(12, 1, 2)), two);
  add("Erdos-Renyi", random("er", Sized(20, 0.1, 3)), four);
  add("blocks, latency", random("sbm", Sized(30, 1, 4)), slow_start);
  add("small world", random("ws", Sized(40, 5, 5)), four);
  add("hubs, dear transfers", random("ba", Sized(50, 10, 6)), Preset("homogeneous:6,latency=1e-3,bandwidth=1e9"));
  add("eighty ops, free transfers", random("layered", Sized(80, 0, 7)), Preset("homogeneous:4"));
  add("unlike devices", random("er", Unlike(Sized(60, 2, 8))), OfKinds({"big", "little", "odd"}));
  add("unlike devices, dear transfers", random("sbm", Unlike(Sized(24, 10, 9))),
      OfKinds({"little", "big", "little", "odd", "big"}));
  add("unlike devices, no bytes", random("ws", Unlike(Sized(16, 0, 10))), OfKinds({"odd", "little"}));
  add("shared links", random("ba", Sized(35, 1, 11)), SharedLinks(4));
  add("gang", Fusible(random("layered", Unlike(Sized(40, 1, 12)))), WithGang(2));
  add("gang of three", random("er", Unlike(Sized(25, 5, 13))), WithGang(3));
  add("memory", Weighty(random("layered", Sized(45, 1, 14))), WithMemory(four, 1.1e10));
  add("memory and gang", Weighty(random("ba", Unlike(Sized(30, 2, 15)))), WithMemory(WithGang(2), 3.4e10));
  add("colocations", Colocated(random("ws", Sized(48, 1, 16))), four);
  add("colocations, layers, fusion", Fusible(Layered(Colocated(random("layered", Sized(64, 2, 17))))), four);
  add("layers, shared links", Layered(random("layered", Sized(40, 2, 18))), SharedLinks(3));
  add("Inception", SmallInception(), Preset("cpu-gpu"));
  add("training of a recurrent network", SmallTraining(), Preset("p100x2"));
  return problems;
}

const std::vector<Problem>& Problems() {
  static const std::vector<Problem> problems = MakeProblems();
  return problems;
}

// ---- From a method and a problem to plans. All that follows goes through this layer.

constexpr std::int64_t kSamples = 8;
constexpr std::int64_t kIterations = 300;
constexpr int kMostGroupsOfExact = 30;  // its start alone takes 2000 changes a group

PlannerFiles ShippedWeights() {
  return {.gflownet_weights = MILLRACE_SHIPPED_MODELS "/gflownet.safetensors",
          .go_weights = MILLRACE_SHIPPED_MODELS "/go.safetensors",
          .go_moves_weights = MILLRACE_SHIPPED_MODELS "/go-moves.safetensors"};
}

const PlannerRegistry& PlannersOfSignatures() {
  static const PlannerRegistry planners = MakePlannerRegistry(ShippedWeights());
  return planners;
}

Budget SmallBudget() {
  Budget budget;
  budget.samples = kSamples;
  budget.iterations = kIterations;
  return budget;
}

using TakePlan = std::function<void(const Plan&)>;
using PlanMaker = std::function<void(const Problem&, const TakePlan&)>;

// Of every way of fusing that the pipeline knows.
PlanMaker MakerForGivenGroups(std::shared_ptr<const Planner> planner) {
  return [planner](const Problem& problem, const TakePlan& take) {
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(problem.graph, problem.machine);
    for (FusionOption& option : FusionOptions(*model)) {
      const CostedGraph costed = MakeCostedGraph(*model, std::move(option.groups));
      if (planner->name() == "exact" && costed.num_groups > kMostGroupsOfExact) continue;
      Random random(1);
      planner->Propose(PlanningProblem(*model, costed), SmallBudget(), random, [&](const ProposedPlan& offered) {
        take({costed.groups, offered.assignment.placement, offered.assignment.sequence});
      });
    }
  };
}

// With fusion left to the planner.
PlanMaker MakerForOwnGroups(std::shared_ptr<const Planner> planner) {
  return [planner](const Problem& problem, const TakePlan& take) {
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(problem.graph, problem.machine);
    Random random(1);
    planner->Propose(PlanningProblem(*model), SmallBudget(), random, [&take](const ProposedPlan& offered) {
      take({offered.costed->groups, offered.assignment.placement, offered.assignment.sequence});
    });
  };
}

PlanMaker GoPlanMakerWithout(Task task) {
  const auto policy = std::make_shared<const GoPolicy>(ReadGoPolicy(ShippedWeights().go_weights));
  return [policy, task](const Problem& problem, const TakePlan& take) {
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(problem.graph, problem.machine);
    const GoProblem one_shot(*model);
    const GoDecoder decoder(one_shot);
    GoDrawOptions options;
    options.softmax_temperature = 0.5;
    options.tasks[static_cast<std::size_t>(task)] = false;
    for (const GoDraw& draw : DrawGo(one_shot, policy->Prepare(one_shot), 3, options, Random(1))) {
      for (const Decisions& decisions : draw.iterations) take(decoder.Decode(decisions).plan());
    }
  };
}

PlanMaker PoolPlanMaker() {
  return [](const Problem& problem, const TakePlan& take) {
    const std::unique_ptr<CostModel> model = MakeAnalyticCostModel(problem.graph, problem.machine);
    PoolOptions options;
    options.samples = kSamples;
    options.iterations = kIterations;
    options.random = Random(1);
    const Pool pool = MakePool(*model, PlannersOfSignatures(), FusionOptions(*model), options, {});
    for (const PoolEntry& entry : pool.entries) take(MakeCandidate(pool, entry).plan);
  };
}

PlanMaker OptimizePlanMaker() {
  return [](const Problem& problem, const TakePlan& take) {
    LoadedGraph loaded;
    loaded.graph = problem.graph;
    OptimizeOptions options;
    options.target = "sim:contention";
    options.samples = kSamples;
    options.iterations = kIterations;
    options.top_k = 12;
    options.seed = 1;
    const OptimizeResult result =
        Optimize(loaded, problem.machine, PlannersOfSignatures(), options, [](const OptimizeStep&) {});
    for (const Candidate& candidate : result.candidates) take(candidate.plan);
    take(result.best.plan);
  };
}

// ---- Signatures

class PlanHasher {
 public:
  void Take(const Plan& plan) {
    Mix(plan.groups.size());
    for (const std::vector<OpId>& group : plan.groups) MixAll(group);
    MixAll(plan.placement);
    MixAll(plan.sequence);
  }

  Signature signature() const { return hash_; }

 private:
  void MixAll(const std::vector<std::int32_t>& numbers) {
    Mix(numbers.size());
    for (const std::int32_t number : numbers) Mix(static_cast<std::uint64_t>(number));
  }

  void Mix(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ ^= (number >> (8 * byte)) & 0xff;
      hash_ *= 0x100000001b3ULL;
    }
  }

  Signature hash_ = 0xcbf29ce484222325ULL;
};

Signature SignatureOf(const PlanMaker& planner, const std::vector<Problem>& problems) {
  PlanHasher hasher;
  for (const Problem& problem : problems) {
    planner(problem, [&hasher](const Plan& plan) { hasher.Take(plan); });
  }
  return hasher.signature();
}

std::string AsTable(const Signatures& signatures) {
  std::string table = "const Signatures kExpected = {\n";
  for (const auto& [name, signature] : signatures) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "0x%016llx", static_cast<unsigned long long>(signature));
    table += "    {\"" + name + "\", " + digits.data() + "},\n";
  }
  return table + "};\n";
}

TEST(Signatures, OfEveryMethodsPlansAreThoseOfTheTable) {
  if (testing::kSanitized) GTEST_SKIP() << "plans are the same, and take minutes";
  Signatures found;
  const auto add = [&found](std::string name, const PlanMaker& planner, const std::vector<Problem>& problems) {
    found.emplace_back(std::move(name), SignatureOf(planner, problems));
  };
  for (const PlannerEntry& entry : PlannersOfSignatures().entries()) {
    const std::string& name = entry.traits.name;
    const std::shared_ptr<const Planner> planner = PlannersOfSignatures().Make(name);
    if (!entry.traits.chooses_fusion) {
      add(name, MakerForGivenGroups(planner), Problems());
      continue;
    }
    add(name, MakerForOwnGroups(planner), Problems());
    add(name + " for given groups", MakerForGivenGroups(planner), Problems());
  }
  add("go without placement", GoPlanMakerWithout(Task::kPlacement), Problems());
  add("go without priority", GoPlanMakerWithout(Task::kPriority), Problems());
  add("go without fusion", GoPlanMakerWithout(Task::kFusion), Problems());
  add("pool", PoolPlanMaker(), Problems());
  for (const char* name : {"shared links", "gang", "colocations, layers, fusion"}) {
    const auto problem =
        std::find_if(Problems().begin(), Problems().end(), [name](const Problem& each) { return each.name == name; });
    add(std::string("optimize: ") + name, OptimizePlanMaker(), {*problem});
  }
  EXPECT_TRUE(found == kExpected) << "Some plans are not those that the table stands for. A commit that changes plans "
                                     "says so and changes the table to:\n"
                                  << AsTable(found);
}

TEST(Signatures, TellPlansApart) {
  const Plan plan{{{0}, {1}}, {0, 1}, {0, 1}};
  const auto signature = [](const std::vector<Plan>& plans) {
    PlanHasher hasher;
    for (const Plan& each : plans) hasher.Take(each);
    return hasher.signature();
  };
  const Plan merged{{{0, 1}}, {0}, {0}}, elsewhere{{{0}, {1}}, {1, 1}, {0, 1}}, reversed{{{0}, {1}}, {0, 1}, {1, 0}};
  for (const Plan& other : {merged, elsewhere, reversed}) {
    EXPECT_NE(signature({plan}), signature({other}));
    EXPECT_NE(signature({plan, other}), signature({other, plan}));
  }
  EXPECT_EQ(signature({plan}), signature({plan}));
}

}  // namespace
}  // namespace millrace
