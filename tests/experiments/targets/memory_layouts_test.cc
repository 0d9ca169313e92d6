// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/memory_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/machine/detect.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/workloads/models.h"

namespace millrace {
namespace {

using testing::HasSubstr;

// Tests run beside each other: a file for each.
std::string FileWith(const std::string& text) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string path = testing::TempDir() + test + "_lifetimes.csv";
  std::ofstream(path) << text;
  return path;
}

std::string ComplaintAbout(const std::string& text) {
  try {
    ReadLifetimes(FileWith(text));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(MemoryLayouts, LifetimesOfOneOrderAreReadAndPackedToTheirBound) {
  const LayoutCase read =
      ReadLifetimes(FileWith("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"));
  ASSERT_EQ(read.buffers.size(), 5u);
  EXPECT_FALSE(InUseTogether(read.buffers[0], read.buffers[1]));
  EXPECT_TRUE(InUseTogether(read.buffers[0], read.buffers[4]));
  EXPECT_EQ(LeastMemory(read.buffers), 12 * kMemoryAlignment);
  EXPECT_EQ(PlanMemory(read.buffers).bytes, 12 * kMemoryAlignment);
}

TEST(MemoryLayouts, LinesThatAreNoLifetimesAreRefusedByNumber) {
  EXPECT_THAT(ComplaintAbout(""), HasSubstr("header"));
  EXPECT_THAT(ComplaintAbout("id,lower,upper,size\nb1,0,3\n"), HasSubstr("line 2"));
  EXPECT_THAT(ComplaintAbout("id,lower,upper,size\nb1,0,3,4\nb2,3,3,4\n"), HasSubstr("line 3"));
  EXPECT_THAT(ComplaintAbout("id,lower,upper,size\nb1,0,-3,4\n"), HasSubstr("line 2"));
}

TEST(MemoryLayouts, ProgramsOfAModelTakeAtLeastTheBoundAndASearchNoMoreThanTheGreedyWay) {
  ModelOptions small;
  small.image = 64;
  small.width = 0.25;
  LoadedGraph loaded;
  loaded.model = MakeModel("squeezenet", small);
  loaded.graph = GraphOfModel(*loaded.model);
  const std::vector<LayoutCase> cases = ProgramsOf("squeezenet", loaded, DetectHost());
  ASSERT_GE(cases.size(), 2u);
  for (const LayoutCase& one : cases) {
    const std::size_t least = LeastMemory(one.buffers);
    const std::size_t searched = PlanMemory(one.buffers).bytes;
    EXPECT_GE(searched, least) << one.plan;
    EXPECT_LE(searched, PlanMemory(one.buffers, {.visits = 0}).bytes) << one.plan;
  }
  const Table table = LayoutTable(cases, {.visits = {1e4, 1e6}});
  EXPECT_EQ(table.rows.size(), cases.size());
  EXPECT_EQ(table.rows.front().size(), table.columns.size());
}

}  // namespace
}  // namespace millrace
