// SPDX-License-Identifier: Apache-2.0
#include "millrace/cost/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/cost/analytic_cost.h"
#include "millrace/cost/costed_graph.h"
#include "millrace/cost/steering_request.h"
#include "millrace/errors/errors.h"
#include "tests/reference/random_steering.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// a -> b -> c, d apart from them; b and d share a device, and c runs on devices of kind "cpu" alone.
ComputationGraph FourOps() {
  GraphData data;
  for (const char* const name : {"a", "b", "c", "d"}) {
    data.ops.emplace_back();
    data.ops.back().name = name;
    data.ops.back().type = "Relu";
    data.ops.back().seconds.everywhere = 1;
  }
  data.ops[1].colocate = data.ops[3].colocate = "together";
  data.ops[2].seconds = StatedSeconds{std::nullopt, {{"cpu", 1.0}}};
  for (const OpId op : {0, 1}) {
    data.tensors.emplace_back();
    data.tensors.back().producer = op;
    data.tensors.back().consumers = {op + 1};
  }
  return ComputationGraph(std::move(data));
}

Machine CpuAndGpu() {
  Machine machine;
  machine.name = "small";
  for (const char* const kind : {"cpu", "gpu"}) {
    Device device;
    device.name = std::string(kind) + "-device";
    device.kind = kind;
    device.units = {static_cast<int>(machine.devices.size())};
    device.flops_per_second = device.memory_bandwidth = 1;
    machine.devices.push_back(device);
  }
  return machine;
}

class SteeringOfFourOps : public ::testing::Test {
 protected:
  Steering Make(const std::vector<std::string>& pins, const std::optional<KeptPlan>& kept = std::nullopt) const {
    std::vector<Pin> parsed;
    for (const std::string& words : pins) parsed.push_back(ParsePin(words));
    Steering steering = MakeSteering(graph_, machine_, parsed, kept);
    CheckSteering(*MakeAnalyticCostModel(graph_, machine_), machine_, steering);
    return steering;
  }

  KeptPlan Kept(std::vector<std::string> patterns) const {
    KeptPlan kept;
    kept.record.plan = {{{0, 1}, {2}, {3}}, {1, 0, 1}, {0, 1, 2}};
    kept.record.machine = machine_;
    kept.patterns = std::move(patterns);
    return kept;
  }

