// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/built_model.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/errors/errors.h"
#include "millrace/experiments/targets/memory_layouts.h"
#include "millrace/machine/detect.h"
#include "millrace/workloads/models.h"

// millrace bench memory: how near the blocks of memory of programs come to the least possible.
namespace millrace::cli {
namespace {

const std::vector<std::string> kQuickModels = {"squeezenet", "towers"};

struct MemoryFlags {
  bool quick = false;
  std::vector<std::string> models;
  std::string lifetimes;  // folder; empty: programs of models
  MemoryLayoutOptions layouts;
};

std::vector<LayoutCase> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path().string());
  }
  if (error) throw InvalidInput(folder + ": cannot list this folder: " + error.message());
  if (files.empty()) throw InvalidInput(folder + ": there is no .csv file in it");
  std::sort(files.begin(), files.end());
  std::vector<LayoutCase> cases;
  cases.reserve(files.size());
  for (const std::string& file : files) cases.push_back(ReadLifetimes(file));
  return cases;
}

std::vector<LayoutCase> Programs(const CommandLine& line, const MemoryFlags& options) {
  const Machine machine = DetectHost();
  std::vector<LayoutCase> cases;
  const std::vector<std::string> all = options.quick ? kQuickModels : InferenceModelNames();
  for (const std::string& name : options.models.empty() ? all : options.models) {
    ModelOptions model;
    model.seed = line.common.seed;
    for (LayoutCase& one : ProgramsOf(name, BuiltModel(name, model), machine)) cases.push_back(std::move(one));
  }
  return cases;
}

int RunMemory(const CommandLine& line, const MemoryFlags& options) {
  const BenchAccount account(line, 1);
  const std::vector<LayoutCase> cases =
      options.lifetimes.empty() ? Programs(line, options) : FilesIn(options.lifetimes);
  account.Print({LayoutTable(cases, options.layouts)});
  return 0;
}

}  // namespace

ExperimentRun AddMemory(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<MemoryFlags>();
  AddQuick(flags, options->quick, "SqueezeNet and towers alone");
  AddList(flags, "--models", options->models, "Model families of ours; without it all that are run");
  flags.add_option("--lifetimes", options->lifetimes,
                   "Folder of .csv files of lifetimes, as google/minimalloc has them, in place of models");
  AddList(flags, "--visits", options->layouts.visits, "Effort of the search, a column each")
      ->check(NumberFrom(0, 1e15));
  return [&line, options] { return RunMemory(line, *options); };
}

}  // namespace millrace::cli
