// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "millrace/formats/model_graph.h"
#include "millrace/machine/preset.h"
#include "millrace/workloads/models.h"

// With times that are made up: no clock is read.
namespace millrace {
namespace {

class ProfileGraphTest : public ::testing::Test {
 protected:
  ProfileGraphTest()
      : path_((std::filesystem::path(::testing::TempDir()) / ("profile_" + std::to_string(::getpid()) + ".jsonl"))
                  .string()) {
    ModelOptions options;
    options.hidden = 16;
    options.batch = 2;
    model_ = MakeModel("towers", options);
    graph_ = GraphOfModel(model_);
  }
  ~ProfileGraphTest() override { std::filesystem::remove(path_); }

  // Every group takes `seconds`; the first of them is disturbed where `disturbed` says so.
  ProfileSummary Profile(double seconds, bool disturbed, bool anew = false, const Deadline& deadline = Deadline()) {
    ProfileCache cache(path_);
    if (anew) cache.MeasureAnew();
    int timed = 0;
    ProfileGraphOptions options;
    options.time_group = [&](const Model&, std::span<const int>, std::span<const int>,
                             const ProfileGroupOptions& group) {
      weights_apart_ = group.weights_apart;
      allowed_.push_back(group.seconds);
      return ProfiledTime{seconds, disturbed && timed++ == 0};
    };
    ProfileSummary summary;
    profiled_ = ProfileGraph(
        model_, graph_, *MachinePreset("homogeneous:2"), {}, options, cache, deadline, [](int, int) {}, summary);
    cache.Save();
    return summary;
  }

  std::string path_;
  Model model_;
  ComputationGraph graph_;
  ComputationGraph profiled_;
  bool weights_apart_ = false;   // in the last timing
  std::vector<double> allowed_;  // seconds, by timing
};

TEST_F(ProfileGraphTest, UsesADisturbedTimeOnceAndTakesItAgainInTheNextRun) {
  const ProfileSummary first = Profile(2e-3, true);
  EXPECT_EQ(first.measured, first.distinct);
  EXPECT_EQ(first.disturbed, 1);
  EXPECT_EQ(first.left_out, 0);
  for (OpId op = 0; op < profiled_.num_ops(); ++op) EXPECT_TRUE(profiled_.op(op).seconds.stated()) << op;
  const ProfileSummary second = Profile(1e-3, false);
  EXPECT_EQ(second.measured, 1);
  EXPECT_EQ(second.from_cache, first.distinct - 1);
  EXPECT_EQ(second.disturbed, 0);
  EXPECT_EQ(Profile(1e-3, false).measured, 0);
}

TEST_F(ProfileGraphTest, MeasuresAllAnewWhereAsked) {
  const int distinct = Profile(2e-3, false).distinct;
  const ProfileSummary anew = Profile(1e-3, false, true);
  EXPECT_EQ(anew.measured, distinct);
  EXPECT_EQ(anew.from_cache, 0);
  for (OpId op = 0; op < profiled_.num_ops(); ++op)
    EXPECT_EQ(profiled_.op(op).seconds.by_kind.front().second, 1e-3) << op;
  EXPECT_EQ(Profile(5e-3, false).measured, 0);
}

TEST_F(ProfileGraphTest, SharesOutAShortTimeOverAllThatIsMissing) {
  const ProfileSummary plenty = Profile(2e-3, false);
  EXPECT_EQ(plenty.measured, plenty.distinct);
  EXPECT_THAT(allowed_, ::testing::Each(ProfileGraphOptions().seconds_per_group));
  std::filesystem::remove(path_);
  allowed_.clear();
  // A quarter of what all would take.
  const double seconds = plenty.distinct * ProfileGraphOptions().seconds_per_group / 4;
  const ProfileSummary scarce = Profile(2e-3, false, false, Deadline(seconds));
  EXPECT_EQ(scarce.measured, scarce.distinct);
  EXPECT_LT(allowed_.front(), ProfileGraphOptions().seconds_per_group / 3);
  // These timings are over at once, and leave their time to the others.
  EXPECT_GT(allowed_.back(), allowed_.front());
}

TEST_F(ProfileGraphTest, HasWeightsOfALargeModelComeFromMemoryAndKeepsThoseTimesApart) {
  const int distinct = Profile(2e-3, false).distinct;
  EXPECT_FALSE(weights_apart_);
  Value large;
  large.name = "large";
  large.shape = {std::int64_t{1} << 40};
  large.constant = ConstantData::Filled(large.type, large.shape, std::vector<std::byte>(BytesOf(large.type)));
  model_.values.push_back(large);
  EXPECT_EQ(Profile(3e-3, false).measured, distinct);
  EXPECT_TRUE(weights_apart_);
  model_.values.pop_back();
  EXPECT_EQ(Profile(4e-3, false).from_cache, distinct);
  for (OpId op = 0; op < profiled_.num_ops(); ++op)
    EXPECT_EQ(profiled_.op(op).seconds.by_kind.front().second, 2e-3) << op;
}

}  // namespace
}  // namespace millrace
