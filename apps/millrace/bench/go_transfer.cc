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

// millrace bench go-transfer: what go learns from other families of graphs.
namespace millrace::cli {
namespace {

struct GoTransferFlags {
  GoStudyFlags study;
  double pretrain = 50;         // seconds of training the one-shot policy, for each family left out
  double pretrain_moves = 300;  // likewise the moves
  double finetune = 50;         // seconds of training for each workload
  double hdp = 0;               // seconds of training HDP for each workload; 0: without it
  std::string logs;             // folder for those of the trainings; empty: none
};

int RunGoTransfer(const CommandLine& line, const GoTransferFlags& options) {
  constexpr GoTasks kPlacementAndOrder = {true, true, false};
  BenchAccount account(line, 1);
  const GoStudy study = BeginGoStudy(options.study, account);
  const ScratchFolder scratch("go-transfer");
  account.Note(fmt::format(
      "Placement and order of greedily fused groups. go-untrained: no training. go-zero-shot: on the other "
      "five families the one-shot policy is trained for {0} s and the moves for {1} s, anew for every seed. "
      "go-finetuned: that policy, then {2} s on the workload itself; go-scratch: {2} s from no training; "
      "beside them a contended search for as long as fine-tuning took. Draws: the best by the proxy; of "
      "trainings on the workload the best plan measured. Training for the family is not among the seconds "
      "of planning.",
      options.pretrain, options.pretrain_moves, options.finetune));
  const std::string folder = scratch.path() + "/pretrained";
  const GoStart policy = PretrainedOnOthers("go", {folder, options.pretrain, options.logs});
  const GoStart moves = PretrainedOnOthers("moves", {folder, options.pretrain_moves, options.logs});
  const GoTraining training{scratch.path(), options.finetune, options.logs};
  std::vector<GoMethod> methods =
      GoBaselinesNamed(study, options.study.seconds, {"expert", "metis", "heft", "contended-search", "optimize"});
  if (options.hdp > 0) methods.push_back(TrainedHdp({scratch.path(), options.hdp, options.logs}));
  GoPlanned draws = SamplesOf(study, "go-untrained", options.study.draws);
  methods.push_back(MakeGoMethod(draws));
  draws.name = "go-zero-shot";
  draws.planner = GoWith(policy, moves);
  methods.push_back(MakeGoMethod(draws));
  methods.back().prepare = [policy, moves](const GoRow& row, std::uint64_t seed) {
    policy(row, seed);
    moves(row, seed);
  };
  methods.push_back(FinetunedGo("go-finetuned", training, policy, kPlacementAndOrder));
  methods.back().prepare = [policy](const GoRow& row, std::uint64_t seed) { policy(row, seed); };
  methods.push_back(FinetunedGo("go-scratch", training, FromNoTraining, kPlacementAndOrder));
  methods.push_back(
      AsLongAs("go-finetuned", ContendedSearch("contended-search-as-go-finetuned", options.study.seconds)));
  RunGoStudy(line, options.study, std::move(methods), study.seeds, {"go-zero-shot", "go-finetuned"}, account);
  return 0;
}

}  // namespace

ExperimentRun AddGoTransfer(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<GoTransferFlags>();
  AddWorkloadFlags(flags, options->study);
  AddMethodFlags(flags, options->study);
  AddDraws(flags, options->study);
  AddSeconds(flags, "--pretrain", options->pretrain,
             "Seconds of training the one-shot policy, for each family left out")
      ->capture_default_str();
  AddSeconds(flags, "--pretrain-moves", options->pretrain_moves, "Likewise the moves of blocks")->capture_default_str();
  AddSeconds(flags, "--finetune", options->finetune, "Seconds of training for each workload")->capture_default_str();
  AddSeconds(flags, "--hdp", options->hdp, "Also HDP, trained for each workload for so many seconds");
  flags.add_option("-o,--output", options->logs, "Folder for the logs of the trainings");
  return [&line, options] { return RunGoTransfer(line, *options); };
}

}  // namespace millrace::cli
