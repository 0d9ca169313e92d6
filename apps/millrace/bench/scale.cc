// SPDX-License-Identifier: Apache-2.0
#include "millrace/experiments/scale/scale.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>

#include "command_line/limits.h"
#include "millrace/bench.h"
#include "millrace/bench/flags.h"
#include "millrace/bench/output.h"
#include "millrace/experiments/scale/scale_plot.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/optimize/planners.h"
#include "millrace/report/progress_bar.h"
#include "millrace/scratch_folder.h"

// millrace bench scale: seconds and memory of each stage as graphs grow.
namespace millrace::cli {
namespace {

struct ScaleFlags {
  bool quick = false;
  ScaleOptions scale;
  std::string plot;  // file; empty: none
};

void Shorten(const CLI::App& flags, ScaleOptions& options) {
  if (flags.count("--sizes") == 0) options.sizes = {1'000, 4'000};
  if (flags.count("--degrees") == 0) options.degrees = {2};
  if (flags.count("--optimize-seconds") == 0) options.optimize_seconds = 5;
}

int RunScaleBench(const CommandLine& line, ScaleFlags options) {
  options.scale.seed = line.common.seed;
  const int threads = ThreadsOf(line);
  BenchAccount account(line, threads);
  account.Note(
      fmt::format("Random graphs (er, CCR 1) on eight equal devices, links of 1e-6 s and 1e9 bytes/s. Every stage "
                  "has a process of its own. gflownet draws one plan; optimize runs on sim:contention with a "
                  "time limit of {:g} s, on {} threads.",
                  options.scale.optimize_seconds, threads));
  const ScratchFolder scratch("scale");
  std::filesystem::create_directories(scratch.path());
  ProgressBar bar(line.common.quiet);
  const std::vector<ScalePoint> points = RunScale(options.scale, MakePlannerRegistry({}, threads), scratch.path(),
                                                  [&bar](int done, int total) { bar.Show("stages", done, total); });
  bar.Clear();
  if (!options.plot.empty()) WriteFileAtomically(options.plot, ScalePlot(points));
  account.Print(ScaleTables(points));
  return 0;
}

}  // namespace

ExperimentRun AddScale(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<ScaleFlags>();
  ScaleOptions& scale = options->scale;
  AddQuick(flags, options->quick, "1000 and 4000 ops, 2 edges an op, 5 s of optimize");
  AddList(flags, "--sizes", scale.sizes, "Ops of the graphs")->check(WholeFrom(2, 10'000'000))->capture_default_str();
  AddList(flags, "--degrees", scale.degrees, "Edges per op")->check(NumberFrom(1e-3, 1e6))->capture_default_str();
  AddList(flags, "--stages", scale.stages, "Only these stages");
  AddSeconds(flags, "--optimize-seconds", scale.optimize_seconds, "Time limit of optimize")->capture_default_str();
  AddSeconds(flags, "--most-seconds", scale.most_seconds, "What takes longer is stopped and left out")
      ->capture_default_str();
  flags.add_option("-o,--output", options->plot, "Also draw it: FILE.svg");
  return [&line, &flags, options] {
    if (options->quick) Shorten(flags, options->scale);
    return RunScaleBench(line, *options);
  };
}

}  // namespace millrace::cli
