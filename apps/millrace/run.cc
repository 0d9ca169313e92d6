// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "millrace/engines/mpi/model_parts.h"
#include "millrace/engines/mpi/rank_machine.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/formats/plan_json.h"
#include "millrace/machine/detect.h"
#include "millrace/rank_session.h"
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
  std::string target = "cpu";
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

using Content = std::vector<std::byte>;

// What a run made: the outputs in the model's order, and how.
struct Ran {
  std::vector<Content> outputs;
  double seconds = 0;
  std::string where;
};

std::vector<std::string> WriteOutputs(const RunOptions& options, const Model& model, const Ran& ran) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    const Value& value = model.values[static_cast<std::size_t>(model.outputs[i])];
    const auto tensor = ConstantData::Dense(value.type, value.shape, ran.outputs[i]);
    paths.push_back((std::filesystem::path(options.output_dir) / fmt::format("output_{}.pb", i)).string());
    WriteTensor(*tensor, value.name, paths.back());
  }
  return paths;
}

// The inputs in the model's order: as given, or made up.
std::vector<Content> InputContents(const Model& model, const std::vector<std::shared_ptr<const ConstantData>>& tensors,
                                   std::uint64_t seed) {
  const Random random(seed);
  std::vector<Content> contents;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const Value& value = model.values[static_cast<std::size_t>(model.inputs[i])];
    Content content(static_cast<std::size_t>(ElementsOf(value.shape)) * BytesOf(value.type));
    if (tensors.empty()) {
      Random of_input = random.Fork(i);
      FillRandomly(model, model.inputs[i], of_input, content);
    } else {
      tensors[i]->CopyTo(content.data());
    }
    contents.push_back(std::move(content));
  }
  return contents;
}

Ran RunHere(const Model& model, const Machine& machine, const Plan& plan, const std::vector<Content>& inputs,
            bool checked) {
  const Program program = CompileProgram(model, machine, plan);
  WorkerPool pool(program.cpus);
  Executor executor(program, pool, checked ? OnFault::kThrow : OnFault::kIgnore);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::copy(inputs[i].begin(), inputs[i].end(), executor.input(i).begin());
  Ran ran;
  ran.seconds = executor.Run();
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    ran.outputs.emplace_back(executor.output(i).begin(), executor.output(i).end());
  ran.where = fmt::format("{} processors", program.cpus.size());
  return ran;
}

Ran RunOnRanks(mpi::Leader& ranks, const Model& model, const Machine& machine, const Plan& plan,
               const std::vector<Content>& inputs, bool checked) {
  const int number = ranks.Load(mpi::PartsOfModel(model, machine, plan, ranks.size()),
                                checked ? mpi::PartKind::kModelChecked : mpi::PartKind::kModel);
  for (std::size_t i = 0; i < inputs.size(); ++i) ranks.Write(number, model.inputs[i], inputs[i]);
  Ran ran;
  ran.seconds = ranks.Run(number);
  ran.outputs = mpi::OutputsOf(ranks, number, model, machine, plan, inputs);
  ran.where = fmt::format("{} ranks", ranks.size());
  return ran;
}

int RunModel(const CommandLine& line, const RunOptions& options) {
  RankSession session(options.target);
  if (session.follows()) return session.Follow(line, options.model);
  if (options.target != "cpu" && options.target != "mpi")
    throw InvalidInput("there is no target '" + options.target + "' to execute a model on; there are cpu and mpi");
  const LoadedGraph loaded = LoadWithWarnings(line, options.model);
  if (!loaded.model) throw InvalidInput(options.model + ": holds no ops to execute, only a graph; give an ONNX file");
  const Model& model = *loaded.model;
  CheckExecutable(model);
  mpi::Leader* const ranks = session.Lead(line, options.model, loaded);
  Plan plan;
  Machine machine;
  if (options.plan.empty()) {
    machine = ranks != nullptr ? mpi::MachineOfRanks(ranks->members()) : DetectHost();
    plan = WholeDevicePlan(loaded.graph, machine);
  } else {
    PlanRecord record = LoadPlan(options.plan, loaded.graph, {.dimensions = line.common.dimensions});
    machine = std::move(record.machine);
    plan = std::move(record.plan);
  }
  const std::vector<Content> inputs = InputContents(model, ReadInputs(options, model), line.common.seed);
  MakeFolder(options.output_dir);
  const bool checked = !options.random_inputs;
  const Ran ran = ranks != nullptr ? RunOnRanks(*ranks, model, machine, plan, inputs, checked)
                                   : RunHere(model, machine, plan, inputs, checked);
  const std::vector<std::string> paths = WriteOutputs(options, model, ran);
  if (line.common.json) {
    PrintJson({{"outputs", paths}, {"seconds", ran.seconds}});
  } else {
    for (const std::string& path : paths) Print("{}\n", path);
    if (!line.common.quiet) fmt::print(stderr, "ran in {} on {}\n", ReadableSeconds(ran.seconds), ran.where);
  }
  return 0;
}

}  // namespace

void AddRun(CommandLine& line) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = AddVerb(line, "run", "Execute a model with real tensors, on this host or over ranks",
                           [&line, options] { return RunModel(line, *options); });
  verb->add_option("MODEL", options->model, "ONNX file")->required();
  verb->add_option("--plan", options->plan, "Plan to run by; without it everything runs on the fastest device");
  verb->add_option("--input", options->inputs, "TensorProto file (.pb) for each input of the model, in its order");
  verb->add_flag("--random-inputs", options->random_inputs, "Make up the inputs (--seed decides them)");
  verb->add_option("--target", options->target, "Where: cpu, or mpi, over the ranks of mpirun")->capture_default_str();
  verb->add_option("--output-dir", options->output_dir, "Folder for output_0.pb, output_1.pb, ...")->required();
}

}  // namespace millrace::cli
