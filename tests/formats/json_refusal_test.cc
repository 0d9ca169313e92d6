// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "millrace/formats/graph_json.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "tests/formats/refusal.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::RefusalOf;

constexpr const char* kGraph =
    R"({"format":"millrace.graph","version":1,"name":"g",)"
    R"("ops":[{"name":"a","type":"T","flops":1,"seconds":{"cpu":2}},{"name":"b","type":"T","layer":3}],)"
    R"("tensors":[{"name":"t","producer":0,"consumers":[1],"bytes":4.5}],)"
    R"("group_seconds":[{"ops":[0,1],"seconds":7}]})";

constexpr const char* kMachine =
    R"({"format":"millrace.machine","version":1,"name":"m",)"
    R"("devices":[{"name":"x","kind":"cpu","units":[0],"flops_per_second":1,"memory_bandwidth":1,"launch_seconds":0},)"
    R"({"name":"y","kind":"cpu","units":[1],"flops_per_second":1,"memory_bandwidth":1,"launch_seconds":0}],)"
    R"("links":[{"from":0,"to":1,"latency_seconds":0,"bandwidth":5,"channel":2}],)"
    R"("default_link":{"latency_seconds":1,"bandwidth":1}})";

std::string PlanText() {
  return R"({"format":"millrace.plan","version":1,"graph":"g","graph_hash":"h","machine":)" + std::string(kMachine) +
         R"(,"method":"heft","seed":18446744073709551615,"groups":[[0],[1]],"placement":[0,1],"sequence":[0,1],)"
         R"("proxy_seconds":2.5})";
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " is not in " << text;
  return text.replace(at, what.size(), with);
}

// A valid text with one thing changed, and what the complaint must say.
struct Case {
  std::string what;
  std::string with;
  std::string complaint;
};

