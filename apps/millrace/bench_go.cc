// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/go_gflownet.h"
#include "millrace/experiments/go_methods.h"
#include "millrace/experiments/go_workload_table.h"
#include "millrace/go_study.h"
#include "millrace/go_trainers.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"

// millrace bench go-placement, go-multitask, go-workloads: tables on the workloads of "Transferable graph optimizers
// for ML compilers".
namespace millrace::cli {

int BenchGoPlacement(const CommandLine& line, const BenchOptions& options) {
  constexpr GoTasks kPlacementAlone = {true, false, false};
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  const GoStudy study = BeginGoStudy(options, threads, account);
  const ScratchFolder scratch("go");
  account.Note(
      "Placements (single to metis, hdp, go) run in order of readiness with greedy fusion, but hdp's by upward "
      "rank; heft, etf, anneal and gflownet order them themselves. go: the best of its draws by the proxy; go-ordered "
      "decides the order, too; -measured: the best of them by the "
      "target; go+search: a contended search that begins with go-ordered's.");
  std::vector<GoMethod> methods = GoBaselines(kGoSearchSeconds);
  methods.push_back(GoGFlowNet(options.sampler, kGoSearchSeconds));
  if (options.hdp > 0) {
    account.Note(fmt::format("hdp: the best plan that {} s of training measured.", options.hdp));
    methods.push_back(TrainedHdp({scratch.path(), options.hdp, options.output}));
  }
  GoDraws draws = study.draws;
  draws.tasks = kPlacementAlone;
  methods.push_back(GoOneShot("go", study.zero_shot, draws));
  GoDraws ordered = draws;
  ordered.tasks = {true, true, false};
  methods.push_back(GoOneShot("go-ordered", study.zero_shot, ordered));
  methods.push_back(GoSearched(study.zero_shot, ordered, kGoSearchSeconds));
  GoDraws measured = ordered;
  measured.measured = draws.draws;
  methods.push_back(GoOneShot("go-ordered-measured", study.zero_shot, measured));
  if (options.finetune > 0) {
    account.Note(
        fmt::format("go-finetuned, with orders: the best plan that {} s of fine-tuning measured.", options.finetune));
    methods.push_back(FinetunedGo(
        "go-finetuned", {scratch.path(), options.finetune, options.output},
        [&study](const GoRow&) { return study.weights; }, ordered.tasks));
  }
  std::vector<std::string> subjects = {"go-ordered", "go+search"};
  if (options.finetune > 0) subjects.emplace_back("go-finetuned");
  RunGoStudy(line, options, std::move(methods), study.seeds, subjects, account);
  return 0;
}

int BenchGoMultitask(const CommandLine& line, const BenchOptions& options) {
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  const GoStudy study = BeginGoStudy(options, threads, account);
  const ScratchFolder scratch("go");
  account.Note(
      "Tasks that are not decided have their defaults: one device, order of readiness, greedy fusion. Every "
      "draw is measured. gflownet decides placement and order of greedily fused groups, gflownet-fused the groups, "
      "too: "
      "10 s of samples each, the 16 best by the proxy measured.");
  std::vector<GoMethod> methods = GoBaselinesNamed({"single", "tf-default", "human"});
  methods.push_back(GoGFlowNet(options.sampler, kGoSearchSeconds));
  methods.push_back(GoFusedGFlowNet(options.sampler, kGoSearchSeconds));
  GoDraws draws = study.draws;
  draws.measured = draws.draws;
  if (options.search > 0) {
    account.Note(
        fmt::format("Where the placement is decided, a contended search of {} s begins with it.", options.search));
  }
  GoPolicyFor policies = study.zero_shot;
  if (options.finetune > 0) {
    account.Note(fmt::format("Fine-tuned for {} s for each choice of tasks.", options.finetune));
    policies = FinetunedGoPolicies({scratch.path(), options.finetune, options.output},
                                   [&study](const GoRow&) { return study.weights; });
  }
  for (GoMethod& method : GoTaskMethods(policies, draws, options.search)) methods.push_back(std::move(method));
  RunGoStudy(line, options, std::move(methods), study.seeds, {"pl+sch+fu"}, account);
  return 0;
}

int BenchGoWorkloads(const CommandLine& line, const BenchOptions& options) {
  BenchAccount account(line, 1);
  if (options.quick) account.Note("Unrolled less, for quick trainings");
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      GoWorkloadTable(GoWorkloadsOf(options), [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace millrace::cli
