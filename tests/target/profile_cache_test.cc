// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/profile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "millrace/runtime/revision.h"

namespace millrace {
namespace {

class ProfileCacheFile : public ::testing::Test {
 protected:
  ProfileCacheFile()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("profile_cache_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ProfileCacheFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "deeper" / "profile.jsonl").string(); }
  std::string Text() const {
    std::ifstream file(path());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Write(const std::string& text) const { std::ofstream(path()) << text; }
  void SaveTwoEntries() const {
    ProfileCache cache(path());
    cache.Add("Conv a", 1, 2.5e-3);
    cache.Add("Conv a", 2, 0.1 + 0.2);
    cache.Save();
  }

  std::filesystem::path folder_;
};

TEST_F(ProfileCacheFile, ReadsBackWhatItSavedToTheLastBit) {
  SaveTwoEntries();
  const ProfileCache cache(path());
  EXPECT_EQ(cache.Find("Conv a", 1), 2.5e-3);
  EXPECT_EQ(cache.Find("Conv a", 2), 0.1 + 0.2);
  EXPECT_EQ(cache.Find("Conv a", 4), std::nullopt);
  EXPECT_EQ(cache.Find("Conv b", 1), std::nullopt);
  EXPECT_EQ(cache.warning(), "");
}

TEST_F(ProfileCacheFile, BelievesTimesOfSeveralUnitsOnlyWhereTheseHandOverForAboutTheSame) {
  {
    ProfileCache cache(path());
    cache.SetHandOver(5e-8);
    cache.Add("Conv a", 1, 2.5e-3);
    cache.Add("Conv a", 2, 1.5e-3);
    cache.Save();
  }
  for (const auto& [hand_over, believed] :
       {std::pair{5e-8, true}, {2.6e-8, true}, {9e-8, true}, {2.4e-8, false}, {2e-7, false}, {0.0, false}}) {
    ProfileCache cache(path());
    cache.SetHandOver(hand_over);
    EXPECT_EQ(cache.Find("Conv a", 1), 2.5e-3) << hand_over;
    EXPECT_EQ(cache.Find("Conv a", 2).has_value(), believed) << hand_over;
    // What is measured anew takes the place of what was not believed.
    cache.Add("Conv a", 2, 3.5e-3);
    EXPECT_EQ(cache.Find("Conv a", 2), 3.5e-3) << hand_over;
  }
}

TEST_F(ProfileCacheFile, NamesTheProcessorAndTheRuntimeItWasMeasuredOn) {
  SaveTwoEntries();
  EXPECT_THAT(Text(), ::testing::HasSubstr(HostProcessor()));
  EXPECT_THAT(Text(), ::testing::HasSubstr(RuntimeRevision()));
}

TEST(RuntimeRevisions, NameTheVersionsOfMillraceItsKernelsAndOneDnn) {
  EXPECT_THAT(
      RuntimeRevision(),
      ::testing::MatchesRegex("millrace [0-9]+\\.[0-9]+\\.[0-9]+, kernels [0-9]+, oneDNN [0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(ProfileCacheFile, DoesNotBelieveTimesOfAnotherProcessorOrRuntime) {
  const std::string kernels = "kernels " + std::to_string(kKernelRevision);
  const std::string one_dnn = RuntimeRevision().substr(RuntimeRevision().find("oneDNN"));
  for (const auto& [ours, other] : {std::pair<std::string, std::string>{HostProcessor(), "Another Processor, avx9000"},
                                    {kernels, "kernels 0"},
                                    {one_dnn, "oneDNN 2.6.2"},
                                    {"\"runtime\"", "\"remark\""}}) {
    SaveTwoEntries();
    std::string text = Text();
    text.replace(text.find(ours), ours.size(), other);
    Write(text);
    const ProfileCache cache(path());
    EXPECT_EQ(cache.Find("Conv a", 1), std::nullopt) << other;
    EXPECT_THAT(cache.warning(), ::testing::HasSubstr("not a profile of this processor and runtime")) << other;
  }
}

TEST_F(ProfileCacheFile, KeepsWholeEntriesOfAFileCutOffAnywhere) {
  SaveTwoEntries();
  const std::string text = Text();
  const std::size_t header = text.find('\n') + 1;
  for (std::size_t length = 0; length < text.size(); ++length) {
    Write(text.substr(0, length));
    const ProfileCache cache(path());
    for (const int units : {1, 2}) {
      const std::optional<double> found = cache.Find("Conv a", units);
      if (length < header - 1) {
        EXPECT_FALSE(found) << length;
      } else if (found) {
        EXPECT_EQ(*found, units == 1 ? 2.5e-3 : 0.1 + 0.2) << length;
      }
    }
  }
}

TEST_F(ProfileCacheFile, IgnoresEntriesThatAreNoTimes) {
  SaveTwoEntries();
  Write(Text() +
        "{\"signature\":\"Conv b\",\"units\":1,\"seconds\":-1}\n{\"signature\":7}\n[]\nnonsense\n"
        "{\"signature\":\"Conv b\",\"units\":1,\"seconds\":1e-300}\n");
  const ProfileCache cache(path());
  EXPECT_EQ(cache.Find("Conv a", 1), 2.5e-3);
  EXPECT_EQ(cache.Find("Conv b", 1), std::nullopt);
  EXPECT_THAT(cache.warning(), ::testing::HasSubstr("profile.jsonl:4: no profile entry, the first of 5 such lines"));
}

TEST_F(ProfileCacheFile, ForgetsTimesThatWereForNowAndWhatTheFileHeldInTheirPlace) {
  SaveTwoEntries();
  ProfileCache cache(path());
  cache.AddForNow("Conv a", 1, 7.5e-3);
  cache.AddForNow("Conv b", 1, 8.5e-3);
  cache.Save();
  EXPECT_EQ(cache.Find("Conv a", 1), 7.5e-3);
  EXPECT_EQ(cache.Find("Conv b", 1), 8.5e-3);
  const ProfileCache next(path());
  EXPECT_EQ(next.Find("Conv a", 1), std::nullopt);
  EXPECT_EQ(next.Find("Conv b", 1), std::nullopt);
  EXPECT_EQ(next.Find("Conv a", 2), 0.1 + 0.2);
}

TEST_F(ProfileCacheFile, MeasuringAnewPassesOverWhatItHoldsAndKeepsTheRestOfIt) {
  SaveTwoEntries();
  ProfileCache cache(path());
  cache.MeasureAnew();
  EXPECT_EQ(cache.Find("Conv a", 1), std::nullopt);
  cache.Add("Conv a", 1, 4e-3);
  EXPECT_EQ(cache.Find("Conv a", 1), 4e-3);
  cache.Save();
  const ProfileCache next(path());
  EXPECT_EQ(next.Find("Conv a", 1), 4e-3);
  EXPECT_EQ(next.Find("Conv a", 2), 0.1 + 0.2);
}

TEST_F(ProfileCacheFile, DoesNotBelieveFilesThatMayHoldDisturbedTimes) {
  SaveTwoEntries();
  std::string text = Text();
  const std::string ours = ",\"disturbed\":\"left out\"";
  text.erase(text.find(ours), ours.size());
  Write(text);
  const ProfileCache cache(path());
  EXPECT_EQ(cache.Find("Conv a", 1), std::nullopt);
  EXPECT_THAT(cache.warning(), ::testing::HasSubstr("measuring anew"));
}

TEST(ProfileCache, WithoutAPathKeepsTimesInMemory) {
  ProfileCache cache;
  cache.Add("Gemm", 1, 1.0);
  cache.Save();
  EXPECT_EQ(cache.Find("Gemm", 1), 1.0);
}

}  // namespace
}  // namespace millrace