TEST(GraphJson, NamesTheMemberThatIsWrong) {
  ASSERT_EQ(ParseGraphJson(kGraph).num_ops(), 2);
  const std::vector<Case> cases = {
      {"\"millrace.graph\"", "\"millrace.machine\"", "format: is 'millrace.machine'"},
      {"\"millrace.graph\"", "7", "format: must be a string, not a number"},
      {"\"format\":\"millrace.graph\",", "", "format: is missing; 'millrace.graph' is wanted here"},
      {"\"version\":1", "\"version\":2", "version: is 2"},
      {"\"version\":1", "\"version\":\"1\"", "version: must be a whole number"},
      {"\"version\":1", "\"version\":-1", "version: must be a whole number"},
      {"\"version\":1,", "", "version: is missing"},
      {"\"name\":\"g\",", "", "name: is missing"},
      {"\"name\":\"a\",", "", "ops[0].name: is missing"},
      {"\"name\":\"a\"", "\"name\":null", "ops[0].name: is missing"},
      {"\"name\":\"a\"", "\"name\":[]", "ops[0].name: must be a string, not a list"},
      {"\"type\":\"T\",\"layer\"", "\"layer\"", "ops[1].type: is missing"},
      {"\"flops\":1", "\"flops\":-1", "ops[0].flops: is negative"},
      {"\"flops\":1", "\"flops\":\"1\"", "ops[0].flops: must be a number, not a string"},
      {"\"flops\":1", "\"flops\":true", "ops[0].flops: must be a number, not a boolean"},
      {"\"flops\":1", "\"flops\":1e999", "ops[0].flops: not JSON: number overflow"},
      {"\"flops\":1", "\"flops\":NaN", "ops[0].flops: not JSON"},
      {"\"flops\":1", "\"flops\":Infinity", "ops[0].flops: not JSON"},
      {"\"flops\":1", "\"flops\":1,\"flops\":2", "ops[0].flops: is given twice"},
      {"\"flops\":1", "\"weight_bytes\":-2", "ops[0].weight_bytes: is negative"},
      {"\"flops\":1", "\"bytes_accessed\":-2", "ops[0].bytes_accessed: is negative"},
      {"\"seconds\":{\"cpu\":2}", "\"seconds\":{}", "ops[0].seconds: names no device kind"},
      {"\"seconds\":{\"cpu\":2}", "\"seconds\":[2]", "ops[0].seconds: must be a number, or an object"},
      {"\"seconds\":{\"cpu\":2}", "\"seconds\":-3", "ops[0].seconds: is negative"},
      {"\"seconds\":{\"cpu\":2}", "\"seconds\":{\"cpu\":-2}", "ops[0].seconds.cpu: is negative"},
      {"\"seconds\":{\"cpu\":2}", "\"seconds\":{\"cpu\":\"x\"}", "ops[0].seconds.cpu: must be a number"},
      {"\"seconds\":{\"cpu\":2}", "\"seconds\":{\"cpu\":2,\"cpu\":3}", "ops[0].seconds.cpu: is given twice"},
      {"\"layer\":3", "\"layer\":3.5", "ops[1].layer: must be a whole number"},
      {"\"layer\":3", "\"layer\":3000000000", "ops[1].layer: is too large"},
      {"\"layer\":3", "\"colocate\":3", "ops[1].colocate: must be a string"},
      {"\"producer\":0", "\"producer\":2", "tensors[0].producer: there is no op 2"},
      {"\"producer\":0", "\"producer\":-2", "tensors[0].producer: there is no op -2"},
      {"\"producer\":0", "\"producer\":0.5", "tensors[0].producer: must be a whole number"},
      {"\"producer\":0", "\"producer\":99999999999999999999", "tensors[0].producer: must be a whole number"},
      {"\"producer\":0,", "", "tensors[0].producer: is missing"},
      {"\"producer\":0", "\"producer\":1", "op 1 reads what it makes itself"},
      {"\"consumers\":[1]", "\"consumers\":[1,7]", "tensors[0].consumers[1]: there is no op 7"},
      {"\"consumers\":[1]", "\"consumers\":[-1]", "tensors[0].consumers[0]: there is no op -1"},
      {"\"consumers\":[1]", "\"consumers\":[[1]]", "tensors[0].consumers[0]: must be a whole number, not a list"},
      {"\"consumers\":[1]", "\"consumers\":1", "tensors[0].consumers: must be a list, not a number"},
      {"\"consumers\":[1],", "", "tensors[0].consumers: is missing"},
      {"\"bytes\":4.5", "\"bytes\":-4.5", "tensors[0].bytes: is negative"},
      {"\"bytes\":4.5", "\"bytes\":4.5,\"output\":1", "tensors[0].output: must be true or false"},
      {"\"ops\":[0,1]", "\"ops\":[0,9]", "group_seconds[0].ops[1]: there is no op 9"},
      {"\"ops\":[0,1]", "\"ops\":[]", "group_seconds entry 0 names no ops"},
      {"\"seconds\":7", "\"seconds\":-7", "group_seconds[0].seconds: is negative"},
      {",\"seconds\":7", "", "group_seconds[0].seconds: is missing"},
      {"\"name\":\"g\"", "\"name\":\"\xff\"", "name: not JSON: parse error at line 1, column 48"},
      {"\"name\":\"g\"", "\"name\":\"g\",\"ops\":[]", "ops: is given twice"},
      {"\"group_seconds\":[{\"ops\":[0,1],\"seconds\":7}]", "\"group_seconds\":3", "group_seconds: must be a list"},
  };
  for (const Case& wrong : cases) {
    const std::string text = Replaced(kGraph, wrong.what, wrong.with);
    EXPECT_THAT(RefusalOf([&] { ParseGraphJson(text); }), HasSubstr(wrong.complaint)) << text;
  }
}

TEST(GraphJson, RefusesACycle) {
  const std::string text = Replaced(kGraph, "\"bytes\":4.5}",
                                    "\"bytes\":4.5},{\"name\":\"back\",\"producer\":1,\"consumers\":[0],\"bytes\":0}");
  EXPECT_THAT(RefusalOf([&] { ParseGraphJson(text); }), HasSubstr("cycle"));
}

TEST(GraphJson, RefusesEveryTruncation) {
  const std::string text = kGraph;
  for (std::size_t length = 0; length < text.size(); ++length) {
    RefusalOf([&] { ParseGraphJson(text.substr(0, length)); });
  }
}

TEST(GraphJson, RefusesWhatFollowsTheEnd) {
  EXPECT_THAT(RefusalOf([&] { ParseGraphJson(std::string(kGraph) + "x"); }), HasSubstr("not JSON"));
}

TEST(GraphJson, RefusesOtherRootsThanAnObject) {
  for (const char* text : {"[]", "3", "null", "\"millrace.graph\"", "[{}]"})
    EXPECT_THAT(RefusalOf([&] { ParseGraphJson(text); }), HasSubstr("no JSON object"));
}

