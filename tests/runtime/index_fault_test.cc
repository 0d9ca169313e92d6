// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/runtime/executor.h"
#include "millrace/runtime/host_units.h"
#include "tests/runtime/kernel_harness.h"
#include "tests/runtime/random_model.h"

// Indices in the data that name no element.
namespace millrace {
namespace {

using ::testing::HasSubstr;

// A node that looks something up in, or puts something into, a tensor of four rows by `indices` of this shape.
struct Lookup {
  std::string op;
  Shape indices;
  Shape updates;  // of what a Scatter puts there; empty: none
  Shape output;
};

void PrintTo(const Lookup& lookup, std::ostream* out) { *out << lookup.op; }

class IndexFault : public ::testing::TestWithParam<Lookup> {
 protected:
  IndexFault() {
    const Lookup& lookup = GetParam();
    std::vector<int> inputs = {maker_.Input({4, 3}), maker_.Input(lookup.indices, DataType::kInt64)};
    if (!lookup.updates.empty()) inputs.push_back(maker_.Input(lookup.updates));
    maker_.Output(maker_.Node(lookup.op, inputs, lookup.output));
    program_ = CompileProgram(maker_.model(), machine_, testing::OneByOne(maker_.model()));
  }

  std::string Complaint(std::int64_t index, OnFault on_fault = OnFault::kThrow) {
    Executor executor(program_, pool_, on_fault);
    const std::span<std::byte> indices = executor.input(1);
    for (std::size_t at = 0; at < indices.size(); at += sizeof index) std::memset(indices.data() + at, 0, sizeof index);
    std::memcpy(indices.data() + indices.size() - sizeof index, &index, sizeof index);
    try {
      executor.Run();
      return "";
    } catch (const InvalidInput& error) {
      // The next run starts anew.
      std::memset(indices.data(), 0, indices.size());
      EXPECT_NO_THROW(executor.Run());
      return error.what();
    }
  }

  testing::ModelMaker maker_;
  const Machine machine_ = testing::HostMachine();
  WorkerPool pool_{AllowedProcessors()};
  Program program_;
};

TEST_P(IndexFault, IsAnErrorOfTheRunThatNamesNodeAndIndex) {
  for (const std::int64_t inside : {0, 3, -4}) EXPECT_EQ(Complaint(inside), "");
  for (const std::int64_t outside : {4, -5, 1 << 30}) {
    EXPECT_THAT(Complaint(outside), HasSubstr("'node0' (" + GetParam().op + "): the index " + std::to_string(outside) +
                                              " names no element of an axis of 4"));
  }
  EXPECT_EQ(Complaint(4, OnFault::kIgnore), "");
}

INSTANTIATE_TEST_SUITE_P(Ops, IndexFault,
                         ::testing::Values(Lookup{"Gather", {2}, {}, {2, 3}},
                                           Lookup{"GatherElements", {2, 3}, {}, {2, 3}},
                                           Lookup{"GatherND", {5, 1}, {}, {5, 3}},
                                           Lookup{"ScatterElements", {2, 3}, {2, 3}, {4, 3}},
                                           Lookup{"ScatterND", {5, 1}, {5, 3}, {4, 3}}),
                         [](const auto& parameter) { return parameter.param.op; });

TEST(IndexFaultOfNothing, LookingIntoATensorWithoutElementsIsAFaultToo) {
  testing::ModelMaker maker;
  const int data = maker.Input({0, 3});
  maker.Output(maker.Node("Gather", {data, maker.Input({2}, DataType::kInt64)}, {2, 3}));
  const Program program = CompileProgram(maker.model(), testing::HostMachine(), testing::OneByOne(maker.model()));
  WorkerPool pool(AllowedProcessors());
  Executor executor(program, pool);
  EXPECT_THROW(executor.Run(), InvalidInput);
}

}  // namespace
}  // namespace millrace
