// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/runtime/host_units.h"
#include "tests/reference/random_problem.h"
#include "tests/reference/sanitized.h"
#include "tests/runtime/kernel_harness.h"
#include "tests/runtime/random_model.h"

namespace millrace {
namespace {

using Outputs = std::vector<std::vector<std::byte>>;

// Inputs drawn from the seed, so that every executor of one model gets the same.
void FillInputs(const Model& model, Executor& executor, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const auto tensor = testing::RandomTensor(random, model.values[static_cast<std::size_t>(model.inputs[i])].shape);
    tensor->CopyTo(executor.input(i).data());
  }
}

Outputs OutputsOf(const Model& model, Executor& executor) {
  Outputs outputs;
  for (std::size_t i = 0; i < model.outputs.size(); ++i) {
    const auto bytes = executor.output(i);
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

void ExpectAllClose(const Model& model, const Outputs& actual, const Outputs& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Value& value = model.values[static_cast<std::size_t>(model.outputs[i])];
    testing::ExpectClose(ConstantData::Dense(value.type, value.shape, actual[i]),
                         ConstantData::Dense(value.type, value.shape, expected[i]));
  }
}

class ExecutorTest : public ::testing::Test {
 protected:
  // The outputs of `runs` runs, which must be equal to the last bit.
  Outputs RunPlan(const Model& model, const Plan& plan, int runs, std::uint64_t seed = 1) {
    const Program program = CompileProgram(model, machine_, plan);
    Executor executor(program, pool_);
    FillInputs(model, executor, seed);
    EXPECT_GE(executor.Run(), 0);
    const Outputs first = OutputsOf(model, executor);
    for (int run = 1; run < runs; ++run) {
      executor.Run();
      EXPECT_EQ(OutputsOf(model, executor), first) << "run " << run << " differs from the first";
    }
    return first;
  }

  const Machine machine_ = testing::HostMachine();
  WorkerPool pool_{AllowedProcessors()};
};

TEST_F(ExecutorTest, EveryRandomPlanGivesTheResultsOfTheSequentialOne) {
  Random random(21);
  for (int round = 0; round < testing::Rounds(40); ++round) {
    const Model model = testing::RandomNetwork(random, 4 + static_cast<int>(random.Below(26)));
    const ComputationGraph graph = GraphOfModel(model);
    const Outputs expected = RunPlan(model, testing::OneByOne(model), 2);
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Plan plan = testing::RandomPlan(random, graph, machine_, testing::RandomGroups(random, graph));
      ExpectAllClose(model, RunPlan(model, plan, 3), expected);
    }
  }
}

TEST_F(ExecutorTest, ManyRunsInARowAllGiveTheSame) {
  Random random(22);
  for (int round = 0; round < 3; ++round) {
    const Model model = testing::RandomNetwork(random, 30);
    const ComputationGraph graph = GraphOfModel(model);
    const Plan plan = testing::RandomPlan(random, graph, machine_, testing::RandomGroups(random, graph));
    RunPlan(model, plan, testing::Rounds(500));
  }
}

TEST_F(ExecutorTest, NewInputsGiveNewOutputsWithoutTracesOfTheOld) {
  Random random(23);
  const Model model = testing::RandomNetwork(random, 25);
  const ComputationGraph graph = GraphOfModel(model);
  const Plan plan = testing::RandomPlan(random, graph, machine_, testing::RandomGroups(random, graph));
  const Program program = CompileProgram(model, machine_, plan);
  Executor executor(program, pool_);
  std::vector<Outputs> first_time;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    FillInputs(model, executor, seed);
    executor.Run();
    first_time.push_back(OutputsOf(model, executor));
  }
  EXPECT_NE(first_time[0], first_time[1]);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    FillInputs(model, executor, seed);
    executor.Run();
    EXPECT_EQ(OutputsOf(model, executor), first_time[seed]);
  }
}

TEST_F(ExecutorTest, InputsAndConstantsMayBeOutputs) {
  Random random(24);
  testing::ModelMaker maker;
  const int input = maker.Input({2, 3});
  const auto constant = testing::RandomTensor(random, {4});
  const int held = maker.Constant(constant);
  const int made = maker.Node("Relu", {input}, {2, 3});
  maker.Node("Sigmoid", {made}, {2, 3});  // read by nobody
  for (const int output : {input, held, made, held, input}) maker.Output(output);
  const Outputs outputs = RunPlan(maker.model(), testing::OneByOne(maker.model()), 2, 5);
  Random same(5);
  std::vector<std::byte> expected(24);
  testing::RandomTensor(same, {2, 3})->CopyTo(expected.data());
  EXPECT_EQ(outputs[0], expected);
  EXPECT_EQ(outputs[4], expected);
  EXPECT_EQ(outputs[1], constant->stored());
  EXPECT_EQ(outputs[3], constant->stored());
  EXPECT_NE(outputs[2], expected);
}

TEST_F(ExecutorTest, AModelWithoutNodesRuns) {
  testing::ModelMaker maker;
  maker.Output(maker.Input({3}));
  EXPECT_EQ(RunPlan(maker.model(), Plan(), 2)[0].size(), 12u);
}

TEST_F(ExecutorTest, ATracedRunTellsWhenEachStepRanInAnOrderThatItsInputsAllow) {
  Random random(25);
  const Model model = testing::RandomNetwork(random, 30);
  const ComputationGraph graph = GraphOfModel(model);
  const Plan plan = testing::RandomPlan(random, graph, machine_, testing::RandomGroups(random, graph));
  const Program program = CompileProgram(model, machine_, plan);
  Executor executor(program, pool_);
  std::vector<StepTime> times;
  executor.RunTraced(&times);
  std::vector<double> start(program.steps.size(), 1e9), finish(program.steps.size(), 0);
  std::size_t parts = 0;
  for (const ProgramStep& step : program.steps) parts += step.workers.size();
  EXPECT_EQ(times.size(), parts);
  for (const StepTime& time : times) {
    EXPECT_LE(0, time.start);
    EXPECT_LE(time.start, time.finish);
    EXPECT_EQ(time.group, program.steps[static_cast<std::size_t>(time.step)].group);
    start[static_cast<std::size_t>(time.step)] = std::min(start[static_cast<std::size_t>(time.step)], time.start);
    finish[static_cast<std::size_t>(time.step)] = std::max(finish[static_cast<std::size_t>(time.step)], time.finish);
  }
  for (std::size_t later = 0; later < program.steps.size(); ++later) {
    for (std::size_t earlier = 0; earlier < program.steps.size(); ++earlier) {
      for (const int buffer : program.steps[earlier].outputs) {
        const std::vector<int>& read = program.steps[later].inputs;
        // Counters of two processors may differ by some ticks.
        if (std::find(read.begin(), read.end(), buffer) == read.end()) continue;
        EXPECT_LE(finish[earlier], start[later] + 1e-6);
      }
    }
  }
}

TEST_F(ExecutorTest, RefusesAPoolThatLacksAProcessorOfThePlan) {
  if (AllowedProcessors().size() < 2) GTEST_SKIP() << "needs two processors";
  testing::ModelMaker maker;
  maker.Output(maker.Node("Relu", {maker.Input({2})}, {2}));
  Plan plan = testing::OneByOne(maker.model());
  plan.placement = {1};
  const Program program = CompileProgram(maker.model(), machine_, plan);
  WorkerPool first_only({machine_.devices.front().units.front()});
  EXPECT_THROW(Executor(program, first_only), InvalidInput);
}

}  // namespace
}  // namespace millrace
