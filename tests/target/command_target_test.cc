// SPDX-License-Identifier: Apache-2.0
#include "millrace/target/command_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/formats/plan_json.h"
#include "millrace/plan/hash.h"
#include "tests/reference/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ComputationGraph OneOp() {
  GraphData data;
  data.name = "one";
  data.ops.resize(1);
  return ComputationGraph(std::move(data));
}

class CommandTargets : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.devices.push_back({"d", "cpu", {0}, 1, 1, std::nullopt, 0});
    context_.graph = &graph_;
    context_.machine = &machine_;
    context_.seed = 5;
  }

  std::string Script(const std::string& body) const {
    const std::string path = folder_.Path("script");
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0700);
    return path;
  }

  double Run(const std::string& words) const { return MakeTarget(words, context_)->Load(plan_)->Run(); }

  std::string Failure(const std::string& script, const CommandOptions& options = {}) const {
    const auto target = MakeCommandTarget(SplitCommand(Script(script)), "cmd:script", context_, options);
    try {
      const double seconds = target->Load(plan_)->Run();
      return "no failure but " + std::to_string(seconds);
    } catch (const MeasurementFailed& failure) {
      EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos) << failure.what();
      return failure.what();
    }
  }

  static std::size_t OpenDescriptors() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
  }

  testing::TemporaryFolder folder_;
  ComputationGraph graph_ = OneOp();
  Machine machine_;
  TargetContext context_;
  Plan plan_{{{0}}, {0}, {0}};
};

TEST(SplitCommand, KeepsQuotedWordsTogether) {
  EXPECT_THAT(SplitCommand("run  a 'b c' \"d e\"f \\\"g\\ h ''").words,
              ElementsAre("run", "a", "b c", "d ef", "\"g h", ""));
  EXPECT_THAT(SplitCommand("run $HOME; '$x' | \"\\\"\"").words, ElementsAre("run", "$HOME;", "$x", "|", "\""));
  EXPECT_TRUE(SplitCommand("run").append_plan);
  EXPECT_FALSE(SplitCommand("run --plan={plan}").append_plan);
}

TEST(ParseCommandTarget, TakesATimeoutBeforeTheColonOnly) {
  EXPECT_EQ(ParseCommandTarget("cmd:run").options.timeout_seconds, 300);
  EXPECT_EQ(ParseCommandTarget("cmd,timeout=0.5:run").options.timeout_seconds, 0.5);
  EXPECT_EQ(ParseCommandTarget("cmd-sh,timeout=1e3:run | tail").options.timeout_seconds, 1000);
  EXPECT_THAT(ParseCommandTarget("cmd-sh,timeout=7:run: a").command.words,
              ElementsAre("/bin/sh", "-c", "run: a", "millrace"));
  const NamedCommand without = ParseCommandTarget("cmd:timeout=2,run ,timeout=3:x");
  EXPECT_EQ(without.options.timeout_seconds, 300);
  EXPECT_THAT(without.command.words, ElementsAre("timeout=2,run", ",timeout=3:x"));
}

TEST_F(CommandTargets, StopACommandAfterTheTimeoutItsNameSays) {
  const std::string script = Script("sleep 1000; echo 1");
  for (const std::string& words : {"cmd,timeout=0.2:" + script, "cmd-sh,timeout=0.2:" + script}) {
    try {
      Run(words);
      FAIL() << words;
    } catch (const MeasurementFailed& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("within 0.2 seconds"));
    }
  }
  EXPECT_EQ(Run("cmd,timeout=1e300:" + Script("sleep 0.01; echo 2")), 2.0);
}

TEST_F(CommandTargets, KeepTheTargetsPromises) {
  const std::string words = "cmd:" + Script("echo starting; echo 0.5; echo; echo ' '");
  const auto target = MakeTarget(words, context_);
  EXPECT_EQ(target->name(), words);
  EXPECT_FALSE(target->deterministic());
  const auto first = target->Load(plan_);
  const auto second = target->Load(plan_);
  EXPECT_EQ(first->Run(), 0.5);
  EXPECT_EQ(second->Run(), 0.5);
  EXPECT_EQ(first->Run(), 0.5);
}

TEST_F(CommandTargets, HandOverAPlanThatCanBeLoaded) {
  Run("cmd:" + Script("cp \"$2\" " + folder_.Path("copy") + "; echo 1") + " 'first argument'");
  const PlanRecord record = LoadPlan(folder_.Path("copy"), graph_);
  EXPECT_EQ(record.plan, plan_);
  EXPECT_EQ(record.graph_hash, GraphHash(graph_));
  EXPECT_EQ(record.machine, machine_);
  EXPECT_EQ(record.seed, 5U);
}

TEST_F(CommandTargets, PutThePlanWhereTheWordsWantIt) {
  EXPECT_EQ(
      Run("cmd:" + Script("test -f \"${1#--plan=}\" && test \"$2\" = x && test $# = 2 && echo 2") + " --plan={plan} x"),
      2.0);
  EXPECT_EQ(Run("cmd-sh:test -f \"$1\" && test '{plan}' = \"{\"plan} && echo 3 | cat"), 3.0);
}

