// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/built_model.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output_check.h"
#include "millrace/errors/errors.h"
#include "millrace/machine/detect.h"
#include "millrace/optimize/optimize.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"
#include "millrace/target/profile_cache.h"
#include "millrace/workloads/models.h"

// millrace bench networks: whole models on this CPU, usual orders against the best plan found.
//
// One row per model: sequential, all-cores, heft and best medians of interleaved runs, the interval of all-cores /
// best, how well the proxy ranked, and whether the outputs of the best plan are right (output_check.h). Throws
// WorkFailed, after the table, where some are not.
namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

struct NetworksFlags {
  bool quick = false;
  std::string data;
  std::vector<std::string> models;  // empty: all
  std::string profile_cache;
  bool reprofile = false;
};

struct Network {
  std::string name;
  std::string path;  // empty: built by us
};

std::vector<Network> Networks(const NetworksFlags& options) {
  std::vector<Network> networks;
  for (const std::string& name : InferenceModelNames()) networks.push_back({name, ""});
  if (!options.data.empty()) {
    const std::filesystem::path folder = std::filesystem::path(options.data) / "onnx_light";
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".onnx") files.push_back(entry.path());
    }
    if (error) throw InvalidInput(folder.string() + ": cannot list this folder: " + error.message());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) networks.push_back({file.stem().string(), file.string()});
  }
  if (!options.models.empty()) {
    std::erase_if(networks, [&options](const Network& n) {
      return std::find(options.models.begin(), options.models.end(), n.name) == options.models.end();
    });
  }
  if (networks.empty()) throw InvalidInput("--models names none of the networks there are");
  return networks;
}

LoadedGraph Load(const CommandLine& line, const Network& network) {
  if (!network.path.empty()) return LoadWithWarnings(line, network.path);
  ModelOptions options;
  options.seed = line.common.seed;
  return BuiltModel(network.name, options);
}

// By the tensor that lies beside the network's file, where one does.
OutputCheck CheckOutputs(const Network& network, const Model& model, const OptimizeResult& result) {
  const std::filesystem::path file(network.path);
  const std::filesystem::path expected = file.parent_path() / (file.stem().string() + "_output_0.pb");
  if (!network.path.empty() && std::filesystem::exists(expected)) {
    return CheckAgainstFile(model, result.machine, result.best.plan, expected.string());
  }
  return CheckAgainstSingleOps(model, result.machine, result.best.plan, result.seed);
}

Json JudgementJson(const ProxyJudgement& judgement) {
  const auto or_null = [](const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); };
  return {{"rank_correlation", or_null(judgement.rank_correlation)},
          {"told_apart", or_null(judgement.told_apart)},
          {"median_error", or_null(judgement.median_error)},
          {"first_over_best", or_null(judgement.first_over_best)}};
}

Json RowOf(const Network& network, const OptimizeResult& result, const OutputCheck& check) {
  Json row{{"model", network.name}, {"ops", result.graph.num_ops()}};
  for (const BaselineResult& baseline : result.baselines) {
    row[baseline.name] = baseline.candidate.target_seconds ? Json(*baseline.candidate.target_seconds) : Json(nullptr);
    row[baseline.name + "_over_best"] = {baseline.ratio.first, baseline.ratio.second};
  }
  row["best"] = result.best.target_seconds ? Json(*result.best.target_seconds) : Json(nullptr);
  row["method"] = result.best.method;
  row["fusion"] = result.best.fusion;
  row["proxy"] = JudgementJson(result.proxy_judgement);
  row["in_context"] = JudgementJson(result.in_context.value_or(ProxyJudgement{}));
  row["planning_seconds"] = result.planning_seconds;
  row["output_check"] = {{"against", check.against}, {"error", check.error}, {"passed", check.passed()}};
  row["disturbed"] = result.disturbed;
  row["processor_moves"] = result.processor_moves;
  return row;
}

std::string Milliseconds(const Json& row, const char* column) {
  return row.contains(column) && row[column].is_number() ? fmt::format("{:.2f}", 1e3 * row[column].get<double>()) : "-";
}

std::string NumberText(const Json& number, const char* unit, double scale) {
  return number.is_number() ? fmt::format("{:.2f}{}", scale * number.get<double>(), unit) : "-";
}

