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
#include "millrace/experiments/go/fused_samples.h"
#include "millrace/experiments/go/go_tasks.h"
#include "millrace/gflownet/planners.h"
#include "millrace/gflownet/policy/learned_policy.h"
#include "millrace/go/planner.h"
#include "millrace/scratch_folder.h"

// millrace bench go-multitask: placement, scheduling and fusion of the training graphs of "Transferable graph
// optimizers for ML compilers", one by one and together.
namespace millrace::cli {
namespace {

struct GoMultitaskFlags {
  GoStudyFlags study;
  double search = 0;    // seconds of contended search for each choice of tasks; 0: none
  double finetune = 0;  // seconds of fine-tuning for each; 0: none
  std::string logs;     // folder for those of the trainings; empty: none
};

GoPolicyFor Always(std::shared_ptr<const GoPolicy> policy) {
  return [policy = std::move(policy)](const GoRow&, const GoTasks&, std::uint64_t) { return policy; };
}

// Placement and order of greedily fused groups, then the groups, too.
std::vector<GoMethod> GFlowNets(const GoStudy& study, const GoStudyFlags& options) {
  const auto measured = static_cast<std::size_t>(options.draws);
  std::vector<GoMethod> methods;
  for (const char* name : {"gflownet", "gflownet-untrained"}) {
    GoPlanned planned = SecondsOf(study, name, options.seconds);
    planned.measured = measured;
    methods.push_back(MakeGoMethod(planned));
  }
  methods.push_back(FusedSamples("gflownet-fused", ReadLearnedPolicy(GFlowNetWeightsFile(options.weights)),
                                 options.seconds, measured));
  methods.push_back(FusedSamples("gflownet-fused-untrained", UntrainedGFlowNetPolicy(), options.seconds, measured));
  return methods;
}

int RunGoMultitask(const CommandLine& line, const GoMultitaskFlags& options) {
  BenchAccount account(line, 1);
  const GoStudy study = BeginGoStudy(options.study, account);
  const ScratchFolder scratch("go");
  const int draws = options.study.draws;
  account.Note(fmt::format(
      "pl, sch, fu: go's draws with these tasks decided; +: together, |: each by itself, then put together. The others "
      "have their defaults: the human placement, order of readiness, greedy fusion. Of all samplers the {} best by the "
      "proxy, which are all of go's, are measured, and the fastest is the answer. gflownet-fused is no planner of the "
      "registry: it draws the groups, too, merges by what they save.",
      draws));
  std::vector<GoMethod> methods =
      GoBaselinesNamed(study, options.study.seconds, {"single", "tf-default", "expert", "contended-search"});
  for (GoMethod& method : GFlowNets(study, options.study)) methods.push_back(std::move(method));
  GoPolicyFor policies = Always(std::make_shared<const GoPolicy>(ReadGoPolicy(study.go_weights)));
  if (options.finetune > 0) {
    account.Note(fmt::format("Fine-tuned for {} s for each choice of tasks, -untrained aside.", options.finetune));
    policies = FinetunedGoPolicies({scratch.path(), options.finetune, options.logs}, FromWeights(study.go_weights));
  }
  GoTaskOptions tasks{.plans = draws, .search = options.search, .suffix = ""};
  for (GoMethod& method : GoTaskMethods(policies, tasks)) methods.push_back(std::move(method));
  tasks.suffix = "-untrained";
  for (GoMethod& method : GoTaskMethods(Always(UntrainedGoPolicy()), tasks)) methods.push_back(std::move(method));
  RunGoStudy(line, options.study, std::move(methods), study.seeds, {"pl+sch+fu"}, account);
  return 0;
}

}  // namespace

ExperimentRun AddGoMultitask(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<GoMultitaskFlags>();
  AddWorkloadFlags(flags, options->study);
  AddMethodFlags(flags, options->study);
  AddDraws(flags, options->study);
  AddGoWeights(flags, options->study);
  AddWeights(flags, options->study.weights);
  AddSeconds(flags, "--search", options->search,
             "Seconds of contended search that follow wherever the placement is decided");
  AddSeconds(flags, "--finetune", options->finetune,
             "go fine-tuned for so many seconds to each workload and choice of tasks");
  flags.add_option("-o,--output", options->logs, "Folder for the logs of these trainings");
  return [&line, options] { return RunGoMultitask(line, *options); };
}

}  // namespace millrace::cli
