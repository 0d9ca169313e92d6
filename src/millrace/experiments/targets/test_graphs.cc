// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/targets/test_graphs.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "millrace/cost/analytic_cost.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/experiments/quality/quality_grid.h"
#include "millrace/formats/load.h"
#include "millrace/formats/model_graph.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/random_graph.h"

namespace millrace {
namespace {

constexpr std::uint64_t kFirstSeed = kQualitySeed + 20'000;

// Ops of unknown types never fuse, so that all methods plan the same groups: fusion is no part of these experiments.
ComputationGraph WithoutTypes(const ComputationGraph& graph) {
  GraphData data = graph.data();
  for (Op& op : data.ops) op.type = "Task";
  data.group_seconds.clear();
  return ComputationGraph(std::move(data));
}

void AddBuilt(const std::string& name, const std::string& model, ModelOptions options,
              std::vector<GraphUnderTest>& graphs) {
  options.draw_weights = false;
  graphs.push_back({name, FamilyOfNetwork(name), WithoutTypes(GraphOfModel(MakeModel(model, options)))});
}

std::vector<GraphUnderTest> BuiltNetworks() {
  std::vector<GraphUnderTest> graphs;
  AddBuilt("towers", "towers", {}, graphs);
  AddBuilt("inception_v3", "inception_v3", {}, graphs);
  AddBuilt("squeezenet", "squeezenet", {}, graphs);
  AddBuilt("mobilenet_v2", "mobilenet_v2", {}, graphs);
  AddBuilt("resnet50", "resnet50", {}, graphs);
  ModelOptions bert;
  bert.layers = 2;
  bert.hidden = 256;
  bert.heads = 4;
  bert.vocabulary = 1000;
  AddBuilt("bert_2_layers", "bert_base", bert, graphs);
  ModelOptions lstm;
  lstm.chunks = 8;
  lstm.hidden = 256;
  lstm.vocabulary = 1000;
  lstm.sequence = 32;
  AddBuilt("lstm_lm_8_chunks", "lstm_lm", lstm, graphs);
  return graphs;
}

void AddFolder(const std::filesystem::path& folder, const std::string& ending, std::vector<GraphUnderTest>& graphs) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  if (error) throw InvalidInput(folder.string() + ": cannot list this folder: " + error.message());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    StopIfInterrupted();
    const std::string name = (ending == ".txt" ? "profile_" : "") + file.stem().string();
    graphs.push_back({name, FamilyOfNetwork(name), WithoutTypes(LoadGraph(file.string()).graph)});
  }
}

}  // namespace

std::vector<GraphUnderTest> UnseenRandomGraphs(int each) {
  std::vector<GraphUnderTest> graphs;
  for (const std::string& family : RandomFamilyNames()) {
    for (int i = 0; i < each; ++i) {
      RandomGraphOptions options;
      options.ops = 50;
      options.seed = kFirstSeed + graphs.size();
      graphs.push_back({family + "-" + std::to_string(i), family, MakeRandomGraph(family, options)});
    }
  }
  return graphs;
}

std::vector<GraphUnderTest> PublicNetworks(const std::string& data, int most_ops) {
  std::vector<GraphUnderTest> graphs = BuiltNetworks();
  if (!data.empty()) {
    AddFolder(std::filesystem::path(data) / "onnx_light", ".onnx", graphs);
    AddFolder(std::filesystem::path(data) / "pipedream_profiles", ".txt", graphs);
  }
  std::erase_if(graphs, [most_ops](const GraphUnderTest& graph) { return graph.graph.num_ops() > most_ops; });
  return graphs;
}

std::string FamilyOfNetwork(const std::string& name) {
  const std::pair<const char*, const char*> families[] = {{"inception", "inception"},
                                                          {"densenet", "densenet"},
                                                          {"nasnet", "nasnet"},
                                                          {"gnmt", "recurrent"},
                                                          {"lstm", "recurrent"},
                                                          {"resnet", "resnet"},
                                                          {"resnext", "resnet"},
                                                          {"shufflenet", "shufflenet"},
                                                          {"mobilenet", "mobilenet"},
                                                          {"squeezenet", "squeezenet"},
                                                          {"alexnet", "alexnet"},
                                                          {"zfnet", "alexnet"},
                                                          {"vgg", "vgg"},
                                                          {"bert", "transformer"},
                                                          {"towers", "towers"}};
  for (const auto& [part, family] : families) {
    if (name.find(part) != std::string::npos) return family;
  }
  return "other";
}

bool KeptForTesting(const std::string& family) {
  return family == "inception" || family == "densenet" || family == "nasnet" || family == "recurrent" ||
         family == "towers";
}

double Parallelism(const ComputationGraph& graph) {
  Machine machine;
  machine.name = "one";
  machine.devices.push_back({"d", "device", {0}, 1e12, 1e11, {}, 0});
  const CostedGraph costed = MakeCostedGraph(*MakeAnalyticCostModel(graph, machine), SingleOpGroups(graph));
  const double work = std::accumulate(costed.fastest_seconds.begin(), costed.fastest_seconds.end(), 0.0);
  std::vector<double> finish(static_cast<std::size_t>(costed.num_groups), 0.0);
  double longest = 0;
  for (const std::int32_t group : costed.topological_order) {
    double start = 0;
    for (const GroupEdge& edge : costed.Predecessors(group))
      start = std::max(start, finish[static_cast<std::size_t>(edge.group)]);
    finish[static_cast<std::size_t>(group)] = start + costed.Seconds(group, 0);
    longest = std::max(longest, finish[static_cast<std::size_t>(group)]);
  }
  return longest > 0 ? work / longest : 1;
}

std::vector<GraphUnderTest> WithParallelism(std::vector<GraphUnderTest> graphs, double least) {
  std::erase_if(graphs, [least](const GraphUnderTest& graph) { return Parallelism(graph.graph) < least; });
  return graphs;
}

}  // namespace millrace
