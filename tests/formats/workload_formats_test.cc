// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "millrace/formats/dnn_partitioning.h"
#include "millrace/formats/pipedream.h"
#include "millrace/formats/stg.h"
#include "tests/formats/refusal.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RefusalOf;

// Three tasks; 1 before 2 and 3; the dummies 0 and 4 around them.
constexpr const char* kStg =
    "  3\n"
    "  0   0  0\n"
    "  1   4  1  0\n"
    "  2   2.5  1  1\n"
    "  3   3  2  1 0\n"
    "  4   0  2  2 3\n"
    "# made for this test\n"
    "and nothing after the comment counts\n";

TEST(Stg, LeavesTheDummiesOut) {
  const ComputationGraph graph = ParseStg(kStg, "three");
  EXPECT_EQ(graph.name(), "three");
  ASSERT_EQ(graph.num_ops(), 3);
  EXPECT_EQ(graph.op(0).seconds.everywhere, 4.0);
  EXPECT_EQ(graph.op(1).seconds.everywhere, 2.5);
  EXPECT_EQ(graph.op(2).seconds.everywhere, 3.0);
  ASSERT_EQ(graph.num_tensors(), 1);
  EXPECT_EQ(graph.tensor(0).bytes, 0);
  EXPECT_THAT(graph.tensor(0).consumers, ElementsAre(1, 2));
}

TEST(Stg, ReadsLinesThatEndTheOtherWay) {
  std::string text;
  for (const char c : std::string(kStg)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(ParseStg(text, "three").num_ops(), 3);
}

TEST(Stg, NamesTheLineThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "holds no tasks"},
      {"# only words", "holds no tasks"},
      {"x\n", "line 1: 'x' is no number of tasks"},
      {"-1\n", "line 1: '-1' is no number of tasks"},
      {"2000000000\n", "line 1: '2000000000' is no number of tasks"},
      {"1\n0 0 0\n", "ends after 1 tasks"},
      {"1\n0 0 0\n2 1 1 0\n", "line 3: task 1 must stand here, not '2'"},
      {"1\n0 0 0\n1 -1 1 0\n", "line 3: the processing time '-1'"},
      {"1\n0 0 0\n1 nan 1 0\n", "line 3: the processing time 'nan'"},
      {"1\n0 0 0\n1 1e999 1 0\n", "line 3: the processing time"},
      {"1\n0 0 0\n1 1 x\n", "line 3: the number of predecessors 'x'"},
      {"1\n0 0 0\n1 1 2 0\n", "line 3: task 1 says it has 2 predecessors and lists 1"},
      {"1\n0 0 0\n1 1 1 0 0\n", "lists 2"},
      {"1\n0 0 0\n1 1 1 9\n", "line 3: the predecessor '9' is no task"},
      {"1\n0 0 0\n1 1 1 2\n", "line 3: the dummy exit is nobody's predecessor"},
      {"1\n0 5 0\n", "line 2: task 0 is the format's dummy"},
      {"1\n0 0 1 1\n", "line 2: task 0 is the dummy entry"},
      {"1\n0 0 0\n1 1 1 0\n2 3 1 1\n", "line 4: task 2 is the format's dummy"},
      {"1\n0 0 0\n1 1 1 0\n2 0 1 1\n3 0 0\n", "line 5: '3 0 0' stands after the last task"},
      {"1\n0 0 0\n1 1 1 1\n2 0 1 1\n", "reads what it makes itself"},
      {"2\n0 0 0\n1 1 1 2\n2 1 1 1\n3 0 1 2\n", "cycle"},
  };
  for (const auto& [text, complaint] : cases)
    EXPECT_THAT(RefusalOf([&, &t = text] { ParseStg(t, "x"); }), HasSubstr(complaint)) << text;
}

constexpr const char* kProfile =
    "node2 -- Pair(  (a -- b): Inner(1, 2, x=(3, 4)) ) -- forward_compute_time=1.500, backward_compute_time=2.500, "
    "activation_size=[100.0; 20.0; 4.0], parameter_size=64.000\n"
    "node1 -- Input -- forward_compute_time=500.0, backward_compute_time=0.000, activation_size=8.0, "
    "parameter_size=0.000\n"
    "node3 -- ReLU(inplace) -- forward_compute_time=0.25, backward_compute_time=0, activation_size=10, "
    "parameter_size=0 -- stage_id=2\n"
    "\tnode1 -- node2\n"
    "\tnode2 -- node3\n"
    "\tnode1 -- node3\n";

TEST(PipeDream, ReadsTimesSizesAndEdges) {
  const ComputationGraph graph = ParsePipeDream(kProfile, "p");
  ASSERT_EQ(graph.num_ops(), 3);
  EXPECT_EQ(graph.op(0).name, "node2");
  EXPECT_EQ(graph.op(0).type, "Pair");
  EXPECT_DOUBLE_EQ(*graph.op(0).seconds.everywhere, 0.004);
  EXPECT_EQ(graph.op(0).weight_bytes, 64);
  EXPECT_EQ(graph.tensor(0).bytes, 124);
  EXPECT_EQ(graph.op(1).type, "Input");
  EXPECT_EQ(graph.op(1).seconds.everywhere, 0.0);
  EXPECT_THAT(graph.tensor(1).consumers, ElementsAre(0, 2));
  EXPECT_EQ(graph.op(2).layer, 2);
  EXPECT_FALSE(graph.tensor(0).output);
  EXPECT_TRUE(graph.tensor(2).output);
}

