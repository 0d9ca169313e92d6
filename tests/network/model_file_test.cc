// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using testing::HasSubstr;

TEST(ModelFile, IsFoundBesideTheExecutableOfABuildTree) {
  const std::string gflownet = FindModelFile("gflownet.safetensors");
  EXPECT_EQ(LookForModelFile("gflownet.safetensors"), gflownet);
  EXPECT_EQ(LookForModelFile("none.safetensors"), std::nullopt);
}

TEST(ModelFile, IsLookedForLastInTheFolderThatTheUserNames) {
  ASSERT_EQ(setenv("MILLRACE_MODELS", "/nowhere/models", 1), 0);
  EXPECT_EQ(ModelFolders().back(), "/nowhere/models");
  try {
    FindModelFile("none.safetensors");
    ADD_FAILURE();
  } catch (const InvalidInput& error) {
    for (const std::string& folder : ModelFolders()) EXPECT_THAT(error.what(), HasSubstr(folder));
  }
  ASSERT_EQ(unsetenv("MILLRACE_MODELS"), 0);
}

}  // namespace
}  // namespace millrace
