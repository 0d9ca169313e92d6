// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/go_corpus.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "millrace/machine/machine.h"
#include "millrace/plan/hash.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

constexpr int kCases = 36;  // six of each family

TEST(GoCorpus, DrawsTheSameCaseForTheSameSeedAndNumberAndOthersForOthers) {
  std::set<std::string> seen;
  for (const GoCasePurpose purpose : {GoCasePurpose::kTraining, GoCasePurpose::kValidation}) {
    for (int number = 0; number < testing::Rounds(kCases); ++number) {
      const GoCase first = DrawGoCase(1, purpose, number), again = DrawGoCase(1, purpose, number);
      EXPECT_EQ(first.name, again.name);
      EXPECT_EQ(first.machine, again.machine);
      const std::string graph = GraphHash(MakeGoWorkload(first.workload));
      EXPECT_EQ(graph, GraphHash(MakeGoWorkload(again.workload)));
      EXPECT_TRUE(seen.insert(graph + MachineHash(first.machine)).second) << first.name;
    }
  }
  EXPECT_NE(DrawGoCase(1, GoCasePurpose::kTraining, 0).machine, DrawGoCase(2, GoCasePurpose::kTraining, 0).machine);
}

TEST(GoCorpus, NeverDrawsAWorkloadThatPlannersAreJudgedBy) {
  std::set<std::string> judged;
  for (const GoWorkload& workload : ShortGoWorkloads()) judged.insert(GraphHash(MakeGoWorkload(workload)));
  for (int number = 0; number < kCases; ++number) {
    const GoCase drawn = DrawGoCase(1, GoCasePurpose::kTraining, number);
    EXPECT_EQ(judged.count(GraphHash(MakeGoWorkload(drawn.workload))), 0u) << drawn.name;
    // The long forms are too large to be built for a test: a case never has all their sizes.
    for (const GoWorkload& workload : GoWorkloads()) {
      const ModelOptions& a = workload.options;
      const ModelOptions& b = drawn.workload.options;
      const bool same = workload.family == drawn.workload.family && (!b.hidden || a.hidden == b.hidden) &&
                        a.batch == b.batch && a.layers == b.layers && a.sequence == b.sequence;
      EXPECT_FALSE(same) << drawn.name;
    }
  }
}

TEST(GoCorpus, LengthensSequencesAndNothingElse) {
  constexpr double kLongest = 8;
  std::set<std::string> longer;
  for (int number = 0; number < kCases; ++number) {
    const GoCase plain = DrawGoCase(5, GoCasePurpose::kTraining, number);
    const GoCase drawn = DrawGoCase(5, GoCasePurpose::kTraining, number, kLongest);
    EXPECT_EQ(drawn.machine, plain.machine);
    const ModelOptions& options = drawn.workload.options;
    ASSERT_EQ(options.sequence.has_value(), plain.workload.options.sequence.has_value());
    if (!options.sequence) continue;
    const auto factor = static_cast<double>(*options.sequence) / static_cast<double>(*plain.workload.options.sequence);
    EXPECT_GE(factor, 1) << drawn.name;
    EXPECT_LE(factor, kLongest) << drawn.name;
    if (factor > 2) longer.insert(drawn.workload.family);
    if (options.chunks) EXPECT_EQ(*options.sequence % *options.chunks, 0) << drawn.name;
    EXPECT_EQ(options.layers, plain.workload.options.layers);
  }
  EXPECT_EQ(longer, (std::set<std::string>{"rnnlm", "gnmt", "transformer_xl"}));
}

TEST(GoCorpus, HasMachinesThatAreValidAndFamiliesThatTakeTurns) {
  for (int number = 0; number < kCases; ++number) {
    const GoCase drawn = DrawGoCase(3, GoCasePurpose::kTraining, number);
    EXPECT_NO_THROW(CheckMachine(drawn.machine));
    EXPECT_EQ(drawn.workload.family, GoFamilies()[static_cast<std::size_t>(number) % GoFamilies().size()]);
    EXPECT_GE(drawn.machine.devices.size(), 2u);
    EXPECT_LE(drawn.machine.devices.size(), 8u);
    for (const Link& link : drawn.machine.links) EXPECT_GT(link.bandwidth, 0);
    const int ops = MakeGoWorkload(drawn.workload).num_ops();
    EXPECT_GE(ops, 100) << drawn.name;
    EXPECT_LE(ops, 4000) << drawn.name;
  }
}

TEST(GoCorpus, OffersCasesWithinTheLimitsUntilSoManyAreTaken) {
  const GoCaseLimits limits{.most_ops = 1500, .without = {"rnnlm", "amoebanet"}};
  std::vector<std::string> offered, taken;
  TakeGoCases(1, GoCasePurpose::kTraining, 6, limits, [&](GoCase drawn) {
    EXPECT_LE(MakeGoWorkload(drawn.workload).num_ops(), 1500) << drawn.name;
    EXPECT_NE(drawn.workload.family, "rnnlm");
    EXPECT_NE(drawn.workload.family, "amoebanet");
    offered.push_back(drawn.name);
    if (offered.size() % 2 == 0) return false;
    taken.push_back(drawn.name);
    return true;
  });
  EXPECT_EQ(taken.size(), 6u);
  EXPECT_EQ(offered.size(), 11u);
  EXPECT_EQ(std::set(offered.begin(), offered.end()).size(), offered.size());
}

TEST(GoCorpus, OffersNothingWhereNoCaseIsWithinTheLimits) {
  const GoCaseLimits limits{.without = GoFamilies()};
  TakeGoCases(1, GoCasePurpose::kTraining, 3, limits, [](const GoCase& drawn) {
    ADD_FAILURE() << drawn.name;
    return true;
  });
}

}  // namespace
}  // namespace millrace
