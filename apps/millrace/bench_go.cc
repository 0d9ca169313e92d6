// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/go_methods.h"
#include "millrace/experiments/go_placement.h"
#include "millrace/experiments/go_workload_table.h"
#include "millrace/go_trainers.h"
#include "millrace/policy/model_file.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"

// millrace bench go-...: experiments on the workloads of "Transferable graph optimizers for ML compilers".
namespace millrace::cli {
namespace {

constexpr char kGoWeights[] = "go.safetensors";
constexpr double kSearchSeconds = 10;  // of annealing, and of sampling by the GFlowNet
constexpr int kSeeds = 3;

std::vector<GoWorkload> Workloads(const BenchOptions& options) {
  std::vector<GoWorkload> all = options.quick ? ShortGoWorkloads() : GoWorkloads();
  if (options.workloads.empty()) return all;
  std::vector<GoWorkload> named;
  for (const std::string& name : options.workloads) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const GoWorkload& w) { return w.name == name; });
    if (found == all.end()) throw InvalidInput("there is no workload '" + name + "'; bench go-workloads lists them");
    named.push_back(*found);
  }
  return named;
}

struct GoStudy {
  std::string weights;
  GoPolicyFor zero_shot;
  GoDraws draws;
  int seeds = kSeeds;
};

GoStudy BeginStudy(const BenchOptions& options, int threads, BenchAccount& account) {
  GoStudy study;
  study.weights = options.go_weights.empty() ? FindModelFile(kGoWeights) : options.go_weights;
  auto policy = std::make_shared<const OneShotPolicy>(ReadOneShotPolicy(study.weights));
  study.zero_shot = [policy = std::move(policy)](const GoRow&, const GoTasks&, std::uint64_t) { return policy; };
  study.draws.draws = options.draws;
  study.draws.threads = threads;
  study.seeds = options.quick ? 1 : kSeeds;
  account.Note(fmt::format("Target sim:contention, hosts p100xN, {}, seeds: {}.",
                           options.quick ? "shortened workloads" : "workloads of full size", study.seeds));
  account.Note(fmt::format("Weights of go: {}; {} draws a plan.",
                           options.go_weights.empty() ? "as shipped" : options.go_weights, options.draws));
  return study;
}

GoTraining Training(const BenchOptions& options, const std::string& folder, double seconds,
                    const std::string& weights) {
  GoTraining training;
  training.folder = folder;
  training.seconds = seconds;
  training.weights = weights;
  training.log = options.output;
  return training;
}

// Those that --methods names, with the subject all others are compared with.
std::vector<GoMethod> Chosen(std::vector<GoMethod> methods, const std::vector<std::string>& names,
                             const std::string& subject) {
  if (names.empty()) return methods;
  for (const std::string& name : names) {
    if (std::none_of(methods.begin(), methods.end(), [&](const GoMethod& method) { return method.name == name; }))
      throw InvalidInput("--methods: '" + name + "' is none of this experiment's");
  }
  std::erase_if(methods, [&](const GoMethod& method) {
    return method.name != subject && std::find(names.begin(), names.end(), method.name) == names.end();
  });
  return methods;
}

void RunStudy(const CommandLine& line, const BenchOptions& options, std::vector<GoMethod> all, int seeds,
              const std::string& subject, const BenchAccount& account) {
  const std::vector<GoMethod> methods = Chosen(std::move(all), options.methods, subject);
  ProgressBar bar(line.common.quiet);
  const GoResult result = RunGo(Workloads(options), methods, seeds, line.common.seed,
                                [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(GoTables(result, subject));
}

}  // namespace

int BenchGoPlacement(const CommandLine& line, const BenchOptions& options) {
  constexpr GoTasks kPlacementAlone = {true, false, false};
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  const GoStudy study = BeginStudy(options, threads, account);
  const ScratchFolder scratch("go");
  account.Note(
      "Placements (single to metis, hdp, go) run in order of readiness with greedy fusion, but hdp's by upward "
      "rank; heft, etf, anneal and gflownet order them themselves. go: the best of its draws by the proxy; go-ordered "
      "decides the order, too; -measured: the best of them by the "
      "target.");
  std::vector<GoMethod> methods = GoBaselines(kSearchSeconds);
  methods.push_back(GoGFlowNet(options.sampler, kSearchSeconds));
  if (options.hdp > 0) {
    account.Note(fmt::format("hdp: the best plan that {} s of training measured.", options.hdp));
    methods.push_back(TrainedHdp(Training(options, scratch.path(), options.hdp, study.weights)));
  }
  GoDraws draws = study.draws;
  draws.tasks = kPlacementAlone;
  methods.push_back(GoOneShot("go", study.zero_shot, draws));
  GoDraws ordered = draws;
  ordered.tasks = {true, true, false};
  methods.push_back(GoOneShot("go-ordered", study.zero_shot, ordered));
  methods.push_back(GoSearched(study.zero_shot, ordered, kSearchSeconds));
  GoDraws measured = ordered;
  measured.measured = draws.draws;
  methods.push_back(GoOneShot("go-ordered-measured", study.zero_shot, measured));
  if (options.finetune > 0) {
    account.Note(
        fmt::format("go-finetuned, with orders: the best plan that {} s of fine-tuning measured.", options.finetune));
    methods.push_back(FinetunedGo(Training(options, scratch.path(), options.finetune, study.weights), ordered.tasks));
  }
  const std::string subject = methods.back().name;
  RunStudy(line, options, std::move(methods), study.seeds, subject, account);
  return 0;
}

int BenchGoMultitask(const CommandLine& line, const BenchOptions& options) {
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  const GoStudy study = BeginStudy(options, threads, account);
  const ScratchFolder scratch("go");
  account.Note(
      "Tasks that are not decided have their defaults: one device, order of readiness, greedy fusion. Every "
      "draw is measured.");
  std::vector<GoMethod> methods;
  for (GoMethod& baseline : GoBaselines(kSearchSeconds)) {
    if (baseline.name == "single" || baseline.name == "tf-default" || baseline.name == "human")
      methods.push_back(std::move(baseline));
  }
  GoDraws draws = study.draws;
  draws.measured = draws.draws;
  GoPolicyFor policies = study.zero_shot;
  if (options.finetune > 0) {
    account.Note(fmt::format("Fine-tuned for {} s for each choice of tasks.", options.finetune));
    policies = FinetunedGoPolicies(Training(options, scratch.path(), options.finetune, study.weights));
  }
  for (GoMethod& method : GoTaskMethods(policies, draws)) methods.push_back(std::move(method));
  RunStudy(line, options, std::move(methods), study.seeds, "pl+sch+fu", account);
  return 0;
}

int BenchGoWorkloads(const CommandLine& line, const BenchOptions& options) {
  BenchAccount account(line, 1);
  if (options.quick) account.Note("Unrolled less, for quick trainings");
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      GoWorkloadTable(options.quick ? ShortGoWorkloads() : GoWorkloads(),
                      [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace millrace::cli
