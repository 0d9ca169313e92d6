// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/bench/study.h"
#include "millrace/bench/trainers.h"
#include "millrace/experiments/go/go_methods.h"
#include "millrace/scratch_folder.h"

// millrace bench go-placement: plans for the training graphs of "Transferable graph optimizers for ML compilers",
// judged under contention.
namespace millrace::cli {
namespace {

struct GoPlacementFlags {
  GoStudyFlags study;
  double hdp = 0;       // seconds of training HDP for each workload; 0: without it
  double finetune = 0;  // seconds of fine-tuning go to each; 0: without it
  std::string logs;     // folder for those of the trainings; empty: none
};

// The samplers, trained and untrained, by the contended proxy alone; `+search`: go with as much time as searches have.
std::vector<GoMethod> Samplers(const GoStudy& study, const GoStudyFlags& options) {
  std::vector<GoMethod> methods;
  for (const char* name : {"gflownet", "gflownet-untrained"})
    methods.push_back(MakeGoMethod(SecondsOf(study, name, options.seconds)));
  for (const char* name : {"go", "go-untrained"}) {
    GoPlanned planned = SamplesOf(study, name, options.draws);
    planned.name = name + std::string("-greedy-fusion");
    methods.push_back(MakeGoMethod(planned));
    planned.name = name;
    planned.fusion = GoFusion::kOpen;
    methods.push_back(MakeGoMethod(planned));
    GoPlanned searched = SecondsOf(study, name, options.seconds);
    searched.name = name + std::string("+search");
    searched.fusion = GoFusion::kOpen;
    methods.push_back(MakeGoMethod(searched));
  }
  return methods;
}

// The plan of the policy's draws alone.
GoMethod Draws(const GoStudyFlags& options, std::string name, GoStart weights) {
  GoPlanned planned{
      .name = std::move(name), .planner = GoWith(std::move(weights), FromWeights({}), true), .fusion = GoFusion::kOpen};
  planned.budget.samples = options.draws;
  return MakeGoMethod(planned);
}

int RunGoPlacement(const CommandLine& line, const GoPlacementFlags& options) {
  BenchAccount account(line, 1);
  const GoStudy study = BeginGoStudy(options.study, account);
  const ScratchFolder scratch("go");
  account.Note(
      "Methods are the registry's planners of their names; by the contended proxy alone, but for "
      "contended-search, optimize, hdp and fine-tuning. single and tf-default run in order of readiness, hdp's "
      "placement by upward rank; expert, the human placement, and metis in the best of all orders. Fusion is greedy, "
      "but anneal+fusion, go and optimize choose it.");
  std::vector<GoMethod> methods = GoBaselines(study.planners, options.study.seconds);
  for (GoMethod& method : Samplers(study, options.study)) methods.push_back(std::move(method));
  if (options.hdp > 0) methods.push_back(TrainedHdp({scratch.path(), options.hdp, options.logs}));
  methods.push_back(Draws(options.study, "go-draws", FromWeights(study.go_weights)));
  std::vector<std::string> subjects = {"go", "go+search"};
  if (options.finetune > 0) {
    account.Note(
        "go-finetuned: go with weights that were fine-tuned to the workload before, which is counted; beside it go and "
        "a contended search for as long as that took. -draws: without the search that improves what was drawn.");
    const GoStart tuned = FinetunedTo({scratch.path(), options.finetune, options.logs}, FromWeights(study.go_weights),
                                      {true, true, true});
    GoPlanned planned = SamplesOf(study, "go", options.study.draws);
    planned.name = "go-finetuned";
    planned.planner = GoWith(tuned, FromWeights({}));
    planned.fusion = GoFusion::kOpen;
    methods.push_back(MakeGoMethod(planned));
    methods.push_back(Draws(options.study, "go-finetuned-draws", tuned));
    methods.back().prepare = [tuned](const GoRow& row, std::uint64_t seed) { tuned(row, seed); };
    planned = SecondsOf(study, "go", options.study.seconds);
    planned.name = "go-as-go-finetuned";
    planned.fusion = GoFusion::kOpen;
    methods.push_back(AsLongAs("go-finetuned", MakeGoMethod(planned)));
    methods.push_back(
        AsLongAs("go-finetuned", ContendedSearch("contended-search-as-go-finetuned", options.study.seconds)));
    subjects = {"go", "go+search", "go-finetuned", "go-finetuned-draws"};
  }
  RunGoStudy(line, options.study, std::move(methods), study.seeds, subjects, account);
  return 0;
}

}  // namespace

ExperimentRun AddGoPlacement(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<GoPlacementFlags>();
  AddWorkloadFlags(flags, options->study);
  AddMethodFlags(flags, options->study);
  AddDraws(flags, options->study);
  AddGoWeights(flags, options->study);
  AddWeights(flags, options->study.weights);
  AddSeconds(flags, "--hdp", options->hdp, "Also HDP, trained for each workload for so many seconds");
  AddSeconds(flags, "--finetune", options->finetune, "Also go fine-tuned to each workload for so many seconds");
  flags.add_option("-o,--output", options->logs, "Folder for the logs of these trainings");
  return [&line, options] { return RunGoPlacement(line, *options); };
}

}  // namespace millrace::cli
