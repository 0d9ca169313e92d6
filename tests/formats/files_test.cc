// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/load.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/hash.h"
#include "tests/formats/refusal.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::RefusalOf;
using ::testing::StartsWith;

// A folder of its own for each test, gone afterwards.
class Files : public ::testing::Test {
 protected:
  std::string In(const std::string& name) const { return folder_.Path(name); }
  std::string Put(const std::string& name, const std::string& content) const { return folder_.Write(name, content); }
  std::ptrdiff_t Count() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator());
  }

  testing::TemporaryFolder folder_;
};

ComputationGraph TwoOps() {
  GraphData data;
  data.name = "two";
  data.ops.resize(2);
  data.tensors.resize(1);
  data.tensors[0].producer = 0;
  data.tensors[0].consumers = {1};
  return ComputationGraph(std::move(data));
}

TEST_F(Files, ComeBackAsTheyWereWritten) {
  const std::string content("a\0b\n\xff", 5);
  WriteFileAtomically(In("f"), content);
  EXPECT_EQ(ReadWholeFile(In("f")), content);
  WriteFileAtomically(In("f"), "");
  EXPECT_EQ(ReadWholeFile(In("f")), "");
  EXPECT_EQ(Count(), 1);
}

TEST_F(Files, HaveTheModeOfAnyNewFile) {
  const mode_t before = ::umask(022);
  WriteFileAtomically(In("f"), "x");
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat(In("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST_F(Files, AreReplacedBehindASymbolicLink) {
  Put("real", "old");
  std::filesystem::create_symlink("real", In("link"));
  WriteFileAtomically(In("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(In("link")));
  EXPECT_EQ(ReadWholeFile(In("real")), "new");
}

TEST_F(Files, ThatCannotBeWrittenLeaveNothingBehind) {
  EXPECT_THROW(WriteFileAtomically(In("none/f"), "x"), WorkFailed);
  std::filesystem::create_directory(In("folder"));
  EXPECT_THROW(WriteFileAtomically(In("folder"), "x"), WorkFailed);
  EXPECT_THROW(WriteFileAtomically("", "x"), WorkFailed);
  EXPECT_EQ(Count(), 1);
}

TEST_F(Files, GoIntoADeviceWithoutReplacingIt) {
  WriteFileAtomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Files, ThatCannotBeReadAreBadInput) {
  EXPECT_THAT(RefusalOf([&] { ReadWholeFile(In("none")); }), StartsWith(In("none") + ": could not be read"));
  EXPECT_THAT(RefusalOf([&] { ReadWholeFile(folder_.path().string()); }), HasSubstr("is a folder"));
  Put("f", "12345");
  EXPECT_THAT(RefusalOf([&] { ReadWholeFile(In("f"), 4); }), HasSubstr("larger than 4 bytes"));
  EXPECT_EQ(ReadWholeFile(In("f"), 5), "12345");
}

TEST_F(Files, OfEveryTextFormatLoadByTheirEnding) {
  const std::string stg = "1\n0 0 0\n1 4 1 0\n2 0 1 1\n";
  const std::string profile =
      "node1 -- A -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1\n";
  EXPECT_EQ(LoadGraph(Put("one.stg", stg)).graph.name(), "one");
  EXPECT_EQ(LoadGraph(Put("one.STG", stg)).graph.num_ops(), 1);
  EXPECT_EQ(LoadGraph(Put("p.txt", profile)).graph.op(0).type, "A");
  EXPECT_EQ(LoadGraph(Put("g.json", GraphJson(TwoOps()))).graph.name(), "two");
  EXPECT_EQ(LoadGraph(Put("w.json", R"({"nodes":[],"edges":[]})")).graph.num_ops(), 0);
  EXPECT_EQ(LoadGraph(Put("a", stg)).graph.num_ops(), 1) << "told by its first line";
  EXPECT_EQ(LoadGraph(Put("b", profile)).graph.num_ops(), 1);
  EXPECT_EQ(LoadGraph(Put("c", GraphJson(TwoOps()))).graph.num_ops(), 2);
}

TEST_F(Files, ThatAreNoGraphSayWhatTheyAre) {
  const Machine machine = *MachinePreset("homogeneous:2");
  EXPECT_THAT(RefusalOf([&] { LoadGraph(Put("m.json", MachineJson(machine))); }),
              AllOf(StartsWith(In("m.json")), HasSubstr("is a machine")));
  PlanRecord record;
  record.machine = machine;
  EXPECT_THAT(RefusalOf([&] { LoadGraph(Put("p.json", PlanJson(record))); }), HasSubstr("is a plan"));
  EXPECT_THAT(RefusalOf([&] { LoadGraph(Put("x", "hello")); }), HasSubstr("is no graph this program knows"));
  EXPECT_THAT(RefusalOf([&] { LoadGraph(Put("x.json", "hello")); }), HasSubstr("not JSON"));
  EXPECT_THAT(RefusalOf([&] { LoadGraph(Put("e.json", "")); }), HasSubstr("not JSON"));
  EXPECT_THAT(RefusalOf([&] { LoadGraph(In("none.stg")); }), StartsWith(In("none.stg")));
}

TEST_F(Files, OfMachinesLoadByNameOrPath) {
  EXPECT_EQ(LoadMachine("homogeneous:3").devices.size(), 3U);
  const Machine machine = *MachinePreset("p100x4");
  EXPECT_EQ(LoadMachine(Put("m.json", MachineJson(machine))), machine);
  EXPECT_THAT(RefusalOf([&] { LoadMachine("p100x3"); }), AllOf(StartsWith("p100x3"), HasSubstr("p100x2")));
  EXPECT_THAT(RefusalOf([&] { LoadMachine(Put("bad.json", "{}")); }), StartsWith(In("bad.json") + ": format"));
}

TEST_F(Files, OfPlansAreVerifiedAgainstTheirGraph) {
  const ComputationGraph graph = TwoOps();
  PlanRecord record;
  record.plan = {{{0}, {1}}, {0, 1}, {0, 1}};
  record.machine = *MachinePreset("homogeneous:2");
  record.graph_hash = GraphHash(graph);
  EXPECT_EQ(LoadPlan(Put("p.json", PlanJson(record)), graph).plan, record.plan);

  record.graph_name = "another name does not matter";
  record.graph_hash = "";
  EXPECT_EQ(LoadPlan(Put("p.json", PlanJson(record)), graph).plan, record.plan);

  record.graph_hash = "0000000000000000";
  EXPECT_THAT(RefusalOf([&] { LoadPlan(Put("p.json", PlanJson(record)), graph); }),
              AllOf(StartsWith(In("p.json")), HasSubstr("made for another graph")));

  record.graph_hash = "";
  record.plan.sequence = {1, 0};
  EXPECT_THAT(RefusalOf([&] { LoadPlan(Put("p.json", PlanJson(record)), graph); }),
              AllOf(StartsWith(In("p.json")), HasSubstr("not valid for this graph")));
}

}  // namespace
}  // namespace millrace
