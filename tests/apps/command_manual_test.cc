// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/command.h"

namespace millrace {
namespace {

using testing::Command;
using testing::ContentOf;
using ::testing::HasSubstr;
using testing::Json;

TEST_F(Command, PrintsAManualPageOfEveryVerbWithAllFlagsOfItsHelp) {
  const std::string page = Do("manual schedule").out;
  EXPECT_THAT(page, ::testing::StartsWith(".TH millrace-schedule 1 "));
  for (const char* const flag : {"\\-\\-method", "\\-\\-machine", "\\-\\-time\\-limit", "\\-\\-seed"})
    EXPECT_THAT(page, HasSubstr(flag));
  EXPECT_EQ(Do("manual schedule --json").json()["page"], page);
  const Json written = Do("manual --output-dir pages --json").json()["pages"];
  EXPECT_GT(written.size(), 15U);
  EXPECT_EQ(ContentOf(Path("pages/millrace-schedule.1")), page);
  Refuses("manual milling", "there is no verb 'milling'");
}

TEST_F(Command, PrintsCompletionThatKnowsEveryVerb) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = Do("completion " + shell).out;
    for (const char* const verb : {"optimize", "explain", "compare", "go-placement"})
      EXPECT_THAT(script, HasSubstr(verb)) << shell;
    EXPECT_EQ(Do("completion --json " + shell).json()["script"], script);
  }
  Refuses("completion tcsh", "tcsh");
}

}  // namespace
}  // namespace millrace
