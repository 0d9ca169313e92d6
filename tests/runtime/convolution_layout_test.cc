// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/convolution_layout.h"

#include <gtest/gtest.h>

#include "millrace/runtime/reorder.h"
#include "tests/runtime/kernel_harness.h"

namespace millrace {
namespace {

using testing::ModelMaker;

constexpr std::int64_t kBytes = std::int64_t{4} * 64 * 56 * 56;  // of the source below

class ConvolutionLayoutTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CanHaveChannelsLast(DataType::kFloat32, {1, 64, 56, 56})) GTEST_SKIP() << "no AVX-512 here";
  }

  static Layout Chosen(int workers, Layout at_hand, std::int64_t weight_bytes, const Shape& result = {1, 64, 56, 56}) {
    ModelMaker maker;
    const int source = maker.Input({1, 64, 56, 56});
    KernelRequest request{.model = &maker.model(), .nodes = {}, .workers = workers, .available = {at_hand}};
    return ConvolutionLayout(request, source, weight_bytes, result);
  }
};

TEST_F(ConvolutionLayoutTest, OfAGangReadsFewerBytesOfWeightsOrOfTheSource) {
  EXPECT_EQ(Chosen(2, Layout::kPlain, kBytes / 2), Layout::kChannelsLast);
  EXPECT_EQ(Chosen(2, Layout::kPlain, kBytes * 2), Layout::kBlocked);
}

TEST_F(ConvolutionLayoutTest, OfAGangStaysAsItIsForASmallSaving) {
  EXPECT_EQ(Chosen(2, Layout::kChannelsLast, kBytes * 2), Layout::kChannelsLast);
  EXPECT_EQ(Chosen(2, Layout::kChannelsLast, kBytes * 20), Layout::kBlocked);
  EXPECT_EQ(Chosen(2, Layout::kBlocked, kBytes / 2), Layout::kBlocked);
  EXPECT_EQ(Chosen(2, Layout::kBlocked, kBytes / 20), Layout::kChannelsLast);
}

TEST_F(ConvolutionLayoutTest, OfAGangSharesRowsOnlyWhereSharesAreNearlyEvenAndImagesAreNot) {
  EXPECT_EQ(Chosen(2, Layout::kPlain, 64, {1, 64, 7, 7}), Layout::kChannelsLast);
  EXPECT_EQ(Chosen(4, Layout::kPlain, 64, {1, 64, 5, 5}), Layout::kBlocked);
  EXPECT_EQ(Chosen(2, Layout::kPlain, 64, {1, 64, 1, 1}), Layout::kBlocked);
  EXPECT_EQ(Chosen(2, Layout::kPlain, 64, {2, 64, 56, 56}), Layout::kBlocked);
  EXPECT_EQ(Chosen(2, Layout::kPlain, 64, {3, 64, 56, 56}), Layout::kChannelsLast);
}

TEST_F(ConvolutionLayoutTest, OfOneWorkerIsThatOfItsSource) {
  EXPECT_EQ(Chosen(1, Layout::kPlain, 64), Layout::kBlocked);
  EXPECT_EQ(Chosen(1, Layout::kBlocked, 64), Layout::kBlocked);
  EXPECT_EQ(Chosen(1, Layout::kChannelsLast, kBytes * 20), Layout::kChannelsLast);
}

}  // namespace
}  // namespace millrace
