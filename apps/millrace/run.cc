// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/formats/plan_json.h"
#include "millrace/machine/detect.h"
#include "millrace/report/readable.h"
#include "millrace/runtime/executor.h"
#include "millrace/target/random_inputs.h"
#include "millrace/verb.h"
#include "millrace/whole_device_plan.h"

namespace millrace::cli {
namespace {

struct RunOptions {
  std::string model;
  std::string plan;
  std::vector<std::string> inputs;
  bool random_inputs = false;
  std::string output_dir;
};

std::string TypeAndShape(DataType type, const Shape& shape) {
  return fmt::format("{}[{}]", NameOf(type), fmt::join(shape, ","));
}

std::string InputList(const Model& model) {
  std::string list;
  for (const int input : model.inputs) {
    const Value& value = model.values[static_cast<std::size_t>(input)];
    list += fmt::format("{}'{}' {}", list.empty() ? "" : ", ", value.name, TypeAndShape(value.type, value.shape));
  }
  return list;
}

// The tensors of the files, each as its input wants it.
std::vector<std::shared_ptr<const ConstantData>> ReadInputs(const RunOptions& options, const Model& model) {
  if (options.random_inputs && !options.inputs.empty()) {
    throw InvalidInput("--input and --random-inputs exclude each other");
  }
  if (options.random_inputs) return {};
  if (options.inputs.size() != model.inputs.size()) {
    throw InvalidInput(
        fmt::format("{}: takes {} input{} ({}), and {} --input is given; give a .pb file for each, in this "
                    "order, or --random-inputs",
                    options.model, model.inputs.size(), model.inputs.size() == 1 ? "" : "s", InputList(model),
                    options.inputs.empty() ? "no" : fmt::format("{}", options.inputs.size())));
  }
  std::vector<std::shared_ptr<const ConstantData>> tensors;
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    const Value& value = model.values[static_cast<std::size_t>(model.inputs[i])];
    tensors.push_back(Widened(ReadTensor(options.inputs[i])));
    if (tensors.back()->type() != value.type || tensors.back()->shape() != value.shape) {
      throw InvalidInput(fmt::format("{}: holds {}, and input {} of the model ('{}') is {}", options.inputs[i],
                                     TypeAndShape(tensors.back()->type(), tensors.back()->shape()), i, value.name,
                                     TypeAndShape(value.type, value.shape)));
    }
  }
  return tensors;
}

void MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw InvalidInput(
        fmt::format("{}: cannot be made a folder for the outputs{}", folder, error ? ": " + error.message() : ""));
  }
}

std::vector<std::string> WriteOutputs(const RunOptions& options, const Model& model, const Program& program,
                                      Executor& executor) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const auto elements = executor.output(i);
    const Value& value = model.values[static_cast<std::size_t>(program.outputs[i].value)];
    const auto tensor = ConstantData::Dense(value.type, value.shape, {elements.begin(), elements.end()});
    paths.push_back((std::filesystem::path(options.output_dir) / fmt::format("output_{}.pb", i)).string());
    WriteTensor(*tensor, value.name, paths.back());
  }
  return paths;
}

int RunModel(const CommandLine& line, const RunOptions& options) {
  const LoadedGraph loaded = LoadWithWarnings(line, options.model);
  if (!loaded.model) throw InvalidInput(options.model + ": holds no ops to execute, only a graph; give an ONNX file");
  const Model& model = *loaded.model;
  CheckExecutable(model);
  Plan plan;
  Machine machine;
  if (options.plan.empty()) {
    machine = DetectHost();
    plan = WholeDevicePlan(loaded.graph, machine);
  } else {
    PlanRecord record = LoadPlan(options.plan, loaded.graph, {.dimensions = line.common.dimensions});
    machine = std::move(record.machine);
    plan = std::move(record.plan);
  }
  const std::vector<std::shared_ptr<const ConstantData>> tensors = ReadInputs(options, model);
  MakeFolder(options.output_dir);

  const Program program = CompileProgram(model, machine, plan);
  WorkerPool pool(program.cpus);
  Executor executor(program, pool, options.random_inputs ? OnFault::kIgnore : OnFault::kThrow);
  const Random random(line.common.seed);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (tensors.empty()) {
      Random of_input = random.Fork(i);
      FillRandomly(model, program.inputs[i].value, of_input, executor.input(i));
    } else {
      tensors[i]->CopyTo(executor.input(i).data());
    }
  }
  const double seconds = executor.Run();
  const std::vector<std::string> paths = WriteOutputs(options, model, program, executor);
  if (line.common.json) {
    PrintJson({{"outputs", paths}, {"seconds", seconds}});
  } else {
    for (const std::string& path : paths) Print("{}\n", path);
    if (!line.common.quiet)
      fmt::print(stderr, "ran in {} on {} processors\n", ReadableSeconds(seconds), program.cpus.size());
  }
  return 0;
}

}  // namespace

void AddRun(CommandLine& line) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = AddVerb(line, "run", "Execute a model on this host with real tensors",
                           [&line, options] { return RunModel(line, *options); });
  verb->add_option("MODEL", options->model, "ONNX file")->required();
  verb->add_option("--plan", options->plan, "Plan to run by; without it everything runs on the fastest device");
  verb->add_option("--input", options->inputs, "TensorProto file (.pb) for each input of the model, in its order");
  verb->add_flag("--random-inputs", options->random_inputs, "Make up the inputs (--seed decides them)");
  verb->add_option("--output-dir", options->output_dir, "Folder for output_0.pb, output_1.pb, ...")->required();
}

}  // namespace millrace::cli
