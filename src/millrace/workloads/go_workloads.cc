// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/go_workloads.h"

#include <fmt/core.h>

#include <utility>

#include "millrace/workloads/training_graph.h"

namespace millrace {
namespace {

ModelOptions GraphOnly() {
  ModelOptions options;
  options.draw_weights = false;
  return options;
}

GoWorkload Layered(const std::string& family, const std::string& title, std::int64_t layers) {
  GoWorkload workload;
  workload.name = fmt::format("{}-{}", family, layers);
  workload.title = fmt::format("{}-layer {}", layers, title);
  workload.family = family;
  workload.devices = static_cast<int>(layers);
  workload.options = GraphOnly();
  workload.options.layers = layers;
  return workload;
}

GoWorkload InceptionWorkload(std::int64_t batch) {
  GoWorkload workload;
  workload.name = fmt::format("inception_v3-b{}", batch);
  workload.title = fmt::format("Inception b{}", batch);
  workload.family = "inception_v3";
  workload.devices = 2;
  workload.options = GraphOnly();
  workload.options.batch = batch;
  workload.options.keep_batch_normalization = true;
  return workload;
}

GoWorkload AmoebanetWorkload() {
  GoWorkload workload;
  workload.name = "amoebanet";
  workload.title = "AmoebaNet";
  workload.family = "amoebanet";
  workload.devices = 4;
  workload.options = GraphOnly();
  workload.options.batch = 32;  // ours
  workload.options.keep_batch_normalization = true;
  return workload;
}

GoWorkload WavenetWorkload(std::int64_t stacks, std::int64_t layers) {
  GoWorkload workload;
  workload.name = fmt::format("wavenet-{}x{}", stacks, layers);
  workload.title = fmt::format("{}-stack {}-layer WaveNet", stacks, layers);
  workload.family = "wavenet";
  workload.devices = static_cast<int>(stacks);
  workload.options = GraphOnly();
  workload.options.stacks = stacks;
  workload.options.layers = layers;
  return workload;
}

}  // namespace

std::vector<GoWorkload> GoWorkloads() {
  std::vector<GoWorkload> workloads;
  for (const auto& [family, title] :
       {std::pair("rnnlm", "RNNLM"), std::pair("gnmt", "GNMT"), std::pair("transformer_xl", "Transformer-XL")}) {
    for (const std::int64_t layers : {2, 4, 8}) workloads.push_back(Layered(family, title, layers));
  }
  for (const std::int64_t batch : {32, 64}) workloads.push_back(InceptionWorkload(batch));
  workloads.push_back(AmoebanetWorkload());
  workloads.push_back(WavenetWorkload(2, 18));
  workloads.push_back(WavenetWorkload(4, 36));
  return workloads;
}

std::vector<GoWorkload> ShortGoWorkloads() {
  std::vector<GoWorkload> workloads = GoWorkloads();
  for (GoWorkload& workload : workloads) {
    ModelOptions& options = workload.options;
    const std::int64_t layers = options.layers.value_or(0);
    if (workload.family == "rnnlm") options.sequence = layers == 2 ? 24 : layers == 4 ? 16 : 10;
    if (workload.family == "gnmt") options.sequence = layers == 2 ? 10 : layers == 4 ? 7 : 4;
    if (workload.family == "transformer_xl") {
      options.chunks = 2;
      options.sequence = 256;
    }
    if (workload.family == "amoebanet") options.layers = 3;
    workload.name += "-short";
  }
  return workloads;
}

ComputationGraph MakeGoWorkload(const GoWorkload& workload) {
  Model model = MakeModel(workload.family, workload.options);
  model.name = workload.name;
  return TrainingGraphOf(model);
}

}  // namespace millrace
