// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "millrace/engines/mpi/model_parts.h"
#include "millrace/engines/mpi/rank_machine.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/runtime/executor.h"
#include "tests/engines/mpi/team.h"
#include "tests/reference/random_problem.h"
#include "tests/runtime/kernel_harness.h"
#include "tests/runtime/random_model.h"

namespace millrace::mpi {
namespace {

using ::testing::HasSubstr;
using testing::Team;
using ::testing::ThrowsMessage;
using Contents = std::vector<std::vector<std::byte>>;

Contents RandomInputs(Random& random, const Model& model) {
  Contents inputs;
  for (const int input : model.inputs) {
    const auto tensor = testing::RandomTensor(random, model.values[static_cast<std::size_t>(input)].shape);
    inputs.emplace_back(tensor->bytes());
    tensor->CopyTo(inputs.back().data());
  }
  return inputs;
}

Contents RunInOneProcess(const Model& model, const Contents& inputs) {
  const Machine machine = testing::HostMachine();
  const Program program = CompileProgram(model, machine, testing::OneByOne(model));
  WorkerPool pool(program.cpus);
  Executor executor(program, pool);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::copy(inputs[i].begin(), inputs[i].end(), executor.input(i).begin());
  executor.Run();
  Contents outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    outputs.emplace_back(executor.output(i).begin(), executor.output(i).end());
  return outputs;
}

void ExpectSame(const Model& model, const Contents& actual, const Contents& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Value& value = model.values[static_cast<std::size_t>(model.outputs[i])];
    testing::ExpectClose(ConstantData::Dense(value.type, value.shape, actual[i]),
                         ConstantData::Dense(value.type, value.shape, expected[i]));
  }
}

TEST(Ranked, EveryRandomPlanComputesWhatOneProcessComputes) {
  Random random(41);
  for (int round = 0; round < 6; ++round) {
    const Model model = testing::RandomNetwork(random, 4 + static_cast<int>(random.Below(26)));
    const ComputationGraph graph = GraphOfModel(model);
    const int size = 2 + static_cast<int>(random.Below(3));
    RankSkills skills;
    skills.model = &model;
    Team team(size, skills);
    team.Assemble();
    const Machine machine = MachineOfRanks(team.leader->members());
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
      const int number = team.leader->Load(PartsOfModel(model, machine, plan, size), PartKind::kModelChecked);
      for (int run = 0; run < 3; ++run) {
        const Contents inputs = RandomInputs(random, model);
        for (std::size_t i = 0; i < inputs.size(); ++i) team.leader->Write(number, model.inputs[i], inputs[i]);
        EXPECT_GE(team.leader->Run(number), 0);
        ExpectSame(model, OutputsOf(*team.leader, number, model, machine, plan, inputs),
                   RunInOneProcess(model, inputs));
      }
      if (attempt == 1) team.leader->Unload(number);
    }
    team.Close();
    for (const std::string& trouble : team.trouble) EXPECT_EQ(trouble, "");
  }
}

TEST(Ranked, PlansOfOneModelMayBeRunInTurn) {
  Random random(42);
  const Model model = testing::RandomNetwork(random, 20);
  const ComputationGraph graph = GraphOfModel(model);
  RankSkills skills;
  skills.model = &model;
  Team team(3, skills);
  team.Assemble();
  const Machine machine = MachineOfRanks(team.leader->members());
  const Contents inputs = RandomInputs(random, model);
  const Contents expected = RunInOneProcess(model, inputs);
  std::vector<Plan> plans;
  std::vector<int> numbers;
  for (int i = 0; i < 3; ++i) {
    plans.push_back(testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph)));
    numbers.push_back(team.leader->Load(PartsOfModel(model, machine, plans.back(), 3), PartKind::kModel));
    for (std::size_t input = 0; input < inputs.size(); ++input)
      team.leader->Write(numbers.back(), model.inputs[input], inputs[input]);
  }
  for (int run = 0; run < 30; ++run) team.leader->Run(numbers[random.Below(3)]);
  for (std::size_t i = 0; i < 3; ++i)
    ExpectSame(model, OutputsOf(*team.leader, numbers[i], model, machine, plans[i], inputs), expected);
}

TEST(Ranked, AnEmulatedPlanTakesNoLessThanItsChainsOfGroups) {
  Team team(3, RankSkills());
  team.Assemble();
  // 0 -> 1 -> 2, a rank each, with a megabyte between; rank 0 does another group meanwhile.
  Plan plan;
  plan.groups = {{0}, {1}, {2}, {3}};
  plan.placement = {0, 1, 2, 0};
  plan.sequence = {0, 3, 1, 2};
  const std::vector<Seat> seats = {{0, {0}}, {1, {0}}, {2, {0}}};
  const std::vector<MadeTensor> tensors = {{0, 1 << 20, 0, {1}}, {1, 1 << 20, 1, {2}}};
  const std::vector<double> seconds = {0.004, 0.003, 0.005, 0.002};
  const int number = team.leader->Load(DividePlan(plan, seats, 3, tensors, seconds), PartKind::kEmulated);
  for (int run = 0; run < 5; ++run) {
    // The last rank begins no more than it waits for the others' start, so the chain shows in what it takes.
    EXPECT_GE(team.leader->Run(number), 0.005);
  }
}