TEST(GraphJson, RefusesDeepNestingWhereverItStands) {
  const std::string deep(100000, '[');
  for (const char* member : {"\"unknown\":", "\"ops\":", "\"name\":"}) {
    EXPECT_THAT(RefusalOf([&] { ParseGraphJson("{" + std::string(member) + deep); }), HasSubstr("nested too deeply"));
    std::string objects = "{" + std::string(member);
    for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
    EXPECT_THAT(RefusalOf([&] { ParseGraphJson(objects); }), HasSubstr("nested too deeply"));
  }
}

TEST(GraphJson, IgnoresUnknownMembersAndTakesNullForAbsent) {
  const std::string text = Replaced(kGraph, "\"layer\":3",
                                    "\"layer\":null,\"flops\":null,\"seconds\":null,\"colocate\":null,"
                                    "\"bytes_accessed\":null,\"note\":{\"any\":[1,{}]}");
  const ComputationGraph graph = ParseGraphJson(Replaced(text, "\"name\":\"g\"", "\"name\":\"g\",\"extra\":[[],{}]"));
  EXPECT_FALSE(graph.op(1).layer);
  EXPECT_FALSE(graph.op(1).seconds.stated());
  EXPECT_FALSE(graph.op(1).bytes_accessed);
  EXPECT_EQ(graph.op(1).colocate, "");
}

TEST(GraphJson, TakesMembersInAnyOrder) {
  const ComputationGraph graph = ParseGraphJson(
      R"({"tensors":[{"consumers":[0],"producer":1,"name":"t"}],)"
      R"("ops":[{"type":"A","name":"a"},{"type":"B","name":"b"}],"name":"g","version":1,"format":"millrace.graph"})");
  EXPECT_EQ(graph.Predecessors(0)[0], 1);
  EXPECT_EQ(graph.tensor(0).bytes, 0);
}

TEST(MachineJson, NamesTheMemberThatIsWrong) {
  ASSERT_EQ(ParseMachineJson(kMachine).devices.size(), 2U);
  const std::vector<Case> cases = {
      {"\"millrace.machine\"", "\"millrace.graph\"", "format: is 'millrace.graph'"},
      {"\"version\":1", "\"version\":9", "version: is 9"},
      {"\"name\":\"x\",", "", "devices[0].name: is missing"},
      {"\"kind\":\"cpu\",", "", "devices[0].kind: is missing"},
      {"\"units\":[0]", "\"units\":[]", "device 0 'x': it owns no units"},
      {"\"units\":[0]", "\"units\":[0,0]", "unit 0 is listed twice"},
      {"\"units\":[0]", "\"units\":[-1]", "unit -1 is out of range"},
      {"\"units\":[0]", "\"units\":[0.5]", "devices[0].units[0]: must be a whole number"},
      {"\"units\":[0]", "\"units\":0", "devices[0].units: must be a list"},
      {"\"flops_per_second\":1", "\"flops_per_second\":0", "devices[0].flops_per_second: must be > 0"},
      {"\"memory_bandwidth\":1", "\"memory_bandwidth\":-1", "devices[0].memory_bandwidth: must be > 0"},
      {"\"memory_bandwidth\":1,", "", "devices[0].memory_bandwidth: is missing"},
      {"\"launch_seconds\":0", "\"launch_seconds\":-1", "devices[0].launch_seconds: is negative"},
      {"\"launch_seconds\":0", "\"launch_seconds\":0,\"memory_bytes\":-1", "devices[0].memory_bytes: is negative"},
      {"\"from\":0", "\"from\":2", "links[0].from: there is no device 2"},
      {"\"from\":0", "\"from\":1", "a device needs no link to itself"},
      {"\"to\":1", "\"to\":-1", "links[0].to: there is no device -1"},
      {"\"bandwidth\":5", "\"bandwidth\":0", "links[0].bandwidth: must be > 0"},
      {"\"links\"", "\"sharing\":\"even\",\"links\"", "sharing: 'even' is neither 'one-at-a-time' nor 'fair'"},
      {"\"bandwidth\":5", "\"bandwidth\":1e400", "links[0].bandwidth: not JSON: number overflow"},
      {"\"latency_seconds\":0", "\"latency_seconds\":-1", "links[0].latency_seconds: is negative"},
      {"\"units\":[0]", "\"units\":[0,nul]", "devices[0].units[1]: not JSON"},
      {"\"channel\":2", "\"channel\":\"bus\"", "links[0].channel: must be a whole number, not a string"},
      {"\"channel\":2}", "\"channel\":2},{\"from\":0,\"to\":1,\"latency_seconds\":0,\"bandwidth\":5}",
       "this pair already has a link"},
      {"\"default_link\":{\"latency_seconds\":1,", "\"default_link\":{", "default_link.latency_seconds: is missing"},
      {"\"default_link\":{", "\"default_link\":7,\"x\":{", "default_link: must be an object"},
      {"\"links\":[", "\"no_links\":[", "links: is missing"},
      {"\"devices\":[", "\"devices\":[],\"no_devices\":[", "there is no device 0"},
  };
  for (const Case& wrong : cases) {
    const std::string text = Replaced(kMachine, wrong.what, wrong.with);
    EXPECT_THAT(RefusalOf([&] { ParseMachineJson(text); }), HasSubstr(wrong.complaint)) << text;
  }
  EXPECT_THAT(RefusalOf([] {
                ParseMachineJson(R"({"format":"millrace.machine","version":1,"name":"m","devices":[],"links":[]})");
              }),
              HasSubstr("no devices"));
}

