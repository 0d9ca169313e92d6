// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_import.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/plan/hash.h"
#include "millrace/plan/verify.h"
#include "tests/formats/onnx_sample.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/slow_simulator.h"

namespace millrace::testing {
namespace {

PlanRecord RandomRecord(Random& random, const Model& model) {
  const ComputationGraph graph = GraphOfModel(model);
  PlanRecord record;
  record.machine = RandomMachine(random);
  record.plan = RandomPlan(random, graph, record.machine, RandomGroups(random, graph));
  record.graph_name = graph.name();
  record.graph_hash = GraphHash(graph);
  record.method = "random";
  record.seed = 12;
  record.proxy_seconds = 0.25;
  return record;
}

TEST(OnnxPlan, ComesBackValidAndWithTheSameTimeline) {
  Random random(21);
  for (int trial = 0; trial < 25; ++trial) {
    const Model model = RandomModel(random, 1 + static_cast<int>(random.Below(20)));
    const PlanRecord record = RandomRecord(random, model);
    const SlowTimeline before = SlowSimulate(GraphOfModel(model), record.machine, record.plan);

    const Model read = Reread(WithPlan(model, record));
    const std::optional<PlanRecord> extracted = PlanOf(read);
    ASSERT_TRUE(extracted.has_value());
    const ComputationGraph graph = GraphOfModel(read);
    EXPECT_EQ(WhyNotValid(graph, extracted->machine, extracted->plan), std::nullopt);
    EXPECT_EQ(extracted->graph_hash, GraphHash(graph));
    EXPECT_EQ(extracted->method, "random");
    EXPECT_EQ(extracted->seed, 12u);
    EXPECT_EQ(MachineHash(extracted->machine), MachineHash(record.machine));
    EXPECT_EQ(extracted->plan.placement, record.plan.placement);
    EXPECT_EQ(extracted->plan.sequence, record.plan.sequence);
    const SlowTimeline after = SlowSimulate(graph, extracted->machine, extracted->plan);
    EXPECT_EQ(after.start, before.start);
    EXPECT_EQ(after.finish, before.finish);
    EXPECT_EQ(after.peak_memory_bytes, before.peak_memory_bytes);
  }
}

TEST(OnnxPlan, PutsTheNodesInThePlansOrderAndSaysWhereTheyRun) {
  const Model model = Import(SmallNetwork().message);
  PlanRecord record;
  record.machine.devices = {Device{"first", "cpu", {0}, 1e9, 1e9, std::nullopt, 0},
                            Device{"second", "cpu", {1}, 1e9, 1e9, std::nullopt, 0}};
  record.plan.groups = {{2}, {3}, {0, 1}};
  record.plan.placement = {0, 1, 1};
  record.plan.sequence = {2, 0, 1};
  const Model planned = WithPlan(model, record);
  EXPECT_EQ(planned.metadata.at("millrace.placement"),
            "conv -> second, group 2\nrelu -> second, group 2\nFlatten_2 -> first, group 0\ngemm -> second, group 1\n");
  EXPECT_EQ(PlanOf(planned)->plan.groups, (FusionGroups{{2}, {3}, {0, 1}}));
}

TEST(OnnxPlan, IsNoneWhereTheModelCarriesNone) { EXPECT_EQ(PlanOf(Import(SmallNetwork().message)), std::nullopt); }

TEST(OnnxPlan, RefusesAPlanThatIsNotValidForTheModel) {
  const Model model = Import(SmallNetwork().message);
  PlanRecord record;
  record.machine.devices = {Device{"only", "cpu", {0}, 1e9, 1e9, std::nullopt, 0}};
  record.plan = {{{0}, {1}, {2}, {3}}, {0, 0, 0, 0}, {3, 2, 1, 0}};
  EXPECT_THROW(WithPlan(model, record), InvalidInput);
}

TEST(OnnxPlan, RefusesAModelThatWasChangedSince) {
  Random random(4);
  const Model model = Import(SmallNetwork().message);
  Model planned = WithPlan(model, RandomRecord(random, model));
  planned.nodes[1].op_type = "Tanh";
  EXPECT_THROW(PlanOf(planned), InvalidInput);
  planned = model;
  planned.metadata["millrace.plan"] = "garbage";
  EXPECT_THROW(PlanOf(planned), InvalidInput);
}

}  // namespace
}  // namespace millrace::testing
