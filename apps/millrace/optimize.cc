// SPDX-License-Identifier: Apache-2.0
#include "millrace/optimize/optimize.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "command_line/limits.h"
#include "millrace/formats/machine_json.h"
#include "millrace/gflownet/planners.h"
#include "millrace/optimize/planners.h"
#include "millrace/optimize_llama.h"
#include "millrace/planning/deadline.h"
#include "millrace/rank_session.h"
#include "millrace/report/progress_bar.h"
#include "millrace/report/result_json.h"
#include "millrace/report/text.h"
#include "millrace/report/write.h"
#include "millrace/steering_flags.h"
#include "millrace/target/profile_cache.h"
#include "millrace/trainer_program.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

struct Options {
  std::string model;
  std::string machine = "this";
  std::string output = "millrace-out";
  bool no_profile = false;
  std::vector<double> temperatures;
  PlannerFiles weights;
  std::optional<double> finetune;
  std::string objective = "latency";
  SteeringFlags steering;
  OptimizeOptions optimize;
  LlamaFlags llama;
};

// How long the links between ranks are measured.
double LinkSeconds(const OptimizeOptions& options) {
  constexpr double kMost = 5, kQuick = 1, kShareOfLimit = 0.1;
  return std::min(options.quick ? kQuick : kMost, kShareOfLimit * options.time_limit.value_or(kMost / kShareOfLimit));
}

int RunOptimize(const CommandLine& line, Options options) {
  if (options.optimize.target == "llama") {
    options.llama.options.time_limit = options.optimize.time_limit;
    return RunOptimizeLlama(line, options.model, options.output, options.llama);
  }
  const Deadline clock;
  RankSession ranks(options.optimize.target);
  if (ranks.follows()) return ranks.Follow(line, options.model);
  PrepareOutputFolder(options.output);
  const Deadline reading;
  const LoadedGraph loaded = LoadWithWarnings(line, options.model);
  const double reading_seconds = reading.Elapsed();
  options.optimize.ranks = ranks.Lead(line, options.model, loaded);
  const Machine machine = options.optimize.ranks != nullptr
                              ? ranks.MeasuredMachine(options.machine, LinkSeconds(options.optimize))
                              : LoadMachine(options.machine);
  options.optimize.timing = ranks.Timing(options.machine, machine);
  options.optimize.seed = line.common.seed;
  options.optimize.objective = ParseObjective(options.objective);
  options.optimize.steering = SteeringOf(line, options.steering, loaded.graph, machine);
  const int threads = ThreadsOf(line.common);
  if (!options.temperatures.empty()) options.optimize.settings.Set("temperature", options.temperatures);
  if (options.no_profile) options.optimize.without.emplace_back("profile");
  options.optimize.records = (std::filesystem::path(options.output) / "records.jsonl").string();
  if (options.finetune) {
    TrainerProgram();
    FinetuneRequest request;
    request.seconds = *options.finetune;
    request.weights = GFlowNetWeightsFile(options.weights.gflownet_weights);
    request.folder = (std::filesystem::path(options.output) / "finetune").string();
    request.seed = line.common.seed;
    options.optimize.adapt = [&machine, request, files = options.weights, threads](const ComputationGraph& graph) {
      PlannerFiles adapted = files;
      adapted.gflownet_weights = Finetune(graph, machine, request);
      return MakePlannerRegistry(adapted, threads);
    };
  }
  ProgressBar bar(line.common.quiet);
  options.optimize.threads = threads;
  const PlannerRegistry planners = MakePlannerRegistry(options.weights, threads);
  options.optimize.seconds_before = clock.Elapsed();
  // Where reading was slow, writing will be; but for weights, which are read and not written.
  const double writing_seconds = ExpectedWritingSeconds(loaded.graph);
  options.optimize.seconds_after =
      writing_seconds + 2 * (loaded.model ? std::min(reading_seconds, writing_seconds) : reading_seconds);
  const OptimizeResult result =
      Optimize(loaded, machine, planners, options.optimize, [&bar](const OptimizeStep& step) { bar.Show(step); });
  bar.Clear();
  WriteResult(result, options.output);
  if (line.common.json) {
    PrintJson(nlohmann::ordered_json::parse(ResultJson(result)));
    return 0;
  }
  WriteOut(ResultText(result));
  Print("\n  plan    {}/plan.json\n  report  {}/report.html\n", options.output, options.output);
  return 0;
}

