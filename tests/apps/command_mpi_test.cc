// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "tests/apps/command.h"

// The command on the ranks of mpirun, where there is one.
namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class RanksOfCommand : public Command {
 protected:
  void SetUp() override {
#ifndef MILLRACE_MPI_BUILT
    GTEST_SKIP() << "built without MPI";
#endif
    if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun here";
  }

  Outcome RunRanks(int ranks, const std::string& arguments) const {
    return RunProgram(ranks, "'" MILLRACE_COMMAND "' " + arguments);
  }
  Outcome RunProgram(int ranks, const std::string& words) const {
    const std::string line =
        "cd '" + Path("") +
        "' && ASAN_OPTIONS=detect_leaks=0 mpirun -q --allow-run-as-root --oversubscribe --bind-to none " +
        "--mca mpi_yield_when_idle 1 --mca rtc_hwloc_vmhole none -n " + std::to_string(ranks) + " " + words +
        " >out.txt 2>err.txt </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ContentOf(Path("out.txt")),
            ContentOf(Path("err.txt"))};
  }

  Outcome DoOnRanks(int ranks, const std::string& arguments) const {
    Outcome outcome = RunRanks(ranks, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << "\n" << outcome.err;
    return outcome;
  }

  // One line of ours says `what`, beside a warning of few processors; mpirun may add words of its own.
  void RanksRefuse(int ranks, const std::string& arguments, const std::string& what) const {
    ExpectRefused(RunRanks(ranks, arguments), what);
  }
  static void ExpectRefused(const Outcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(what));
    // On a host of fewer processors than ranks this is said, too.
    constexpr std::string_view kFew = "millrace: warning: 2 ranks on ";
    std::size_t lines = 0;
    for (std::size_t at = outcome.err.find("millrace: "); at != std::string::npos;
         at = outcome.err.find("millrace: ", at + 1)) {
      if (outcome.err.compare(at, kFew.size(), kFew) != 0) ++lines;
    }
    EXPECT_EQ(lines, 1u) << outcome.err;
  }
};

TEST_F(RanksOfCommand, OptimizeMeasureAndRunAModelTogether) {
  Do("generate towers --hidden 32 --batch 2 -o m.onnx");
  const Json best =
      DoOnRanks(2, "optimize m.onnx --target mpi --quick --top-k 4 -o out --json --profile-cache ''").json();
  EXPECT_GT(best["best"]["target_seconds"].get<double>(), 0);
  const Json plan = Json::parse(ContentOf(Path("out/plan.json")));
  EXPECT_EQ(plan["machine"]["devices"].size(), 2u);
  EXPECT_EQ(plan["machine"]["links"].size(), 2u);
  const Json measured = DoOnRanks(2, "measure m.onnx --plan out/plan.json --target mpi --repetitions 3 --json").json();
  EXPECT_EQ(measured["times"].size(), 3u);
  // The same numbers as in one process, whichever plan the ranks go by.
  Do("run m.onnx --random-inputs --seed 4 --output-dir alone");
  DoOnRanks(
      2, "run m.onnx --random-inputs --seed 4 --output-dir together --target mpi --plan out/baselines/heft.plan.json");
  const std::string alone = ContentOf(Path("alone/output_0.pb")), together = ContentOf(Path("together/output_0.pb"));
  EXPECT_FALSE(alone.empty());
  EXPECT_EQ(alone.size(), together.size());
}

TEST_F(RanksOfCommand, EmulateAGraphThatNobodyCanRun) {
  GenerateGraph();
  const Json best =
      DoOnRanks(3, "optimize g.json --machine homogeneous:3 --target mpi,emulate --quick --top-k 4 -o out --json")
          .json();
  EXPECT_GT(best["best"]["target_seconds"].get<double>(), 0);
}

TEST_F(RanksOfCommand, ComplainOnceOfWhatIsWrongEverywhere) {
  GenerateGraph();
  RanksRefuse(2, "optimize missing.onnx --target mpi -o out", "missing.onnx");
  RanksRefuse(2, "optimize g.json --target mpi -o out", "take mpi,emulate");
  RanksRefuse(2, "optimize g.json --target mpi,wrong -o out", "there is no option 'wrong'");
  RanksRefuse(2, "optimize g.json --machine homogeneous:5 --target mpi,emulate -o out",
              "takes 5 ranks, and there are 2; start it with mpirun -n 5");
}

TEST_F(RanksOfCommand, AreRefusedWithAnotherModelThanRankZero) {
  Do("generate layered --ops 20 --seed 1 -o 0.json");
  Do("generate layered --ops 20 --seed 2 -o 1.json");
  Write("each.sh", "exec '" MILLRACE_COMMAND
                   "' optimize $OMPI_COMM_WORLD_RANK.json --target mpi,emulate "
                   "--machine homogeneous:2 -o out");
  ExpectRefused(RunProgram(2, "sh each.sh"), "rank 1 on ");
}

}  // namespace
}  // namespace millrace::testing
