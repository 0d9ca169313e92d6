// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/border.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "millrace/runtime/executor.h"
#include "tests/runtime/kernel_harness.h"
#include "tests/runtime/random_model.h"

namespace millrace {
namespace {

// Hands over at once what it was given, whichever worker of a gang asks first, and keeps what leaves.
class HandedBorder : public Border {
 public:
  bool Await(int arrival) noexcept override {
    ++awaited;
    if (!arrives) return false;
    const std::lock_guard<std::mutex> one_at_a_time(handing_over);
    if (handed_over) return true;
    handed_over = true;
    std::memcpy(executor->arrival(static_cast<std::size_t>(arrival)).data(), given.data(), given.size());
    return true;
  }
  void Depart(int departure) noexcept override {
    const auto bytes = executor->departure(static_cast<std::size_t>(departure));
    left.assign(bytes.begin(), bytes.end());
    ++departed;
  }

  Executor* executor = nullptr;
  std::vector<std::byte> given, left;
  bool arrives = true, handed_over = false;
  std::mutex handing_over;
  std::atomic<int> awaited{0}, departed{0};
};

// input -> Relu -> a -> Sigmoid -> b -> Neg -> output, of which the part runs the Sigmoid, on all processors.
class BorderTest : public ::testing::Test {
 protected:
  BorderTest() {
    const int input = maker_.Input({64, 32});
    first_ = maker_.Node("Relu", {input}, {64, 32});
    second_ = maker_.Node("Sigmoid", {first_}, {64, 32});
    maker_.Output(maker_.Node("Neg", {second_}, {64, 32}));
    part_.groups = {{1}};
    part_.placement = {static_cast<int>(machine_.devices.size()) - 1};
    part_.sequence = {0};
    program_ = CompilePart(maker_.model(), machine_, part_, {{first_}, {second_}});
    border_.given.resize(64 * 32 * sizeof(float));
  }

  testing::ModelMaker maker_;
  const Machine machine_ = testing::HostMachine();
  int first_ = 0, second_ = 0;
  Plan part_;
  Program program_;
  HandedBorder border_;
};

TEST_F(BorderTest, APartReadsWhatArrivesAndTellsOnceThatItsTensorLeaves) {
  EXPECT_TRUE(program_.inputs.empty());
  EXPECT_TRUE(program_.outputs.empty());
  ASSERT_EQ(program_.arrivals.size(), 1u);
  ASSERT_EQ(program_.departures.size(), 1u);
  WorkerPool pool(program_.cpus);
  Executor executor(program_, pool);
  border_.executor = &executor;
  Random random(1);
  for (int run = 1; run <= 3; ++run) {
    const auto given = testing::RandomTensor(random, {64, 32});
    given->CopyTo(border_.given.data());
    border_.handed_over = false;
    executor.Run(&border_);
    EXPECT_EQ(border_.departed, run);
    const std::map<int, testing::TensorData> expected = testing::RunGroup(maker_.model(), {1}, {{first_, given}});
    testing::ExpectClose(ConstantData::Dense(DataType::kFloat32, {64, 32}, border_.left), expected.at(second_));
  }
}

TEST_F(BorderTest, APartThatWaitsInVainEndsAndSendsNothing) {
  WorkerPool pool(program_.cpus);
  Executor executor(program_, pool);
  border_.executor = &executor;
  border_.arrives = false;
  executor.Run(&border_);
  EXPECT_GT(border_.awaited, 0);
  EXPECT_EQ(border_.departed, 0);
}

}  // namespace
}  // namespace millrace