TEST(Ranked, AnEmulatedGangKeepsItsProcessorsForItself) {
  Team team(1, RankSkills());
  team.Assemble();
  Plan plan;
  plan.groups = {{0}, {1}, {2}, {3}};
  plan.placement = {0, 1, 2, 0};
  plan.sequence = {0, 1, 2, 3};
  const std::vector<Seat> seats = {{0, {0}}, {0, {1}}, {0, {0, 1}}};
  const std::vector<double> seconds = {0.002, 0.006, 0.004, 0.003};
  const int number = team.leader->Load(DividePlan(plan, seats, 1, {}, seconds), PartKind::kEmulated);
  EXPECT_GE(team.leader->Run(number), 0.013);  // the gang waits for the longer one, the last for the gang
}

TEST(Ranked, OfOtherBuildsOrModelsAreRefusedInOneLineAndAllGoHome) {
  for (const auto& [what, change] : std::vector<std::pair<std::string, std::function<void(RankFacts&)>>>{
           {"rank 2 on there is newer, and rank 0 is build", [](RankFacts& facts) { facts.build = "newer"; }},
           {"rank 2 on there has read another model", [](RankFacts& facts) { facts.model = "other"; }},
           {"rank 2 on there: m.onnx: no such file",
            [](RankFacts& facts) { facts.failure = "m.onnx: no such file"; }}}) {
    Team team(4, RankSkills(), [&change = change](int rank, RankFacts& facts) {
      if (rank != 2) return;
      facts.host = "there";
      change(facts);
    });
    EXPECT_THAT([&] { team.Assemble(); }, ThrowsMessage<InvalidInput>(HasSubstr(what)));
    team.Close();
    for (const std::string& trouble : team.trouble) EXPECT_EQ(trouble, "");
  }
}

TEST(Ranked, GoHomeWhenRankZeroGivesUpBeforeItHasGatheredThem) {
  Team team(3, RankSkills());
  team.Close();
  for (const std::string& trouble : team.trouble) EXPECT_EQ(trouble, "");
}

TEST(Ranked, EndTheRunWhenOneOfThemDies) {
  Team team(3, RankSkills(), [](int, RankFacts&) {}, {0.02, 0.5});
  team.Assemble();
  team.postmen[1]->ReportTrouble("killed");  // rank 2 says nothing from here on
  Plan plan;
  plan.groups = {{0}, {1}};
  plan.placement = {0, 2};
  plan.sequence = {0, 1};
  const std::vector<Seat> seats = {{0, {0}}, {1, {0}}, {2, {0}}};
  const auto parts = DividePlan(plan, seats, 3, {{0, 100, 0, {1}}}, {0.001, 0.001});
  EXPECT_THAT(
      [&] {
        const int number = team.leader->Load(parts, PartKind::kEmulated);
        for (int run = 0; run < 1000; ++run) team.leader->Run(number);
      },
      ThrowsMessage<WorkFailed>(HasSubstr("rank 2 has given no sign of life")));
  EXPECT_TRUE(team.leader->InTrouble());
  team.Close();
  EXPECT_THAT(team.trouble[1], HasSubstr("rank 0 has given no sign of life"));
}

TEST(Ranked, SayWhichOfThemCannotTakeItsPart) {
  Random random(43);
  const Model model = testing::RandomNetwork(random, 8);
  RankSkills skills;
  skills.model = &model;
  Team team(2, skills);
  team.Assemble();
  Machine machine = MachineOfRanks(team.leader->members());
  machine.devices[1].units = {1000, 1063};
  Plan plan = testing::OneByOne(model);
  std::fill(plan.placement.begin(), plan.placement.end(), 1);
  const auto parts = PartsOfModel(model, machine, plan, 2);
  EXPECT_THAT([&] { team.leader->Load(parts, PartKind::kModel); },
              ThrowsMessage<InvalidInput>(::testing::AllOf(HasSubstr("rank 1 on "), HasSubstr("processor 63"))));
  // The others are still there for another plan.
  std::fill(plan.placement.begin(), plan.placement.end(), 0);
  EXPECT_GE(team.leader->Run(team.leader->Load(PartsOfModel(model, machine, plan, 2), PartKind::kModel)), 0);
}

