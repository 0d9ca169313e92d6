// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/quality/ablation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/errors/errors.h"
#include "millrace/gflownet/policy/message_passing.h"
#include "millrace/network/weights.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

std::string Validation(const char* cell, int update, double seconds, double temperature, double best) {
  return std::string("{\"validation\":\"") + cell + "\",\"update\":" + std::to_string(update) +
         ",\"seconds\":" + std::to_string(seconds) + ",\"temperature\":" + std::to_string(temperature) +
         ",\"best\":" + std::to_string(best) + ",\"mean\":0.9,\"greedy\":0.95,\"wins\":0.5}\n";
}

const std::string kUpdate = R"({"update":400,"seconds":80,"loss":1.5,"best":1.0,"mean":0.9})"
                            "\n";

TEST(TrainingLog, KeepsTheBestTemperatureOverAllGraphsByUpdate) {
  const TrainingLog log =
      ParseTrainingLog(Validation("all", 0, 0, 0.03, 0.99) + Validation("er 60x4", 0, 0, 0.03, 2) +
                           Validation("all", 200, 40, 0.03, 1.01) + Validation("all", 200, 40, 0.1, 1.02) + kUpdate +
                           Validation("all", 400, 80, 0.03, 1.00) + "\n",
                       "log");
  ASSERT_EQ(log.points.size(), 3u);
  EXPECT_EQ(log.points[1].update, 200);
  EXPECT_DOUBLE_EQ(log.points[1].best, 1.02);
  EXPECT_EQ(log.updates, 400);
  EXPECT_EQ(log.seconds, 80);
}

TEST(TrainingLog, SaysWhichLineIsWrong) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      ParseTrainingLog(text, "run.jsonl");
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint(kUpdate + "nonsense\n"), HasSubstr("run.jsonl:2:"));
  EXPECT_THAT(complaint(kUpdate + "{\"update\":1}\n"), HasSubstr("seconds"));
  EXPECT_THAT(complaint(kUpdate), HasSubstr("without any validation"));
}

TEST(Ablation, TellsTheLastValidationFromTheBestAndDrawsFromWeights) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.Path("gflownet.safetensors");
  Random random(1);
  WriteWeights(file, InitialMessagePassingWeights(random));
  TrainingRun run;
  run.name = "variance";
  run.weights = file;
  run.log = ParseTrainingLog(Validation("all", 0, 0, 0.03, 0.99) + Validation("all", 200, 40, 0.03, 1.05) +
                                 Validation("all", 400, 80, 0.03, 1.04),
                             "log");
  AblationOptions options;
  options.quick = true;
  options.threads = 2;
  const std::vector<Table> tables = AblationTables({run}, options, [](int, int) {});
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_NEAR(tables[0].rows[0][3].numbers[0], 1.04, 1e-9);
  EXPECT_NEAR(tables[0].rows[0][7].numbers[0], 1.05, 1e-9);
  EXPECT_EQ(tables[0].rows[0][8].numbers[0], 200);
  EXPECT_EQ(tables[1].rows[0][1].text, "0.9900");
  EXPECT_EQ(tables[1].rows[0][3].text, "1.0500");
  ASSERT_EQ(tables[2].rows.size(), 4u);
  EXPECT_EQ(tables[2].rows[1][2].numbers[0], 12);
  EXPECT_EQ(tables[2].rows[2][0].text, "gflownet-untrained");
}

}  // namespace
}  // namespace millrace
