// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "command_line/limits.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/formats/text_lines.h"
#include "millrace/verb.h"
#include "millrace/workloads/drawn_costs.h"
#include "millrace/workloads/models.h"
#include "millrace/workloads/quantized_form.h"
#include "millrace/workloads/random_graph.h"
#include "millrace/workloads/task_graph.h"
#include "millrace/workloads/training_graph.h"

// millrace generate NAME -o FILE: a random graph, the task graph of an algorithm, or a well-known network.
namespace millrace::cli {
namespace {

struct GenerateOptions {
  std::string name;
  std::string output;
  RandomGraphOptions random;
  ModelOptions model;
  bool training = false;
  bool quantized = false;
  std::vector<std::string> kinds;
  std::vector<std::string> random_flags;  // those given that only graphs with drawn costs have
  std::vector<std::string> model_flags;   // those given that only models have
};

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string AllNames() {
  std::string names;
  for (const auto* list : {&RandomFamilyNames(), &TaskGraphNames(), &ModelNames()}) {
    for (const std::string& name : *list) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::string EndingOf(const std::string& path) { return std::filesystem::path(path).extension().string(); }

// NAME or NAME=FACTOR.
std::pair<std::string, double> ParseKind(const std::string& words) {
  const std::size_t equals = words.find('=');
  double factor = 1;
  if (equals != std::string::npos) {
    const std::optional<double> stated = NumberIn<double>(std::string_view(words).substr(equals + 1));
    if (!stated) throw InvalidInput("--kinds: '" + Shown(words) + "' is not NAME or NAME=FACTOR");
    factor = *stated;
  }
  return {words.substr(0, equals), factor};
}

void RefuseFlags(const std::string& name, const std::vector<std::string>& flags, const char* meant_for) {
  if (flags.empty()) return;
  throw InvalidInput(fmt::format("{}: {} is for {}; leave it out", name, flags.front(), meant_for));
}

void Report(const CommandLine& line, const GenerateOptions& options, const ComputationGraph& graph) {
  if (line.common.json) {
    PrintJson({{"name", graph.name()},
               {"ops", graph.num_ops()},
               {"tensors", graph.num_tensors()},
               {"output", options.output}});
    return;
  }
  if (line.common.quiet) return;
  const bool asked = Contains(options.random_flags, "--ops") && graph.num_ops() != options.random.ops;
  Print("{}: {} ops{}, {} tensors, written to {}\n", graph.name(), graph.num_ops(),
        asked ? fmt::format(" (the size of {} that is nearest to {})", options.name, options.random.ops) : "",
        graph.num_tensors(), options.output);
}

// A graph whose costs are drawn: random, or of an algorithm.
ComputationGraph DrawGraph(const CommandLine& line, GenerateOptions& options, bool random) {
  if ((!random || options.name == "layered") && Contains(options.random_flags, "--degree")) {
    throw InvalidInput(options.name + ": --degree is for the other random graphs; this one has its own density");
  }
  RandomGraphOptions& drawn = options.random;
  drawn.seed = line.common.seed;
  for (const std::string& words : options.kinds) drawn.kinds.push_back(ParseKind(words));
  if (random) return MakeRandomGraph(options.name, drawn);
  return MakeTaskGraph(options.name, {.ops = drawn.ops,
                                      .ccr = drawn.ccr,
                                      .seed = drawn.seed,
                                      .kinds = drawn.kinds,
                                      .heterogeneity = drawn.heterogeneity});
}

int Generate(const CommandLine& line, GenerateOptions& options) {
  const bool random = Contains(RandomFamilyNames(), options.name);
  const bool drawn = random || Contains(TaskGraphNames(), options.name);
  if (!drawn && !Contains(ModelNames(), options.name)) {
    throw InvalidInput(fmt::format("'{}' is nothing to generate; there are {}", options.name, AllNames()));
  }
  const bool onnx = EndingOf(options.output) == ".onnx";
  if (!onnx && EndingOf(options.output) != ".json" && !EndingOf(options.output).empty()) {
    throw InvalidInput(options.output + ": the file's ending says what to write; end it in " +
                       (drawn ? ".json" : ".onnx or .json"));
  }
  ComputationGraph graph;
  if (drawn) {
    RefuseFlags(options.name, options.model_flags, "models");
    if (onnx) {
      throw InvalidInput(fmt::format("{}: {} is a {} graph, with nothing in it to run; write it to a .json file",
                                     options.output, options.name, random ? "random" : "task"));
    }
    graph = DrawGraph(line, options, random);
  } else {
    RefuseFlags(options.name, options.random_flags, "random and task graphs");
    options.model.seed = line.common.seed;
    options.model.draw_weights = onnx;
    if (options.training && onnx) {
      throw InvalidInput(options.output + ": a training graph cannot be run; write it to a .json file");
    }
    if (options.training && options.quantized) {
      throw InvalidInput("--quantized is for models that are trained already; leave --training out");
    }
    Model model = MakeModel(options.name, options.model);
    if (options.quantized) model = QuantizedForm(model);
    graph = options.training ? TrainingGraphOf(model) : GraphOfModel(model);
    StopIfInterrupted();
    if (onnx) WriteOnnx(model, options.output);
  }
  StopIfInterrupted();
  if (!onnx) WriteFileAtomically(options.output, GraphJson(graph));
  Report(line, options, graph);
  return 0;
}

// Lets the option note in `given` that it was used.
CLI::Option* Noted(CLI::Option* option, std::vector<std::string>& given) {
  return option->each([&given, name = option->get_name()](const std::string&) { given.push_back(name); });
}

void AddRandomFlags(CLI::App* verb, GenerateOptions& options) {
  RandomGraphOptions& random = options.random;
  const auto add = [&](const std::string& name, auto& value, const std::string& description) {
    return Noted(verb->add_option(name, value, description), options.random_flags)->group("Random and task graphs");
  };
  add("--ops", random.ops, "Ops of the graph; a task graph has the nearest size of its family")
      ->check(WholeFrom(1, kMostDrawnOps))
      ->capture_default_str();
  add("--ccr", random.ccr, "Communication to computation: mean bytes / (mean seconds x 1e9)")
      ->check(NumberFrom(0, kMostCcr))
      ->capture_default_str();
  add("--degree", random.degree, "Mean number of neighbours of an op (random graphs but layered)")
      ->check(NumberFrom(0, static_cast<double>(kMostDrawnOps)))
      ->capture_default_str();
  add("--kinds", options.kinds, "State seconds per device kind: NAME or NAME=FACTOR, commas between")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--heterogeneity", random.heterogeneity, "With --kinds: width of the random factor per op and kind")
      ->check(NumberFrom(0, kMostHeterogeneity))
      ->capture_default_str();
}

void AddModelFlags(CLI::App* verb, GenerateOptions& options) {
  ModelOptions& model = options.model;
  const auto add = [&](const std::string& name, auto& value, const std::string& description) {
    Noted(verb->add_option(name, value, description), options.model_flags)
        ->check(WholeFrom(1, kLargestModelSize))
        ->group("Models");
  };
  add("--batch", model.batch, "Samples at once");
  add("--image", model.image, "Height and width of the image");
  Noted(verb->add_option("--width", model.width, "Factor on the channels of convolutions"), options.model_flags)
      ->check(AboveZero())
      ->group("Models");
  add("--layers", model.layers,
      "Layers: encoders, LSTMs, Gemms of a tower, normal cells in a row; 50, 101 or 152 of resnet50");
  add("--hidden", model.hidden, "Features of a layer");
  add("--heads", model.heads, "Attention heads");
  add("--sequence", model.sequence, "Steps or tokens");
  add("--vocabulary", model.vocabulary, "Different tokens");
  add("--towers", model.towers, "Towers, members, features, experts or stacks side by side");
  add("--chunks", model.chunks,
      "Pieces of the sequence: lstm_lm's LSTM ops that hand on their state, transformer_xl's segments");
  add("--stacks", model.stacks, "wavenet: stacks that its layers are split into");
  const auto flag = [&](const std::string& name, bool& value, const std::string& description) {
    verb->add_flag_callback(
            name,
            [&value, &options, name] {
              value = true;
              options.model_flags.push_back(name);
            },
            description)
        ->group("Models");
  };
  flag("--batch-normalization", model.keep_batch_normalization,
       "Keep batch normalisation as ops of its own instead of folding it into the convolutions");
  flag("--training", options.training, "The graph of a training step: forward, loss, backward, update");
  flag("--quantized", options.quantized,
       "Convolutions and products on 8-bit integers, as pairs of QuantizeLinear and DequantizeLinear");
  flag("--split-layer-normalization", model.split_layer_normalization, "Spell layer normalisation in elementary ops");
}

}  // namespace

void AddGenerate(CommandLine& line) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App* verb = AddVerb(line, "generate",
                           "Write a random graph, the task graph of an algorithm or a well-known network to a file",
                           [&line, options] { return Generate(line, *options); });
  verb->add_option("name", options->name, "One of " + AllNames())->required();
  verb->add_option("-o,--output", options->output, "FILE.json for a graph, FILE.onnx for a model to run")->required();
  AddRandomFlags(verb, *options);
  AddModelFlags(verb, *options);
}

}  // namespace millrace::cli
