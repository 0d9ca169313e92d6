// SPDX-License-Identifier: Apache-2.0
#include "millrace/graph/computation_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "millrace/errors/errors.h"
#include "tests/reference/random_problem.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Op 0 'head' feeds op 1 'body' feeds op 2 'tail'.
GraphData Chain() {
  GraphData data;
  data.name = "chain";
  data.ops.resize(3);
  data.ops[0].name = "head";
  data.ops[1].name = "body";
  data.ops[2].name = "tail";
  data.tensors = {{"first", 0, {1}, 4, false}, {"second", 1, {2}, 4, false}};
  return data;
}

std::string ComplaintAbout(const std::function<void(GraphData&)>& spoil) {
  GraphData data = Chain();
  spoil(data);
  try {
    const ComputationGraph graph(std::move(data));
  } catch (const InvalidInput& complaint) {
    EXPECT_EQ(std::string(complaint.what()).find('\n'), std::string::npos);
    return complaint.what();
  }
  return "no complaint";
}

TEST(ComputationGraph, RefusesCostsThatAreNegativeOrNotFinite) {
  for (const double bad : {-1.0, -1e-300, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.ops[1].flops = bad; }),
                AllOf(HasSubstr("op 1 'body'"), HasSubstr("flops")));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.ops[1].weight_bytes = bad; }),
                AllOf(HasSubstr("op 1 'body'"), HasSubstr("weight_bytes")));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.ops[1].bytes_accessed = bad; }),
                AllOf(HasSubstr("op 1 'body'"), HasSubstr("bytes_accessed")));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.ops[1].seconds.everywhere = bad; }),
                AllOf(HasSubstr("op 1 'body'"), HasSubstr("seconds")));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) {
                  data.ops[2].seconds.by_kind = {{"gpu", bad}};
                }),
                AllOf(HasSubstr("op 2 'tail'"), HasSubstr("seconds on 'gpu'")));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.tensors[1].bytes = bad; }),
                AllOf(HasSubstr("tensor 1 'second'"), HasSubstr("bytes")));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) {
                  data.group_seconds = {{{0, 1}, {bad, {}}}};
                }),
                AllOf(HasSubstr("group_seconds entry 0"), HasSubstr("seconds")));
  }
}

TEST(ComputationGraph, RefusesCostsWhoseSumIsTooLargeForDoubles) {
  const auto refuses = [](const std::function<void(GraphData&)>& spoil, const std::string& what) {
    EXPECT_THAT(ComplaintAbout(spoil), AllOf(HasSubstr(what), HasSubstr("more than 1e300")));
  };
  for (const double huge : {1e300, 1e308, std::numeric_limits<double>::max()}) {
    refuses([huge](GraphData& data) { data.ops[0].flops = data.ops[1].flops = huge; }, "the flops of all ops");
    refuses([huge](GraphData& data) { data.ops[0].weight_bytes = data.ops[2].weight_bytes = huge; }, "weight_bytes");
    refuses([huge](GraphData& data) { data.ops[0].bytes_accessed = data.ops[2].bytes_accessed = huge; },
            "bytes_accessed");
    refuses(
        [huge](GraphData& data) {
          data.ops[0].seconds.everywhere = huge;
          data.ops[2].seconds.by_kind = {{"cpu", 1}, {"gpu", huge}};
        },
        "the seconds of all ops");
    refuses([huge](GraphData& data) { data.tensors[0].bytes = huge; }, "the bytes of all tensors");
  }
  EXPECT_EQ(ComplaintAbout([](GraphData& data) { data.ops[1].flops = data.tensors[0].bytes = 4e299; }), "no complaint");
}

TEST(ComputationGraph, RefusesIdsThatDoNotExist) {
  for (const OpId bad : {-2, 3, std::numeric_limits<OpId>::max(), std::numeric_limits<OpId>::min()}) {
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.tensors[0].producer = bad; }),
                AllOf(HasSubstr("tensor 0 'first'"), HasSubstr("op " + std::to_string(bad))));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) { data.tensors[1].consumers.push_back(bad); }),
                AllOf(HasSubstr("tensor 1 'second'"), HasSubstr("op " + std::to_string(bad))));
    EXPECT_THAT(ComplaintAbout([bad](GraphData& data) {
                  data.group_seconds = {{{0, bad}, {1.0, {}}}};
                }),
                HasSubstr("group_seconds entry 0"));
  }
  EXPECT_THAT(ComplaintAbout([](GraphData& data) { data.tensors[0].consumers = {-1}; }), HasSubstr("op -1"));
}

