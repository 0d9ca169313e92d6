// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/machine_json.h"
#include "millrace/formats/onnx_plan.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/formats/plan_json.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/optimize/profile.h"
#include "millrace/report/progress_bar.h"
#include "millrace/target/hand_over.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string plan;      // to put into the ONNX file
  std::string plan_out;  // where the plan that the ONNX file carries goes
  bool profile = false;  // write measured times into the graph
  std::string machine = "this";
  std::string profile_cache = DefaultProfileCachePath();
  bool reprofile = false;
};

// The graph with the time of every op, and of every group that greedy fusion makes, measured on this host.
ComputationGraph Profiled(const LoadedGraph& loaded, const CommandLine& line, const ConvertOptions& options) {
  if (!loaded.model)
    throw InvalidInput(options.input + ": holds costs, not operators, and cannot be measured; leave --profile out");
  ProfileCache cache(options.profile_cache);
  if (!cache.warning().empty()) Warn(cache.warning());
  if (options.reprofile) cache.MeasureAnew();
  ProfileSummary summary;
  ProgressBar bar(line.common.quiet);
  ComputationGraph graph = ProfileGraph(
      *loaded.model, loaded.graph, WithMeasuredHandOvers(LoadMachine(options.machine)), GreedyFusion(loaded.graph),
      ProfileGraphOptions{}, cache, Deadline(), [&bar](int done, int total) { bar.Show("profile", done, total); },
      summary);
  cache.Save();
  if (summary.disturbed > 0) {
    Warn(fmt::format("other processes used these processors during {} of {} op timings: those are guesses",
                     summary.disturbed, summary.measured));
  }
  return graph;
}

// The model's own plan, as a file.
void WriteCarriedPlan(const LoadedGraph& loaded, const ConvertOptions& options) {
  const std::optional<PlanRecord> record = loaded.model ? PlanOf(*loaded.model) : std::nullopt;
  if (!record) throw InvalidInput(options.input + ": carries no plan; leave --plan-out out");
  WriteFileAtomically(options.plan_out, PlanJson(*record));
}

void WriteModel(const CommandLine& line, const LoadedGraph& loaded, const ConvertOptions& options) {
  if (!loaded.model) {
    throw InvalidInput(options.output + ": " + options.input +
                       " holds costs, not operators, and cannot become ONNX; name a .json file to write");
  }
  if (options.plan.empty()) return WriteOnnx(*loaded.model, options.output);
  const PlanReading reading{.dimensions = line.common.dimensions};
  WriteOnnx(WithPlan(*loaded.model, LoadPlan(options.plan, loaded.graph, reading)), options.output);
}

int Convert(const CommandLine& line, const ConvertOptions& options) {
  LoadedGraph loaded = LoadWithWarnings(line, options.input);
  if (options.profile && options.output.ends_with(".onnx"))
    throw InvalidInput(options.output + ": --profile goes into a graph file; name a .json file to write");
  if (!options.plan.empty() && !options.output.ends_with(".onnx"))
    throw InvalidInput(options.output +
                       ": only an .onnx file can carry a plan; name one to write, or leave --plan out");
  if (!options.plan_out.empty()) WriteCarriedPlan(loaded, options);
  if (options.profile) loaded.graph = Profiled(loaded, line, options);
  if (options.output == "-") {
    WriteOut(GraphJson(loaded.graph));
    return 0;
  }
  if (options.output.ends_with(".onnx")) {
    WriteModel(line, loaded, options);
  } else {
    WriteFileAtomically(options.output, GraphJson(loaded.graph));
  }
  if (line.common.json) {
    PrintJson({{"ops", loaded.graph.num_ops()}, {"tensors", loaded.graph.num_tensors()}, {"output", options.output}});
  } else if (!line.common.quiet) {
    Print("{}: {} ops, {} tensors\n", options.output, loaded.graph.num_ops(), loaded.graph.num_tensors());
  }
  return 0;
}

}  // namespace

void AddConvert(CommandLine& line) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = AddVerb(line, "convert", "Read a graph in any format and write it as graph JSON (or ONNX as ONNX)",
                           [&line, options] { return Convert(line, *options); });
  verb->add_option("IN", options->input, "The graph: .onnx, .gguf, .json, .stg, .txt (PipeDream profile)")->required();
  verb->add_option("OUT", options->output, "The file to write: .json, or .onnx; - is stdout")->required();
  verb->add_option("--plan", options->plan,
                   "Write the ONNX model with this plan: its order, and its placement as metadata");
  verb->add_option("--plan-out", options->plan_out, "Write the plan that the ONNX model IN carries to this file");
  verb->add_flag("--profile", options->profile,
                 "Measure every op and fused group on this host and write the times into the graph");
  verb->add_option("--machine", options->machine, "With --profile: the host's devices")->capture_default_str();
  verb->add_option("--profile-cache", options->profile_cache, "With --profile: file that keeps op times between runs");
  verb->add_flag("--reprofile", options->reprofile, "With --profile: measure anew what that file holds");
}

}  // namespace millrace::cli