  std::string Refusal(const std::vector<std::string>& pins, const std::optional<KeptPlan>& kept = std::nullopt) const {
    try {
      Make(pins, kept);
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "";
  }

  ComputationGraph graph_ = FourOps();
  Machine machine_ = CpuAndGpu();
};

TEST_F(SteeringOfFourOps, TakesDevicesByNameAndByNumber) {
  EXPECT_THAT(Make({"a=gpu-device"}).device_of, ElementsAre(1, -1, -1, -1));
  EXPECT_THAT(Make({"a=1", "[bd]=0"}).device_of, ElementsAre(1, 0, -1, 0));
  machine_.devices[0].name = "1";
  EXPECT_THAT(Make({"a=1"}).device_of, ElementsAre(0, -1, -1, -1));
}

TEST_F(SteeringOfFourOps, SplitsAPinAtItsLastEqualsSign) {
  EXPECT_EQ(ParsePin("x=y=gpu").pattern, "x=y");
  EXPECT_EQ(ParsePin("x=y=gpu").device, "gpu");
  for (const char* const words : {"", "a", "=gpu", "a="}) EXPECT_THROW(ParsePin(words), InvalidInput) << words;
}

TEST_F(SteeringOfFourOps, IsEmptyWhereNothingIsAsked) { EXPECT_TRUE(Make({}).empty()); }

TEST_F(SteeringOfFourOps, RefusesInOneLineWhatNoPlanCanKeepTo) {
  EXPECT_THAT(Refusal({"z*=0"}), HasSubstr("no op's name matches 'z*'"));
  EXPECT_THAT(Refusal({"a=tpu"}), AllOf(HasSubstr("no device 'tpu'"), HasSubstr("cpu-device, gpu-device")));
  EXPECT_THAT(Refusal({"a=2"}), HasSubstr("no device '2'"));
  EXPECT_THAT(Refusal({"a=0", "*=1"}),
              AllOf(HasSubstr("'a' is pinned to 'cpu-device'"), HasSubstr("'gpu-device' by '*'")));
  EXPECT_THAT(Refusal({"b=0", "d=1"}), AllOf(HasSubstr("'b'"), HasSubstr("'d'"), HasSubstr("must share a device")));
  EXPECT_THAT(Refusal({"c=1"}), AllOf(HasSubstr("'c'"), HasSubstr("'gpu-device'"), HasSubstr("cannot run there")));
  EXPECT_EQ(Refusal({"a=0", "?=0"}), "");
}

TEST_F(SteeringOfFourOps, KeepsAllGroupsOfAPlanOrThoseOfTheNamedOps) {
  EXPECT_THAT(Make({}, Kept({})).kept, ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(Make({}, Kept({})).device_of, ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(Make({}, Kept({"b"})).kept, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(Make({}, Kept({"!b"})).kept, ElementsAre(ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(Make({}, Kept({"[abc]", "!c"})).device_of, ElementsAre(1, 1, -1, -1));
  EXPECT_THAT(Refusal({}, Kept({"z"})), HasSubstr("--keep-ops: no op's name matches 'z'"));
}

TEST_F(SteeringOfFourOps, FindsTheDevicesOfAKeptPlanByTheirNames) {
  KeptPlan kept = Kept({});
  std::swap(machine_.devices[0], machine_.devices[1]);
  EXPECT_THAT(Make({}, kept).device_of, ElementsAre(0, 0, 1, 0));
  machine_.devices[0].name = "other";
  EXPECT_THAT(Refusal({}, kept), HasSubstr("'gpu-device', which machine 'small' does not have"));
}

TEST_F(SteeringOfFourOps, RefusesAPinOfWhatIsKeptElsewhere) {
  EXPECT_THAT(Refusal({"a=0"}, Kept({})), AllOf(HasSubstr("--keep holds it on 'gpu-device'"), HasSubstr("--keep-ops")));
  EXPECT_EQ(Refusal({"a=1"}, Kept({})), "");
  EXPECT_EQ(Refusal({"a=0"}, Kept({"!a"})), "");
}

TEST_F(SteeringOfFourOps, ClosesAllOtherDevicesToGroupsOfPinnedOps) {
  const auto model = MakeSteeredCostModel(MakeAnalyticCostModel(graph_, machine_), Make({"a=1"}));
  EXPECT_EQ(model->GroupSeconds(std::vector<OpId>{0}, 0), kCannotRun);
  EXPECT_EQ(model->GroupSeconds(std::vector<OpId>{0, 1}, 0), kCannotRun);
  EXPECT_EQ(model->GroupSeconds(std::vector<OpId>{0, 1}, 1), 2);
  EXPECT_EQ(model->GroupSeconds(std::vector<OpId>{1}, 0), 1);
}

TEST(Steering, IsKeptByThePlanThatItWasTakenFromAndCanBeAskedForByItsGroups) {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const ComputationGraph graph = testing::RandomGraph(random);
    const Machine machine = testing::RandomMachine(random);
    const Plan plan = testing::RandomPlan(random, graph, machine, testing::RandomGroups(random, graph));
    const Steering steering = testing::RandomSteering(random, plan, *MakeAnalyticCostModel(graph, machine), machine);
    EXPECT_TRUE(Keeps(steering, plan));
    const auto model = MakeSteeredCostModel(MakeAnalyticCostModel(graph, machine), steering);
    const CostedGraph costed = MakeCostedGraph(*model, UnfusedGroups(*model));
    Plan unfused{costed.groups, {}, {}};
    for (int group = 0; group < costed.num_groups; ++group) {
      int device = 0;
      while (costed.Seconds(group, device) == kCannotRun) ++device;
      unfused.placement.push_back(device);
    }
    EXPECT_TRUE(Keeps(steering, unfused));
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
      if (steering.DeviceOf(plan.groups[group].front()) < 0 || machine.devices.size() < 2) continue;
      Plan moved = plan;
      moved.placement[group] = (moved.placement[group] + 1) % static_cast<int>(machine.devices.size());
      EXPECT_FALSE(Keeps(steering, moved));
    }
  }
}

}  // namespace
}  // namespace millrace
