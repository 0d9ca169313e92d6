// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench.h"

#include <fmt/core.h>

#include <memory>

#include "millrace/bench_networks.h"
#include "millrace/errors/errors.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

int RunNetworks(const CommandLine& line, const BenchOptions& options) {
  return BenchNetworks(line, {options.data, options.models, options.profile_cache, options.quick});
}

struct Experiment {
  const char* name;
  const char* what;
  int (*run)(const CommandLine&, const BenchOptions&);
};

constexpr Experiment kExperiments[] = {
    {"networks", "every model family, and DATA/onnx_light, planned and measured on this CPU", RunNetworks},
    {"quality", "all methods by the proxy, over a grid of fresh random graphs", BenchQuality},
    {"robustness", "plans chosen by a proxy on targets it does not know, real graphs", BenchRobustness},
    {"generalization", "the same by the proxy alone, unseen random graphs of 50 ops", BenchGeneralization},
    {"real-graphs", "robustness on the real graphs that are kept from training", BenchRealGraphs},
    {"temperature", "quality and diversity of samples by reward and softmax temperature", BenchTemperature},
    {"ablation", "trainings with one objective or another beside each other", BenchAblation},
    {"go-workloads", "sizes of the training graphs of the GO paper; --quick: of the short ones", BenchGoWorkloads},
    {"go-placement", "placements of the GO paper's workloads under contention; --quick: of the short ones",
     BenchGoPlacement},
    {"go-multitask", "placement, scheduling and fusion of them, one by one and together", BenchGoMultitask},
    {"go-transfer", "plans for families that a training has not seen: zero-shot, fine-tuned, from scratch",
     BenchGoTransfer},
    {"go-convergence", "how soon the one-shot policy and HDP come near their best plan", BenchGoConvergence},
    {"exactness", "a sampler's exact plan probabilities against its reward", BenchExactness},
};

std::string ExperimentNames() {
  std::string names;
  for (const Experiment& experiment : kExperiments) names += (names.empty() ? "" : ", ") + std::string(experiment.name);
  return names;
}

int RunExperiment(const CommandLine& line, const BenchOptions& options) {
  for (const Experiment& experiment : kExperiments) {
    if (options.name == experiment.name) return experiment.run(line, options);
  }
  throw InvalidInput("there is no experiment '" + options.name + "'; there are: " + ExperimentNames());
}

}  // namespace

void AddBench(CommandLine& line) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* verb = AddVerb(line, "bench", "Run an experiment and print its tables",
                           [&line, options] { return RunExperiment(line, *options); });
  verb->add_option("NAME", options->name, "The experiment, see below")->required();
  std::string footer = "Experiments:\n";
  for (const Experiment& experiment : kExperiments)
    footer += fmt::format("  {:<15} {}\n", experiment.name, experiment.what);
  verb->footer(footer);
  verb->add_flag("--quick", options->quick, "A tenth of it, or less");
  verb->add_flag("--cpu", options->cpu, "robustness: measured on this CPU, not on simulated targets");
  verb->add_option("--data", options->data, "Folder of graphs made by others (onnx_light, pipedream_profiles)");
  verb->add_option("--models", options->models, "networks, robustness --cpu: only these, with commas between")
      ->delimiter(',');
  verb->add_option("--profile-cache", options->profile_cache,
                   "networks, robustness --cpu: file that keeps op times between runs");
  verb->add_option("--methods", options->methods, "Only these methods, with commas between")->delimiter(',');
  verb->add_option("--record", options->record,
                   "quality: file that keeps what was found, so that a run that was cut off goes on where it was");
  SamplerSettings& sampler = options->sampler;
  verb->add_option("--weights", sampler.weights,
                   "Weights of the gflownet; without it the ones that came with Millrace");
  verb->add_option("--ppo-weights", sampler.ppo_weights, "Weights trained by PPO, to have ppo among the methods");
  const CLI::Range positive(1e-9, 1e9);
  verb->add_option(
          "--finetune", options->finetune,
          "quality: also the gflownet fine-tuned to each graph of the quick grid for so many seconds; go-...: also "
          "the one-shot policy fine-tuned to each workload")
      ->check(positive);
  verb->add_option("--go-weights", options->go_weights,
                   "go-...: weights of the one-shot policy; without it the ones that came with Millrace");
  verb->add_option("--hdp", options->hdp, "go-...: also HDP, trained for each workload for so many seconds")
      ->check(positive);
  verb->add_option("--pretrain", options->pretrain, "go-transfer: seconds of training for each family left out")
      ->check(positive);
  verb->add_option("--search", options->search,
                   "go-multitask: seconds of contended search that follow wherever the placement is decided")
      ->check(positive);
  verb->add_option("--draws", options->draws, "go-...: plans that the one-shot policy draws")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb->add_option("--workloads", options->workloads, "go-...: only these, with commas between")->delimiter(',');
  verb->add_option("--temperatures", sampler.temperatures, "Reward temperatures to draw at, with commas between")
      ->delimiter(',')
      ->check(positive);
  verb->add_option("--pipeline-temperatures", sampler.pipeline_temperatures,
                   "Those of the pipeline, which wants diversity too")
      ->delimiter(',')
      ->check(positive);
  verb->add_option("--sample-share", sampler.sample_share, "Of the time of gflownet+search, what sampling takes")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb->add_option("--polish-temperature", sampler.polish_temperature,
                   "Where polishing its samples begins, in one group's share of the makespan")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb->add_option("--runs", options->runs,
                   "ablation: trainings, NAME=STEM with commas between; STEM.jsonl is the log, STEM.safetensors the "
                   "weights")
      ->delimiter(',');
  verb->add_option("--updates", options->updates, "ablation: train for so many updates with each objective")
      ->check(CLI::Range(0, 1'000'000'000));
  verb->add_option("--preset", options->preset, "ablation: settings of these trainings (.json)");
  verb->add_option("-o,--output", options->output, "ablation: folder for these trainings");
}

}  // namespace millrace::cli
