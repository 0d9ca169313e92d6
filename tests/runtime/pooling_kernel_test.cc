// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/runtime/reference_kernels.h"

namespace millrace {
namespace {

using testing::ExpectGroupMatches;
using testing::ModelMaker;

void ExpectPoolMatches(const std::string& type, const Shape& source, const Shape& output,
                       const std::map<std::string, Attribute>& attributes) {
  SCOPED_TRACE(type);
  Random random(31);
  ModelMaker maker;
  maker.Node(type, {maker.Input(source)}, output, attributes);
  ASSERT_EQ(UnsupportedReason(maker.model(), 0), "");
  ExpectGroupMatches(maker.model(), random);
}

TEST(PoolingKernel, MatchesTheSlowOneOnManyShapes) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (const std::int64_t channels : {1, 3, 16, 20, 64, 100}) {
      for (const std::int64_t images : {1, 2, 3}) {
        ExpectPoolMatches(type, {images, channels, 9, 9}, {images, channels, 4, 4},
                          {{"kernel_shape", Shape{3, 3}}, {"strides", Shape{2, 2}}});
        ExpectPoolMatches(type, {images, channels, 9, 8}, {images, channels, 9, 8},
                          {{"kernel_shape", Shape{3, 3}}, {"pads", Shape{1, 1, 1, 1}}});
      }
    }
  }
}

TEST(PoolingKernel, RoundsUpWithCeilMode) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    ExpectPoolMatches(type, {1, 20, 10, 13}, {1, 20, 5, 6},
                      {{"kernel_shape", Shape{3, 3}}, {"strides", Shape{2, 2}}, {"ceil_mode", std::int64_t{1}}});
    ExpectPoolMatches(type, {1, 16, 6, 6}, {1, 16, 4, 4},
                      {{"kernel_shape", Shape{2, 2}},
                       {"strides", Shape{2, 2}},
                       {"pads", Shape{1, 1, 1, 1}},
                       {"ceil_mode", std::int64_t{1}}});
  }
}

TEST(PoolingKernel, CountsPaddingIfAsked) {
  ExpectPoolMatches(
      "AveragePool", {1, 20, 7, 7}, {1, 20, 7, 7},
      {{"kernel_shape", Shape{3, 3}}, {"pads", Shape{1, 1, 1, 1}}, {"count_include_pad", std::int64_t{1}}});
}

TEST(PoolingKernel, PadsAutomatically) {
  for (const char* pad : {"SAME_UPPER", "SAME_LOWER"}) {
    for (const char* type : {"MaxPool", "AveragePool"}) {
      ExpectPoolMatches(type, {1, 20, 8, 7}, {1, 20, 4, 4},
                        {{"kernel_shape", Shape{2, 3}}, {"strides", Shape{2, 2}}, {"auto_pad", std::string(pad)}});
    }
  }
}

TEST(PoolingKernel, DilatesMaximaAndWorksInOneAndThreeDimensions) {
  ExpectPoolMatches("MaxPool", {1, 20, 9, 9}, {1, 20, 5, 5},
                    {{"kernel_shape", Shape{3, 3}}, {"dilations", Shape{2, 2}}});
  for (const char* type : {"MaxPool", "AveragePool"}) {
    ExpectPoolMatches(type, {2, 20, 9}, {2, 20, 4}, {{"kernel_shape", Shape{3}}, {"strides", Shape{2}}});
    ExpectPoolMatches(type, {1, 5, 4, 6, 7}, {1, 5, 2, 3, 3},
                      {{"kernel_shape", Shape{2, 2, 2}}, {"strides", Shape{2, 2, 2}}});
  }
}

TEST(PoolingKernel, PoolsWholeChannels) {
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool"}) {
    for (const std::int64_t channels : {3, 16, 100, 512}) {
      ExpectPoolMatches(type, {1, channels, 7, 8}, {1, channels, 1, 1}, {});
      ExpectPoolMatches(type, {2, channels, 7, 8}, {2, channels, 1, 1}, {});
    }
    ExpectPoolMatches(type, {2, 20, 9}, {2, 20, 1}, {});
  }
}

TEST(PoolingKernel, RefusesIndices) {
  ModelMaker maker;
  maker.NodeOf("MaxPool", {maker.Input({1, 3, 4, 4})},
               {{DataType::kFloat32, {1, 3, 3, 3}}, {DataType::kInt64, {1, 3, 3, 3}}}, {{"kernel_shape", Shape{2, 2}}});
  EXPECT_EQ(UnsupportedReason(maker.model(), 0), "MaxPool with the output Indices");
}

}  // namespace
}  // namespace millrace