std::string StageNames() {
  std::string names;
  for (const OptimizeStage& stage : OptimizeStages()) {
    if (!stage.name.empty()) names += (names.empty() ? "" : "; ") + stage.name + " (" + stage.meaning + ")";
  }
  return names;
}

}  // namespace

void AddOptimize(CommandLine& line) {
  auto options = std::make_shared<Options>();
  options->optimize.profile_cache = DefaultProfileCachePath();
  CLI::App* verb = AddVerb(line, "optimize", "Find the fastest plan for a model on a machine, and measure it",
                           [&line, options] { return RunOptimize(line, *options); });
  OptimizeOptions& optimize = options->optimize;
  verb->add_option("MODEL", options->model,
                   "ONNX model, a graph with a sim: or cmd: target, or a GGUF model with target llama")
      ->required();
  verb->add_option("--machine", options->machine, "Preset or machine file")->capture_default_str();
  AddProxyOption(*verb, options->optimize.proxy);
  verb->add_option("--target", optimize.target,
                   "What plans are measured on: cpu | ort[,library=PATH] | sim:NAME | cmd[,timeout=SECONDS]:WORDS | "
                   "cmd-sh:LINE | mpi[,emulate] | llama")
      ->capture_default_str();
  verb->add_option(
          "--samples", optimize.samples,
          "Plans drawn from each sampling source for each way of fusing (1000 for all ways together; fewer for "
          "very large graphs)")
      ->check(WholeFrom(1, std::int64_t{1} << 40));
  verb->add_option("--iterations", optimize.iterations, "Steps of each search source")
      ->check(WholeFrom(1, std::int64_t{1} << 40));
  verb->add_option("--top-k", optimize.top_k, "Plans measured on the target")
      ->check(WholeFrom(1, 100000))
      ->capture_default_str();
  verb->add_option("--methods", optimize.methods, "Only these candidate sources, with commas between")->delimiter(',');
  verb->add_option("--temperature", options->temperatures,
                   "Reward temperatures of the learned sampler, with commas between: lower for better, higher for more "
                   "varied plans")
      ->delimiter(',')
      ->check(AboveZero());
  verb->add_option("--weights", options->weights.gflownet_weights,
                   "Weights of the learned sampler instead of those that ship");
  verb->add_option("--finetune", options->finetune,
                   "Adapt the learned sampler to this graph for so many seconds first (needs millrace-train)")
      ->check(AboveZero());
  verb->add_option("--time-limit", optimize.time_limit, "Seconds for the whole run, reading and profiling too")
      ->check(AboveZero());
  verb->add_flag("--quick", optimize.quick,
                 "Less of everything: a first answer within 10 s, of very large graphs within a minute");
  verb->add_flag(
      "--robust", optimize.robust,
      "Judge plans by the worse of two times: with their order kept, and where devices run whatever is ready "
      "first");
  verb->add_option("--without", optimize.without,
                   fmt::format("Leave out these stages, with commas between: {}", StageNames()))
      ->delimiter(',');
  AddObjectiveOption(*verb, options->objective);
  AddSteeringOptions(*verb, options->steering);
  verb->add_flag("--no-profile", options->no_profile, "Do not time ops first: price plans by the machine's rates");
  verb->add_option("--profile-cache", optimize.profile_cache, "File that keeps op times between runs; empty for none")
      ->capture_default_str();
  verb->add_flag("--reprofile", optimize.reprofile, "Measure anew what the profile cache holds");
  verb->add_option("-o,--output", options->output, "Folder for the plan, the report and the records")
      ->capture_default_str();
  AddLlamaFlags(*verb, options->llama);
}

}  // namespace millrace::cli