TEST_F(CommandTargets, LeaveNoPlanBehind) {
  const std::string words = "cmd:" + Script("echo \"$1\" > " + folder_.Path("path") + "; echo 1");
  Run(words);
  std::string path;
  std::getline(std::ifstream(folder_.Path("path")), path);
  ASSERT_FALSE(path.empty());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

TEST_F(CommandTargets, FailWhereTheLastLineIsNoTime) {
  for (const std::string line : {"fast", "0", "-1", "nan", "inf", "1e999", "0.5s", "0.5 0.6", "1,5", "0x10"})
    EXPECT_THAT(Failure("echo 1; echo '" + line + "'"), HasSubstr("'" + line + "', is not a number of seconds > 0"));
  EXPECT_THAT(Failure("echo; echo lost >&2"), ::testing::AllOf(HasSubstr("printed nothing"), HasSubstr("'lost'")));
  EXPECT_THAT(Failure("printf '\\001\\033[31m'"), HasSubstr("'\\x01\\x1b[31m'"));
}

TEST_F(CommandTargets, FailWithTheLastWordsOfACommandThatFails) {
  EXPECT_THAT(
      Failure("echo 1; echo first >&2; echo no such board >&2; exit 3"),
      ::testing::AllOf(HasSubstr("exit status 3"), HasSubstr("no such board"), ::testing::Not(HasSubstr("first"))));
  EXPECT_THAT(Failure("echo 1; kill -SEGV $$"), HasSubstr("signal 11"));
  try {
    Run("cmd:" + folder_.Path("nothing-here"));
    FAIL();
  } catch (const MeasurementFailed& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("cannot be started"));
  }
}

TEST_F(CommandTargets, KillACommandThatTakesTooLongWithAllItStarted) {
  CommandOptions options;
  options.timeout_seconds = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(
      Failure("echo 1; sleep 1000 & echo $! > " + folder_.Path("pid") + "; trap '' TERM INT; sleep 1000; echo 2",
              options),
      HasSubstr("within 0.3 seconds"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  pid_t sleeper = 0;
  std::ifstream(folder_.Path("pid")) >> sleeper;
  ASSERT_GT(sleeper, 0);
  // Orphans are reaped by somebody else, when they get to it; until then they are zombies, which is dead enough.
  bool alive = true;
  for (int i = 0; i < 500 && alive; ++i) {
    std::ifstream stat("/proc/" + std::to_string(sleeper) + "/stat");
    std::string text;
    std::getline(stat, text);
    alive = stat && text.find(") Z") == std::string::npos;
    if (alive) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(alive);
}

TEST_F(CommandTargets, DoNotWaitForWhatACommandLeavesInTheBackground) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Run("cmd:" + Script("sleep 1000 & echo 0.25")), 0.25);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(CommandTargets, FailWhereTheOutputHasNoEnd) {
  CommandOptions options;
  options.most_output_bytes = 1 << 20;
  EXPECT_THAT(Failure("yes", options), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(Failure("yes >&2", options), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(Failure("head -c 2000000 /dev/zero; echo; echo 1", options), HasSubstr("more than 1048576 bytes"));
}

TEST_F(CommandTargets, ReadTheLastOfMuchOutput) {
  EXPECT_EQ(Run("cmd:" + Script("head -c 3000000 /dev/zero | tr '\\0' '\\n'; echo 0.125")), 0.125);
}

TEST_F(CommandTargets, GiveTheCommandNothingToReadAndNoDescriptorsOfOurs) {
  // Without ours it sees as many as it would if a shell had started it.
  const std::string script = Script("cat; ls /proc/self/fd | wc -l");
  const double by_us = Run("cmd:" + script);
  std::FILE* by_a_shell = popen((script + " 2>/dev/null </dev/null").c_str(), "r");
  ASSERT_NE(by_a_shell, nullptr);
  int expected = 0;
  ASSERT_EQ(std::fscanf(by_a_shell, "%d", &expected), 1);
  pclose(by_a_shell);
  EXPECT_EQ(by_us, expected);
}

TEST_F(CommandTargets, LeaveNeitherZombiesNorDescriptors) {
  const std::string words = "cmd:" + Script("echo 1");
  Run(words);
  const std::size_t before = OpenDescriptors();
  for (int i = 0; i < 10; ++i) Run(words);
  for (int i = 0; i < 5; ++i) Failure("exit 1");
  EXPECT_THROW(Run("cmd:" + folder_.Path("nothing-here")), MeasurementFailed);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // there are no children at all
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(CommandTargets, StopAtOnceWhenTheUserAsksTo) {
  const std::string words =
      "cmd:" + Script("echo $$ > " + folder_.Path("pid") + "; kill -INT $PPID; sleep 1000; echo 1");
  const pid_t run = fork();  // being interrupted cannot be taken back, so it happens to a process of its own
  ASSERT_GE(run, 0);
  if (run == 0) {
    WatchForInterrupt();
    int code = 1;
    try {
      Run(words);
    } catch (const Interrupted&) {
      code = waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 2;
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(run, &status, 0), run);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  pid_t script = 0;
  std::ifstream(folder_.Path("pid")) >> script;
  ASSERT_GT(script, 0);
  EXPECT_EQ(kill(script, 0), -1);
}

}  // namespace
}  // namespace millrace
