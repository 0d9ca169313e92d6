// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench.h"

#include <fmt/core.h>

#include <memory>

#include "millrace/verb.h"

namespace millrace::cli {
namespace {

struct Experiment {
  const char* name;
  const char* what;
  ExperimentRun (*add)(const CommandLine&, CLI::App&);
};

constexpr Experiment kExperiments[] = {
    {"networks", "every model family, and DATA/onnx_light, planned and measured on this CPU", AddNetworks},
    {"engines", "engines that run here, by themselves and under plans, side by side", AddEngines},
    {"memory", "how near the blocks of memory of programs come to the least possible", AddMemory},
    {"quality", "all methods by the proxy, over a grid of fresh random graphs", AddQuality},
    {"search", "planners against plain annealing at equal wall time, on families that nobody tuned on", AddSearch},
    {"portfolio", "optimize beside each method of its pool alone, at equal wall time", AddPortfolio},
    {"robustness", "plans chosen by a proxy on targets it does not know, real graphs", AddRobustness},
    {"generalization", "the same by the proxy alone, unseen random graphs of 50 ops", AddGeneralization},
    {"real-graphs", "robustness on the real graphs that are kept from training", AddRealGraphs},
    {"temperature", "quality and diversity of samples by reward and softmax temperature", AddTemperature},
    {"diversity", "how varied plans of every method are at equal quality and equal wall time", AddDiversity},
    {"ablation", "trainings with one objective or another beside each other", AddAblation},
    {"go-workloads", "sizes of the training graphs of the GO paper", AddGoWorkloads},
    {"go-placement", "placements of the GO paper's workloads under contention", AddGoPlacement},
    {"go-multitask", "placement, scheduling and fusion of them, one by one and together", AddGoMultitask},
    {"go-transfer", "plans for families that a training has not seen: zero-shot, fine-tuned, from scratch",
     AddGoTransfer},
    {"go-convergence", "how soon the one-shot policy and HDP come near their best plan", AddGoConvergence},
    {"scale", "seconds and memory of each stage of planning as graphs grow", AddScale},
    {"optimality", "how many small graphs are proved best, and how far planners stay behind", AddOptimality},
    {"proxies", "the linear and the contended timeline beside SimGrid's network", AddProxies},
    {"exactness", "a sampler's exact plan probabilities against its reward", AddExactness},
};

int ListExperiments(const CommandLine& line) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const Experiment& experiment : kExperiments) {
    names.push_back({{"name", experiment.name}, {"what", experiment.what}});
    if (!line.common.json) Print("{:<15} {}\n", experiment.name, experiment.what);
  }
  if (line.common.json) PrintJson({{"experiments", std::move(names)}});
  return 0;
}

}  // namespace

void AddBench(CommandLine& line) {
  CLI::App* verb = AddVerb(line, "bench", "Run an experiment and print its tables; without a name, list them",
                           [&line] { return ListExperiments(line); });
  verb->require_subcommand(0, 1);
  auto form = std::make_shared<CLI::Formatter>();
  form->label("SUBCOMMAND", "NAME");
  verb->formatter(form);
  for (const Experiment& experiment : kExperiments) {
    CLI::App* flags = verb->add_subcommand(experiment.name, experiment.what)->group("Experiments");
    MakeVerb(line, *flags, experiment.add(line, *flags));
  }
}

}  // namespace millrace::cli