TEST(Members, ShareTheProcessorsOfAMachineOut) {
  std::vector<RankFacts> facts(5);
  for (RankFacts& own : facts) own.host = "a";
  for (const std::size_t rank : {0, 1, 2}) facts[rank].cpus = {0, 1, 2, 3, 4, 5, 6};
  facts[3].cpus = {8};
  facts[4].host = "b";
  facts[4].cpus = {0, 1};
  const std::vector<Member> members = MembersOf(facts);
  EXPECT_EQ(members[0].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(members[1].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(members[2].cpus, (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(members[3].cpus, (std::vector<int>{8}));
  EXPECT_EQ(members[4].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(members[0].ranks_of_host, 4);
  EXPECT_EQ(members[4].ranks_of_host, 1);
  for (const Member& member : members) EXPECT_FALSE(member.shares_cpu);

  std::vector<RankFacts> many(3);
  for (RankFacts& own : many) own.cpus = {4, 6};
  const std::vector<Member> crowded = MembersOf(many);
  EXPECT_EQ(crowded[0].cpus, std::vector<int>{4});
  EXPECT_EQ(crowded[1].cpus, std::vector<int>{6});
  EXPECT_EQ(crowded[2].cpus, std::vector<int>{4});
  for (const Member& member : crowded) EXPECT_TRUE(member.shares_cpu);
}

TEST(RankMachine, HasADeviceARankAndAKindForEverySortOfProcessor) {
  std::vector<RankFacts> facts(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    facts[rank].host = std::string(1, static_cast<char>('a' + rank));
    facts[rank].processor = rank == 1 ? "other" : "usual";
    facts[rank].cpus = rank == 2 ? std::vector<int>{0} : std::vector<int>{0, 1};
    facts[rank].flops_per_second = 1e9;
    facts[rank].memory_bandwidth = facts[rank].most_bandwidth = 1e10;
    facts[rank].memory_bytes = 1e9;
  }
  const Machine machine = MachineOfRanks(MembersOf(facts));
  CheckMachine(machine);
  ASSERT_EQ(machine.devices.size(), 3u);
  EXPECT_EQ(machine.devices[0].kind, "cpu_x2");
  EXPECT_EQ(machine.devices[1].kind, "cpu_x2_b");
  EXPECT_EQ(machine.devices[2].kind, "cpu");
  EXPECT_EQ(machine.devices[1].units, (std::vector<int>{1000, 1001}));
  EXPECT_EQ(machine.devices[0].flops_per_second, 2e9);
  EXPECT_EQ(machine.devices[0].memory_bandwidth, 1e10);
}

TEST(RankMachine, FitsLatencyAndBandwidth) {
  std::vector<double> bytes, seconds;
  for (const double size : {1.0, 1e3, 1e5, 1e7}) {
    bytes.push_back(size);
    seconds.push_back(2 * 5e-5 + size / 1e8);
  }
  const Link link = FitLink(bytes, seconds);
  EXPECT_NEAR(link.latency_seconds, 5e-5, 1e-9);
  EXPECT_NEAR(link.bandwidth, 1e8, 1);
  // A line through the origin where the measurements would have it start below.
  const Link proportional = FitLink({100, 200}, {1, 2.5});
  EXPECT_EQ(proportional.latency_seconds, 0);
  EXPECT_GT(proportional.bandwidth, 0);
  // What is let through at once does not count as rate: 64 kB here, of 1.2e8 bytes/s.
  const Link shaped = FitLink({1, 4e3, 3.2e4, 8e6}, {1.2e-4, 1.25e-4, 1.3e-4, 1.2e-4 + (8e6 - 6.4e4) / 1.2e8});
  EXPECT_NEAR(shaped.bandwidth, 1.2e8, 2e6);
  EXPECT_NEAR(shaped.latency_seconds, 6e-5, 1e-6);
}

TEST(RankMachine, GetsMeasuredLinksBetweenAllRanksAndNoneWithinOne) {
  Team team(3, RankSkills());
  team.Assemble();
  Machine machine = MachineOfRanks(team.leader->members());
  Device more = machine.devices[1];
  more.name = "more";
  more.units = {1001};
  machine.devices.push_back(more);
  MeasureLinks(*team.leader, machine, 0.2);
  CheckMachine(machine);
  EXPECT_EQ(machine.sharing, Sharing::kFair);
  EXPECT_EQ(machine.links.size(), 10u);  // twelve ordered pairs without the two within rank 1
  for (const Link& link : machine.links) {
    EXPECT_TRUE(link.channel.has_value());
    EXPECT_FALSE(link.from == 1 && link.to == 3);
    EXPECT_GE(link.latency_seconds, 0);
  }
}

}  // namespace
}  // namespace millrace::mpi
