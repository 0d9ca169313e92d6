// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/mpi/part_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "millrace/engines/mpi/model_parts.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/machine/preset.h"
#include "millrace/runtime/group_values.h"
#include "tests/reference/random_problem.h"
#include "tests/runtime/random_model.h"

namespace millrace::mpi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Machine NumberedMachine() {
  Machine machine;
  for (const std::vector<int>& units : {std::vector<int>{0}, {1000, 1001}, {1001}, {2000}}) {
    Device device;
    device.name = "d" + std::to_string(machine.devices.size());
    device.kind = "cpu";
    device.units = units;
    device.flops_per_second = device.memory_bandwidth = 1;
    machine.devices.push_back(device);
  }
  return machine;
}

TEST(Seats, AreSaidByUnits) {
  const std::vector<Seat> seats = SeatsOf(NumberedMachine());
  ASSERT_EQ(seats.size(), 4u);
  EXPECT_EQ(seats[0].rank, 0);
  EXPECT_EQ(seats[1].rank, 1);
  EXPECT_THAT(seats[1].processors, ElementsAre(0, 1));
  EXPECT_THAT(seats[2].processors, ElementsAre(1));
  EXPECT_EQ(seats[3].rank, 2);
  EXPECT_EQ(RanksOf(seats), 3);
}

TEST(Seats, OfOtherMachinesAreAMemoryARank) {
  const std::vector<Seat> seats = SeatsOf(*MachinePreset("homogeneous:4"));
  for (int device = 0; device < 4; ++device) {
    EXPECT_EQ(seats[static_cast<std::size_t>(device)].rank, device);
    EXPECT_THAT(seats[static_cast<std::size_t>(device)].processors, ElementsAre(0));
  }
  Machine gang = NumberedMachine();
  for (Device& device : gang.devices) {
    for (int& unit : device.units) unit %= 1000;
  }
  gang.devices[1].units = {5, 7};
  gang.devices[2].units = {7};
  gang.devices[3].units = {3};
  const std::vector<Seat> shared = SeatsOf(gang);
  EXPECT_EQ(shared[1].rank, shared[2].rank);
  EXPECT_THAT(shared[1].processors, ElementsAre(0, 1));
  EXPECT_THAT(shared[2].processors, ElementsAre(1));
  EXPECT_EQ(RanksOf(shared), 3);
}

TEST(DividePlan, SendsEveryTensorOnceToEveryRankThatReadsItAndTellsEveryReader) {
  Random random(31);
  const Machine machine = NumberedMachine();
  const std::vector<Seat> seats = SeatsOf(machine);
  for (int round = 0; round < 60; ++round) {
    const Model model = testing::RandomNetwork(random, 3 + static_cast<int>(random.Below(30)));
    const ComputationGraph graph = GraphOfModel(model);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const std::vector<PartPlan> parts = PartsOfModel(model, machine, plan, 4);
    ASSERT_EQ(parts.size(), 4u);
    EXPECT_TRUE(parts[3].groups.empty());
    std::vector<int> rank_of(plan.groups.size()), position(plan.groups.size());
    for (std::size_t i = 0; i < plan.sequence.size(); ++i)
      position[static_cast<std::size_t>(plan.sequence[i])] = static_cast<int>(i);
    std::set<int> tags;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      int last = -1;
      std::set<int> made;
      for (const PartGroup& group : parts[rank].groups) {
        rank_of[static_cast<std::size_t>(group.group)] = static_cast<int>(rank);
        EXPECT_EQ(seats[static_cast<std::size_t>(plan.placement[static_cast<std::size_t>(group.group)])].rank,
                  static_cast<int>(rank));
        EXPECT_GT(position[static_cast<std::size_t>(group.group)], last);
        last = position[static_cast<std::size_t>(group.group)];
        // What it reads is made here before, arrives, or is an input.
        std::set<int> arrives;
        for (const int arrival : group.arrivals)
          arrives.insert(parts[rank].arriving[static_cast<std::size_t>(arrival)].value);
        for (const int value : GroupInputs(model, group.ops)) {
          const bool input = model.values[static_cast<std::size_t>(value)].producer < 0;
          EXPECT_EQ(arrives.count(value) + made.count(value) + (input ? 1u : 0u), 1u);
        }
        for (const int value : GroupOutputs(model, group.ops)) made.insert(value);
      }
      for (const Parcel& parcel : parts[rank].leaving) {
        EXPECT_TRUE(tags.insert(parcel.tag).second);
        EXPECT_EQ(parcel.bytes, SpecOf(model, parcel.value).bytes());
        for (const int peer : parcel.peers) {
          const auto& arriving = parts[static_cast<std::size_t>(peer)].arriving;
          EXPECT_EQ(std::count_if(arriving.begin(), arriving.end(),
                                  [&](const Parcel& other) {
                                    return other.tag == parcel.tag && other.value == parcel.value &&
                                           other.peers == std::vector<int>{static_cast<int>(rank)};
                                  }),
                    1);
        }
      }
    }
    std::size_t sent = 0, expected = 0;
    for (const PartPlan& part : parts) {
      for (const Parcel& parcel : part.leaving) sent += parcel.peers.size();
      expected += part.arriving.size();
    }
    EXPECT_EQ(sent, expected);
  }
}

TEST(DividePlan, RefusesAMachineOfMoreRanksThanThereAre) {
  Random random(32);
  const Model model = testing::RandomNetwork(random, 5);
  const Machine machine = NumberedMachine();
  EXPECT_THAT([&] { PartsOfModel(model, machine, testing::OneByOne(model), 2); },
              ThrowsMessage<InvalidInput>(HasSubstr("takes 3 ranks, and there are 2; start it with mpirun -n 3")));
}

TEST(PartPlan, PassesThroughALetter) {
  PartPlan plan;
  plan.groups = {{4, {1, 2}, {0, 1}, 0.25, {0}, {1}, {0, 1}}, {7, {}, {}, 0, {}, {}, {}}};
  plan.arriving = {{9, 100, 65, {2}}};
  plan.leaving = {{3, 7, 66, {0, 2}}, {5, 0, 67, {1}}};
  Letter letter;
  PutPart(plan, letter);
  Letter read(letter.content());
  const PartPlan same = TakePart(read);
  ASSERT_EQ(same.groups.size(), 2u);
  EXPECT_EQ(same.groups[0].group, 4);
  EXPECT_EQ(same.groups[0].ops, plan.groups[0].ops);
  EXPECT_EQ(same.groups[0].processors, plan.groups[0].processors);
  EXPECT_EQ(same.groups[0].seconds, 0.25);
  EXPECT_EQ(same.groups[0].after, plan.groups[0].after);
  EXPECT_EQ(same.groups[0].arrivals, plan.groups[0].arrivals);
  EXPECT_EQ(same.groups[0].departures, plan.groups[0].departures);
  ASSERT_EQ(same.leaving.size(), 2u);
  EXPECT_EQ(same.leaving[0].peers, plan.leaving[0].peers);
  EXPECT_EQ(same.leaving[1].tag, 67);
  EXPECT_EQ(same.arriving[0].bytes, 100u);
}

}  // namespace
}  // namespace millrace::mpi