TEST(PlanJson, NamesTheMemberThatIsWrong) {
  ASSERT_EQ(ParsePlanJson(PlanText()).seed, 18446744073709551615ULL);
  const std::vector<Case> cases = {
      {"\"millrace.plan\"", "\"millrace.graph\"", "format: is 'millrace.graph'"},
      {"\"seed\":18446744073709551615", "\"seed\":18446744073709551616", "seed: must be a whole number"},
      {"\"seed\":18446744073709551615", "\"seed\":-1", "seed: must be a whole number"},
      {"\"groups\":[[0],[1]]", "\"groups\":[[0],1]", "groups[1]: must be a list, not a number"},
      {"\"groups\":[[0],[1]]", "\"groups\":[[0],[1.5]]", "groups[1][0]: must be a whole number"},
      {"\"groups\":[[0],[1]]", "\"groups\":{}", "groups: must be a list"},
      {"\"groups\":[[0],[1]],", "", "groups: is missing"},
      {"\"placement\":[0,1]", "\"placement\":[0,\"1\"]", "placement[1]: must be a whole number, not a string"},
      {"\"placement\":[0,1],", "", "placement: is missing"},
      {"\"sequence\":[0,1],", "", "sequence: is missing"},
      {"\"sequence\":[0,1]", "\"sequence\":[0,1e3]", "sequence[1]: must be a whole number"},
      {"\"machine\":{", "\"machine\":3,\"x\":{", "machine: must be an object"},
      {"\"flops_per_second\":1", "\"flops_per_second\":-1", "machine.devices[0].flops_per_second: must be > 0"},
      {"\"proxy_seconds\":2.5", "\"proxy_seconds\":-2.5", "proxy_seconds: is negative"},
      {"\"proxy_seconds\":2.5", "\"target_seconds\":\"x\"", "target_seconds: must be a number"},
  };
  for (const Case& wrong : cases) {
    const std::string text = Replaced(PlanText(), wrong.what, wrong.with);
    EXPECT_THAT(RefusalOf([&] { ParsePlanJson(text); }), HasSubstr(wrong.complaint)) << text;
  }
}

TEST(PlanJson, ReadsAPlanThatStatesOnlyItsDecisions) {
  const PlanRecord record = ParsePlanJson(R"({"format":"millrace.plan","version":1,"groups":[],"placement":[],)"
                                          R"("sequence":[],"machine":)" +
                                          std::string(kMachine) + "}");
  EXPECT_EQ(record.graph_hash, "");
  EXPECT_FALSE(record.target_seconds);
}

TEST(KindOfJson, TellsFilesApart) {
  EXPECT_EQ(KindOfJson(kGraph), JsonKind::kGraph);
  EXPECT_EQ(KindOfJson(kMachine), JsonKind::kMachine);
  EXPECT_EQ(KindOfJson(PlanText()), JsonKind::kPlan);
  EXPECT_EQ(KindOfJson(R"({"maxFPGAs":4,"deep":{"ops":[]},"nodes":[]})"), JsonKind::kDnnPartitioning);
  EXPECT_EQ(KindOfJson(R"({"name":"a","tensors":[)"), JsonKind::kGraph);
  for (const char* text : {"", "{", "{}", "[]", "x", R"({"format":3})", R"({"format":"else","ops":[]})"})
    EXPECT_EQ(KindOfJson(text), JsonKind::kUnknown) << text;
}

}  // namespace
}  // namespace millrace