// Its cells, as the head of the table has them.
std::string JudgementText(const Json& judgement) {
  return fmt::format("{} | {} | {} | {}", NumberText(judgement["rank_correlation"], "", 1),
                     NumberText(judgement["told_apart"], "", 1), NumberText(judgement["median_error"], " %", 100),
                     NumberText(judgement["first_over_best"], "", 1));
}

std::string OutputCheckText(const Json& check) {
  const Json& error = check["error"];
  return fmt::format("{}: {} by {}", check["against"].get<std::string>(),
                     check["passed"].get<bool>() ? "equal" : "WRONG",
                     error.is_number() ? fmt::format("{:.0e}", error.get<double>()) : "no number");
}

void PrintMarkdownRow(const Json& row) {
  std::string ratio = "-";
  if (row.contains("all-cores_over_best")) {
    const Json& interval = row["all-cores_over_best"];
    ratio = fmt::format("{:.2f} .. {:.2f}", interval[0].get<double>(), interval[1].get<double>());
  }
  Print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |{}\n", row["model"].get<std::string>(),
        row["ops"].get<int>(), Milliseconds(row, "sequential"), Milliseconds(row, "all-cores"),
        Milliseconds(row, "heft"), Milliseconds(row, "best"),
        row["method"].get<std::string>() + " / " + row["fusion"].get<std::string>(), ratio, JudgementText(row["proxy"]),
        JudgementText(row["in_context"]), OutputCheckText(row["output_check"]),
        (row["disturbed"].get<bool>() ? " disturbed" : "") +
            std::string(row["processor_moves"].get<int>() > 0 ? " moved" : ""));
  std::fflush(stdout);
}

void PrintMarkdownHead(const CommandLine& line, const Machine& machine) {
  Print("{}, {} devices, seed {}; milliseconds, medians of interleaved runs\n\n", HostProcessor(),
        machine.devices.size(), line.common.seed);
  Print(
      "| model | ops | sequential | all-cores | heft | best plan | method / fusion | all-cores / best, 95 % | rank "
      "correlation | pairs told apart | proxy error | first / best | in context: rank correlation | in context: pairs "
      "told apart | in context: error | in context: first / best | output check |\n");
  Print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

int RunNetworks(const CommandLine& line, const NetworksFlags& options) {
  const Machine machine = DetectHost();
  Json rows = Json::array();
  std::string wrong;
  if (!line.common.json) PrintMarkdownHead(line, machine);
  for (const Network& network : Networks(options)) {
    ProgressBar bar(line.common.quiet);
    OptimizeOptions optimize;
    optimize.seed = line.common.seed;
    optimize.quick = options.quick;
    optimize.profile_cache = options.profile_cache;
    optimize.reprofile = options.reprofile;
    const LoadedGraph loaded = Load(line, network);
    const OptimizeResult result = Optimize(loaded, machine, MakePlannerRegistry(), optimize, [&](OptimizeStep step) {
      const std::string stage = network.name + " " + std::string(step.stage);
      step.stage = stage;
      bar.Show(step);
    });
    bar.Clear();
    const OutputCheck check = CheckOutputs(network, *loaded.model, result);
    if (!check.passed()) wrong += (wrong.empty() ? "" : ", ") + network.name;
    rows.push_back(RowOf(network, result, check));
    if (!line.common.json) PrintMarkdownRow(rows.back());
  }
  if (line.common.json) PrintJson({{"processor", HostProcessor()}, {"seed", line.common.seed}, {"rows", rows}});
  if (!wrong.empty()) throw WorkFailed("the best plan gives wrong outputs for " + wrong);
  return 0;
}

}  // namespace

ExperimentRun AddNetworks(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<NetworksFlags>();
  AddQuick(flags, options->quick, "As optimize --quick");
  AddData(flags, options->data, "its onnx_light is planned, too");
  AddList(flags, "--models", options->models, "Only these");
  flags.add_option("--profile-cache", options->profile_cache, "File that keeps op times between runs");
  flags.add_flag("--reprofile", options->reprofile, "Measure anew what that file holds");
  return [&line, options] { return RunNetworks(line, *options); };
}

}  // namespace millrace::cli
