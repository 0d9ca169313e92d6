// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/convergence.h"
#include "millrace/experiments/go_methods.h"
#include "millrace/experiments/go_placement.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/go_study.h"
#include "millrace/go_trainers.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"

// millrace bench go-transfer, go-convergence: what the one-shot policy learns from other families and how soon it
// learns a graph, beside HDP.
namespace millrace::cli {
namespace {

constexpr std::size_t kMostLogBytes = std::size_t{1} << 28;
constexpr double kDefaultSeconds = 50;  // of training, where no option says it

constexpr GoTasks kPlacementAndOrder = {true, true, false};

double SecondsOr(double seconds) { return seconds > 0 ? seconds : kDefaultSeconds; }

GoPolicyFor PolicyOf(GoStart start) {
  return [start = std::move(start)](const GoRow& row, const GoTasks&, std::uint64_t) {
    return std::make_shared<const OneShotPolicy>(ReadOneShotPolicy(start(row)));
  };
}

// What needs no training is done with its one plan, measured once.
std::vector<LearningPoint> OnePlan(const GoMethod& method, const GoRow& row, std::uint64_t seed) {
  const GoOutcome outcome = JudgeGoMethod(row, method, seed);
  if (!outcome.fits) return {};
  return {{1, outcome.wall_seconds, outcome.seconds}};
}

std::string FromNone(const GoRow& /*row*/) { return {}; }

}  // namespace

int BenchGoTransfer(const CommandLine& line, const BenchOptions& options) {
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  const GoStudy study = BeginGoStudy(options, threads, account);
  const ScratchFolder scratch("go-transfer");
  const double pretrain = SecondsOr(options.pretrain);
  const double finetune = SecondsOr(options.finetune);
  account.Note(
      fmt::format("Placement and order. go-priors: no training. go-zero-shot: trained for {0} s on the short workloads "
                  "of the other "
                  "five families. go-finetuned: these weights, then {1} s on the workload itself; go-scratch: {1} s "
                  "from no training. "
                  "The best of draws by the proxy; of fine-tuning the best plan measured. contended-search: {2} s.",
                  pretrain, finetune, kGoSearchSeconds));
  const GoStart untrained = PretrainedOnOthers({scratch.path() + "/priors", 0, {}}, line.common.seed);
  const GoStart pretrained = PretrainedOnOthers({scratch.path() + "/pretrained", pretrain, {}}, line.common.seed);
  GoDraws draws = study.draws;
  draws.tasks = kPlacementAndOrder;
  const GoTraining training{scratch.path(), finetune, options.output};
  std::vector<GoMethod> methods = GoBaselinesNamed({"human", "metis", "heft", "contended-search"});
  if (options.hdp > 0) methods.push_back(TrainedHdp({scratch.path(), options.hdp, options.output}));
  methods.push_back(GoOneShot("go-priors", PolicyOf(untrained), draws));
  methods.push_back(GoOneShot("go-zero-shot", PolicyOf(pretrained), draws));
  methods.push_back(FinetunedGo("go-finetuned", training, pretrained, kPlacementAndOrder));
  methods.push_back(FinetunedGo("go-scratch", training, FromNone, kPlacementAndOrder));
  RunGoStudy(line, options, std::move(methods), study.seeds, {"go-zero-shot", "go-finetuned"}, account);
  return 0;
}

int BenchGoConvergence(const CommandLine& line, const BenchOptions& options) {
  BenchAccount account(line, ThreadsOf(line));
  const GoStudy study = BeginGoStudy(options, 1, account);
  const ScratchFolder scratch("go-convergence");
  const std::string logs = options.output.empty() ? scratch.path() : options.output;
  const GoTraining go{scratch.path(), SecondsOr(options.finetune), logs};
  const GoTraining hdp{scratch.path(), SecondsOr(options.hdp), logs};
  account.Note(
      fmt::format("Placement and order; hdp: placement. go-zero-shot: the weights above as they are, the best of its "
                  "draws by the proxy. go-finetuned from these weights and go-scratch from none: {} s each; "
                  "hdp: {} s. Evaluations of the searches that fine-tuning learns from are counted.",
                  go.seconds, hdp.seconds));
  GoDraws draws = study.draws;
  draws.tasks = kPlacementAndOrder;
  const GoMethod untrained = GoOneShot("go-zero-shot", study.zero_shot, draws);
  const std::vector<GoMethod> trained = {
      FinetunedGo(
          "go-finetuned", go, [&study](const GoRow&) { return study.weights; }, kPlacementAndOrder),
      FinetunedGo("go-scratch", go, FromNone, kPlacementAndOrder), TrainedHdp(hdp)};
  std::vector<std::string> names = {untrained.name};
  for (const GoMethod& method : trained) names.push_back(method.name);
  std::vector<LearningRow> rows;
  const std::vector<GoWorkload> workloads = GoWorkloadsOf(options);
  ProgressBar bar(line.common.quiet);
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    bar.Show("workloads", static_cast<int>(w), static_cast<int>(workloads.size()));
    const std::unique_ptr<GoRow> row = MakeGoRow(workloads[w]);
    LearningRow& learned = rows.emplace_back();
    learned.workload = workloads[w].title;
    learned.points.resize(names.size());
    for (int s = 0; s < study.seeds; ++s) {
      const std::uint64_t seed = line.common.seed + static_cast<std::uint64_t>(s);
      learned.points[0].push_back(OnePlan(untrained, *row, seed));
      for (std::size_t m = 0; m < trained.size(); ++m) {
        StopIfInterrupted();
        trained[m].plan(*row, seed);
        const std::string log = TrainingLogOf(go, trained[m].name, *row, seed);
        learned.points[m + 1].push_back(ParseLearningLog(ReadWholeFile(log, kMostLogBytes), log));
      }
    }
  }
  bar.Clear();
  account.Print(ConvergenceTables(names, rows));
  return 0;
}

}  // namespace millrace::cli
