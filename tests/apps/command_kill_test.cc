// SPDX-License-Identifier: Apache-2.0
// The command killed at any moment: what it leaves is whole, and the next run goes on from there.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "tests/apps/command.h"

namespace millrace {
namespace {

using testing::Command;
using testing::ContentOf;
using testing::Json;
using testing::Outcome;

// More of them by script/kill.
int Kills() {
  const char* const asked = std::getenv("MILLRACE_KILLS");
  return asked == nullptr ? 8 : std::atoi(asked);
}

class CommandKills : public Command {
 protected:
  static std::vector<std::string> Words() {
    return {"millrace",          "optimize",    "g.json",       "--machine", "homogeneous:4,latency=1e-3,bandwidth=1e9",
            "--target",          "cmd:./board", "-q",           "--samples", "10",
            "--top-k",           "4",           "--iterations", "100",       "--without",
            "calibrate,compare", "-o",          "result",       "--json"};
  }

  // Runs it until it ends, or until it is killed after so many seconds; the seconds it took.
  double RunFor(double seconds) const {
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) {
      if (::chdir(folder_.c_str()) != 0 || std::freopen("out.txt", "w", stdout) == nullptr ||
          std::freopen("err.txt", "w", stderr) == nullptr || ::setenv("TMPDIR", folder_.c_str(), 1) != 0)
        ::_exit(90);
      std::vector<std::string> words = Words();
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(MILLRACE_COMMAND, arguments.data());
      ::_exit(91);
    }
    int status = 0;
    if (seconds > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
    } else {
      ::waitpid(child, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ContentOf(Path("err.txt"));
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // Every file by its own name is whole; of the records the last line may be torn.
  void ExpectWholeFiles() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "result")) {
      const std::string name = entry.path().filename().string();
      const std::string content = entry.is_regular_file() ? ContentOf(entry.path()) : "";
      EXPECT_TRUE(!name.ends_with(".json") || Json::accept(content)) << name;
      EXPECT_TRUE(!name.ends_with(".html") || content.ends_with("</html>\n")) << name;
      if (name != "records.jsonl") continue;
      std::istringstream lines(content.substr(0, content.rfind('\n') + 1));
      for (std::string line; std::getline(lines, line);) EXPECT_TRUE(Json::accept(line)) << line;
    }
  }
};

TEST_F(CommandKills, LeaveWholeFilesThatTheNextRunGoesOnFrom) {
  Do("generate layered --ops 40 --ccr 1 --seed 3 -o g.json");
  Write("board", "#!/bin/sh\nsleep 0.005\ncksum \"$1\" | awk '{print 0.1 + $1 % 1000 / 1e5}'\n");
  std::filesystem::permissions(folder_ / "board", std::filesystem::perms::owner_all);
  const double whole = RunFor(0);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0.01, 1);
  for (int kill = 0; kill < Kills(); ++kill) {
    if (kill % 4 == 0) std::filesystem::remove_all(folder_ / "result");
    RunFor(whole * share(random));
    ExpectWholeFiles();
  }
  RunFor(0);
  ExpectWholeFiles();
  const Json result = Json::parse(ContentOf(Path("out.txt")));
  EXPECT_GT(result["best"]["target_seconds"].get<double>(), 0);
  const std::size_t candidates = result["candidates"].size();
  RunFor(0);
  EXPECT_EQ(Json::parse(ContentOf(Path("out.txt")))["plans_recalled"], candidates);
}

}  // namespace
}  // namespace millrace
