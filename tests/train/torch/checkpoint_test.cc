// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "millrace/errors/errors.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

constexpr CheckpointKind kKind = {
    .format = "test.checkpoint", .trained_on = "graphs", .check = [](const Checkpoint& checkpoint) {
      if (checkpoint.settings != "{}") throw InvalidInput("other settings");
    }};

Weights OneTensor(const std::string& name, float value) {
  Weights weights;
  weights.tensors[name] = {.shape = {1}, .values = {value}};
  weights.metadata["of"] = name;
  return weights;
}

Checkpoint Any() {
  Checkpoint checkpoint;
  checkpoint.settings = "{}";
  checkpoint.seed = ~std::uint64_t{0};
  checkpoint.update = 12;
  checkpoint.seconds = 1.0 / 3;
  checkpoint.time_limit = 1e-300;
  checkpoint.trained_on = "abc def";
  checkpoint.learner = OneTensor("parameters", 1);
  checkpoint.best = OneTensor("input", 2);
  checkpoint.best_score = 0.1;
  checkpoint.memory = OneTensor("memory.0.device", 3);
  return checkpoint;
}

TEST(Checkpoint, ReadsBackAsItWasWritten) {
  const testing::TemporaryFolder folder;
  WriteCheckpoint(folder.Path("a"), kKind, Any());
  const Checkpoint read = ReadCheckpoint(folder.Path("a"), kKind);
  EXPECT_EQ(read.settings, "{}");
  EXPECT_EQ(read.seed, Any().seed);
  EXPECT_EQ(read.update, 12);
  EXPECT_EQ(read.seconds, 1.0 / 3);
  EXPECT_EQ(read.time_limit, 1e-300);
  EXPECT_EQ(read.trained_on, "abc def");
  EXPECT_EQ(read.learner, Any().learner);
  EXPECT_EQ(read.best, Any().best);
  EXPECT_EQ(read.best_score, 0.1);
  EXPECT_EQ(read.memory, Any().memory);
}

TEST(Checkpoint, OfAnotherKindIsRefusedWithTheFilesName) {
  const testing::TemporaryFolder folder;
  Checkpoint other = Any();
  other.settings = "[]";
  WriteCheckpoint(folder.Path("settings"), kKind, other);
  CheckpointKind kind = kKind;
  kind.format = "other.checkpoint";
  WriteCheckpoint(folder.Path("format"), kind, Any());
  WriteWeights(folder.Path("weights"), OneTensor("input", 1));
  for (const char* name : {"settings", "format", "weights"}) {
    try {
      ReadCheckpoint(folder.Path(name), kKind);
      ADD_FAILURE() << name;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder.Path(name)));
    }
  }
}

TEST(Checkpoint, ANumberThatIsNoneIsRefusedByItsName) {
  const testing::TemporaryFolder folder;
  WriteCheckpoint(folder.Path("a"), kKind, Any());
  Weights all = ReadWeights(folder.Path("a"));
  all.metadata["update"] = "many";
  WriteWeights(folder.Path("a"), all);
  try {
    ReadCheckpoint(folder.Path("a"), kKind);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("its 'update' is 'many'"));
  }
}

}  // namespace
}  // namespace millrace