TEST(ComputationGraph, RefusesSelfEdgesAndCycles) {
  EXPECT_THAT(ComplaintAbout([](GraphData& data) {
                data.tensors[0].consumers = {1, 0};
              }),
              AllOf(HasSubstr("tensor 0 'first'"), HasSubstr("op 0")));
  EXPECT_THAT(ComplaintAbout([](GraphData& data) {
                data.tensors.push_back({"back", 2, {1}, 0, false});
              }),
              AllOf(HasSubstr("op 1 'body'"), HasSubstr("cycle")));
}

TEST(ComputationGraph, RefusesGroupTimesThatSayNothingAndKindsStatedTwice) {
  EXPECT_THAT(ComplaintAbout([](GraphData& data) {
                data.group_seconds = {{{}, {1.0, {}}}};
              }),
              HasSubstr("names no ops"));
  EXPECT_THAT(ComplaintAbout([](GraphData& data) { data.group_seconds = {{{0}, {}}}; }), HasSubstr("no seconds"));
  EXPECT_THAT(ComplaintAbout([](GraphData& data) {
                data.ops[0].seconds.by_kind = {{"gpu", 1.0}, {"cpu", 1.0}, {"gpu", 2.0}};
              }),
              AllOf(HasSubstr("op 0 'head'"), HasSubstr("'gpu'"), HasSubstr("twice")));
}

TEST(ComputationGraph, BringsIdsAndKindsIntoOrder) {
  GraphData data = Chain();
  data.tensors[0].consumers = {2, 1, 2};
  data.ops[0].seconds.by_kind = {{"gpu", 2.0}, {"cpu", 1.0}};
  data.group_seconds = {{{1, 0, 1}, {std::nullopt, {{"z", 1.0}, {"a", 3.0}}}}};
  const ComputationGraph graph(std::move(data));
  EXPECT_THAT(graph.tensor(0).consumers, ElementsAre(1, 2));
  EXPECT_THAT(graph.group_seconds()[0].ops, ElementsAre(0, 1));
  EXPECT_EQ(graph.op(0).seconds.On("cpu"), 1.0);
  EXPECT_EQ(graph.op(0).seconds.On("gpu"), 2.0);
  EXPECT_EQ(graph.op(0).seconds.On("dsp"), std::nullopt);
  EXPECT_EQ(graph.group_seconds()[0].seconds.On("a"), 3.0);
}

TEST(ComputationGraph, MayBeEmpty) {
  const ComputationGraph graph(GraphData{});
  EXPECT_EQ(graph.num_ops(), 0);
  EXPECT_TRUE(graph.topological_order().empty());
  EXPECT_EQ(ComputationGraph().num_tensors(), 0);
}

TEST(ComputationGraph, KnowsTheNeighboursOfEveryOp) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    for (OpId op = 0; op < graph.num_ops(); ++op) {
      std::vector<TensorId> inputs, outputs;
      std::set<OpId> predecessors, successors;
      for (TensorId id = 0; id < graph.num_tensors(); ++id) {
        const Tensor& tensor = graph.tensor(id);
        if (tensor.producer == op) {
          outputs.push_back(id);
          successors.insert(tensor.consumers.begin(), tensor.consumers.end());
        }
        if (std::count(tensor.consumers.begin(), tensor.consumers.end(), op) == 0) continue;
        inputs.push_back(id);
        if (tensor.producer >= 0) predecessors.insert(tensor.producer);
      }
      ASSERT_THAT(graph.Inputs(op), ::testing::ElementsAreArray(inputs));
      ASSERT_THAT(graph.Outputs(op), ::testing::ElementsAreArray(outputs));
      ASSERT_THAT(graph.Predecessors(op), ::testing::ElementsAreArray(predecessors));
      ASSERT_THAT(graph.Successors(op), ::testing::ElementsAreArray(successors));
    }
  }
}

TEST(ComputationGraph, OrdersOpsByTheSmallestThatIsReady) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const ComputationGraph graph = testing::RandomGraph(random);
    std::vector<char> done(static_cast<std::size_t>(graph.num_ops()), 0);
    for (const OpId next : graph.topological_order()) {
      OpId smallest = -1;
      for (OpId op = graph.num_ops() - 1; op >= 0; --op) {
        const auto before = graph.Predecessors(op);
        const bool ready = std::all_of(before.begin(), before.end(),
                                       [&done](OpId other) { return done[static_cast<std::size_t>(other)] != 0; });
        if (done[static_cast<std::size_t>(op)] == 0 && ready) smallest = op;
      }
      ASSERT_EQ(next, smallest) << "seed " << seed;
      done[static_cast<std::size_t>(next)] = 1;
    }
    ASSERT_EQ(std::count(done.begin(), done.end(), 0), 0);
  }
}

}  // namespace
}  // namespace millrace