TEST(PipeDream, NamesTheLineThatIsWrong) {
  const std::string costs = "forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1\n";
  const std::string node = "node1 -- A -- " + costs;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "holds no nodes"},
      {"hello\n", "line 1: 'hello' is neither a node"},
      {"node1 -- A -- b -- c\n", "line 1: 'node1 -- A -- b -- c' is neither a node"},
      {node + node, "line 2: 'node1' is given twice"},
      {node + "\tnode1 -- node9\n", "line 2: there is no node 'node9'"},
      {node + "\tnode1 -- node1\n", "reads what it makes itself"},
      {"node1 -- A -- forward_compute_time=x, backward_compute_time=1, activation_size=1, parameter_size=1",
       "line 1: forward_compute_time 'x'"},
      {"node1 -- A -- forward_compute_time=-1, backward_compute_time=1, activation_size=1, parameter_size=1",
       "line 1: forward_compute_time '-1'"},
      {"node1 -- A -- forward_compute_time=1, activation_size=1, parameter_size=1", "states no backward_compute_time"},
      {"node1 -- A -- forward_compute_time=1, backward_compute_time=1, activation_size=[1; nan], parameter_size=1",
       "line 1: activation_size"},
      {"node1 -- A -- forward_compute_time=1, backward_compute_time=1, activation_size=[], parameter_size=inf",
       "line 1: parameter_size 'inf'"},
      {"node1 --  -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1",
       "names no op"},
      {"node1 -- A -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1 -- "
       "stage_id=x",
       "'stage_id=x' is no stage number"},
  };
  for (const auto& [text, complaint] : cases)
    EXPECT_THAT(RefusalOf([&, &t = text] { ParsePipeDream(t, "x"); }), HasSubstr(complaint)) << text;
}

constexpr const char* kWorkload =
    R"({"maxSizePerFPGA":1e9,"maxFPGAs":2,"maxCPUs":1,"nodes":[)"
    R"({"id":7,"name":"x","cpuLatency":4,"fpgaLatency":1,"size":100,"isBackwardNode":false,"supportedOnFpga":true,)"
    R"("colorClass":3,"layerId":5},)"
    R"({"id":9,"name":"y","cpuLatency":2,"fpgaLatency":0.5,"size":0,"isBackwardNode":1,"supportedOnFpga":0,)"
    R"("colorClass":3},)"
    R"({"id":8,"name":"z","cpuLatency":0,"fpgaLatency":0,"size":1,"isBackwardNode":0,"supportedOnFpga":1,)"
    R"("colorClass":4}],)"
    R"("edges":[{"sourceId":7,"destId":9,"cost":1000,"size":1},{"sourceId":7,"destId":8,"cost":1000},)"
    R"({"sourceId":7,"destId":9,"cost":500}]})";

TEST(DnnPartitioning, ReadsKindsColoursAndTransfers) {
  const ComputationGraph graph = ParseDnnPartitioning(kWorkload, "w");
  ASSERT_EQ(graph.num_ops(), 3);
  EXPECT_THAT(graph.op(0).seconds.by_kind, ElementsAre(std::pair("cpu", 4e-3), std::pair("fpga", 1e-3)));
  EXPECT_THAT(graph.op(1).seconds.by_kind, ElementsAre(std::pair("cpu", 2e-3)));
  EXPECT_EQ(graph.op(0).type, "forward");
  EXPECT_EQ(graph.op(1).type, "backward");
  EXPECT_EQ(graph.op(0).weight_bytes, 100);
  EXPECT_EQ(graph.op(0).colocate, "color3");
  EXPECT_EQ(graph.op(1).colocate, "color3");
  EXPECT_EQ(graph.op(2).colocate, "") << "a colour of one node binds nothing";
  EXPECT_EQ(graph.op(0).layer, 5);
  ASSERT_EQ(graph.num_tensors(), 1) << "equal costs are one tensor, and an edge given twice counts once";
  EXPECT_EQ(graph.tensor(0).bytes, kDnnPartitioningBandwidth);
  EXPECT_THAT(graph.tensor(0).consumers, ElementsAre(1, 2));
}

TEST(DnnPartitioning, NamesTheMemberThatIsWrong) {
  const auto with = [](const std::string& what, const std::string& instead) {
    std::string text = kWorkload;
    return text.replace(text.find(what), what.size(), instead);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with("\"id\":8", "\"id\":7"), "nodes[2].id: is given twice"},
      {with("\"id\":8", "\"id\":8.5"), "nodes[2].id: must be a whole number"},
      {with("\"cpuLatency\":4", "\"cpuLatency\":-4"), "nodes[0].cpuLatency: is negative"},
      {with("\"fpgaLatency\":1,", ""), "nodes[0].fpgaLatency: is missing"},
      {with("\"supportedOnFpga\":true", "\"supportedOnFpga\":\"yes\""), "nodes[0].supportedOnFpga: must be true"},
      {with("\"destId\":8", "\"destId\":80"), "edges[1].destId: there is no node 80"},
      {with("\"sourceId\":7", "\"sourceId\":70"), "edges[0].sourceId: there is no node 70"},
      {with("\"cost\":1000", "\"cost\":null"), "edges[0].cost: is missing"},
      {with("\"edges\"", "\"hedges\""), "edges: is missing"},
      {with("\"edges\":[", "\"edges\":[4,"), "edges[0]: must be an object, not a number"},
      {with("\"destId\":9", "\"destId\":7"), "reads what it makes itself"},
  };
  for (const auto& [text, complaint] : cases)
    EXPECT_THAT(RefusalOf([&, &t = text] { ParseDnnPartitioning(t, "x"); }), HasSubstr(complaint)) << text;
}

}  // namespace
}  // namespace millrace
