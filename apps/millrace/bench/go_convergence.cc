// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/bench/study.h"
#include "millrace/bench/trainers.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/go/convergence.h"
#include "millrace/experiments/go/go_methods.h"
#include "millrace/experiments/go/go_placement.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"

// millrace bench go-convergence: how soon go learns a graph, beside HDP.
namespace millrace::cli {
namespace {

constexpr std::size_t kMostLogBytes = std::size_t{1} << 28;

struct GoConvergenceFlags {
  GoStudyFlags study;
  double finetune = 50;  // seconds of training go for each workload
  double hdp = 50;       // of HDP
  std::string logs;      // folder to keep those of the trainings in; empty: they are not kept
};

// What needs no training is done with its one plan, measured once.
std::vector<LearningPoint> OnePlan(const GoMethod& method, const GoRow& row, std::uint64_t seed) {
  const GoOutcome outcome = JudgeGoMethod(row, method, seed, std::nullopt);
  if (!outcome.fits) return {};
  return {{1, outcome.wall_seconds, outcome.seconds}};
}

int RunGoConvergence(const CommandLine& line, const GoConvergenceFlags& options) {
  constexpr GoTasks kPlacementAndOrder = {true, true, false};
  BenchAccount account(line, 1);
  const GoStudy study = BeginGoStudy(options.study, account);
  const ScratchFolder scratch("go-convergence");
  const std::string logs = options.logs.empty() ? scratch.path() : options.logs;
  const GoTraining go{scratch.path(), options.finetune, logs};
  const GoTraining hdp{scratch.path(), options.hdp, logs};
  account.Note(
      fmt::format("Placement and order of greedily fused groups; hdp: placement. go and go-untrained: the best of {} "
                  "draws by the proxy. go-finetuned from the weights of go and go-scratch from none: {} s each; "
                  "hdp: {} s. Evaluations of the searches that fine-tuning learns from are counted.",
                  options.study.draws, go.seconds, hdp.seconds));
  std::vector<GoMethod> untaught;
  for (const char* name : {"go-untrained", "go"})
    untaught.push_back(MakeGoMethod(SamplesOf(study, name, options.study.draws)));
  const std::vector<GoMethod> trained = {
      FinetunedGo("go-finetuned", go, FromWeights(study.go_weights), kPlacementAndOrder),
      FinetunedGo("go-scratch", go, FromNoTraining, kPlacementAndOrder), TrainedHdp(hdp)};
  std::vector<std::string> names;
  names.reserve(untaught.size() + trained.size());
  for (const GoMethod& method : untaught) names.push_back(method.name);
  for (const GoMethod& method : trained) names.push_back(method.name);
  std::vector<LearningRow> rows;
  const std::vector<GoWorkload> workloads = GoWorkloadsOf(options.study);
  ProgressBar bar(line.common.quiet);
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    bar.Show("workloads", static_cast<int>(w), static_cast<int>(workloads.size()));
    const std::unique_ptr<GoRow> row = MakeGoRow(workloads[w]);
    LearningRow& learned = rows.emplace_back();
    learned.workload = workloads[w].title;
    learned.points.resize(names.size());
    for (int s = 0; s < study.seeds; ++s) {
      const std::uint64_t seed = GoSeed(line.common.seed, s);
      for (std::size_t m = 0; m < untaught.size(); ++m) learned.points[m].push_back(OnePlan(untaught[m], *row, seed));
      for (std::size_t m = 0; m < trained.size(); ++m) {
        StopIfInterrupted();
        trained[m].plan(*row, seed, std::nullopt);
        const std::string log = TrainingLogOf(go, trained[m].name, *row, seed);
        learned.points[untaught.size() + m].push_back(ParseLearningLog(ReadWholeFile(log, kMostLogBytes), log));
      }
    }
  }
  bar.Clear();
  account.Print(ConvergenceTables(names, rows));
  return 0;
}

}  // namespace

ExperimentRun AddGoConvergence(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<GoConvergenceFlags>();
  AddWorkloadFlags(flags, options->study);
  AddDraws(flags, options->study);
  AddGoWeights(flags, options->study);
  AddSeconds(flags, "--finetune", options->finetune, "Seconds of training go for each workload")->capture_default_str();
  AddSeconds(flags, "--hdp", options->hdp, "Seconds of training HDP for each workload")->capture_default_str();
  flags.add_option("-o,--output", options->logs, "Folder to keep the logs of the trainings in");
  return [&line, options] { return RunGoConvergence(line, *options); };
}

}  // namespace millrace::cli
