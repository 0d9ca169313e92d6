// SPDX-License-Identifier: Apache-2.0
#include "millrace/go_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/experiments/go_placement.h"
#include "millrace/policy/model_file.h"
#include "millrace/report/progress_bar.h"

namespace millrace::cli {
namespace {

constexpr char kGoWeights[] = "go.safetensors";
constexpr int kSeeds = 3;

// Those that --methods names, with the subjects the others are compared with.
std::vector<GoMethod> Chosen(std::vector<GoMethod> methods, const std::vector<std::string>& names,
                             const std::vector<std::string>& subjects) {
  if (names.empty()) return methods;
  for (const std::string& name : names) {
    if (std::none_of(methods.begin(), methods.end(), [&](const GoMethod& method) { return method.name == name; }))
      throw InvalidInput("--methods: '" + name + "' is none of this experiment's");
  }
  std::erase_if(methods, [&](const GoMethod& method) {
    const auto in = [&](const std::vector<std::string>& some) {
      return std::find(some.begin(), some.end(), method.name) != some.end();
    };
    return !in(subjects) && !in(names);
  });
  return methods;
}

}  // namespace

std::vector<GoWorkload> GoWorkloadsOf(const BenchOptions& options) {
  std::vector<GoWorkload> all = options.quick ? ShortGoWorkloads() : GoWorkloads();
  if (options.workloads.empty()) return all;
  std::vector<GoWorkload> named;
  for (const std::string& name : options.workloads) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const GoWorkload& w) { return w.name == name; });
    if (found == all.end()) throw InvalidInput("there is no workload '" + name + "'; bench go-workloads lists them");
    named.push_back(*found);
  }
  return named;
}

GoStudy BeginGoStudy(const BenchOptions& options, int threads, BenchAccount& account) {
  GoStudy study;
  study.weights = options.go_weights.empty() ? FindModelFile(kGoWeights) : options.go_weights;
  auto policy = std::make_shared<const OneShotPolicy>(ReadOneShotPolicy(study.weights));
  study.zero_shot = [policy = std::move(policy)](const GoRow&, const GoTasks&, std::uint64_t) { return policy; };
  study.draws.draws = options.draws;
  study.draws.threads = threads;
  study.seeds = options.quick ? 1 : kSeeds;
  account.Note(fmt::format("Target sim:contention, hosts p100xN, {}, seeds: {}.",
                           options.quick ? "shortened workloads" : "workloads of full size", study.seeds));
  account.Note(fmt::format("Weights of go: {}; {} draws a plan.",
                           options.go_weights.empty() ? "as shipped" : options.go_weights, options.draws));
  return study;
}

void RunGoStudy(const CommandLine& line, const BenchOptions& options, std::vector<GoMethod> methods, int seeds,
                const std::vector<std::string>& subjects, const BenchAccount& account) {
  methods = Chosen(std::move(methods), options.methods, subjects);
  ProgressBar bar(line.common.quiet);
  const GoResult result = RunGo(GoWorkloadsOf(options), methods, seeds, line.common.seed,
                                [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(GoTables(result, subjects));
}

std::vector<GoMethod> GoBaselinesNamed(const std::vector<std::string>& names) {
  std::vector<GoMethod> methods = GoBaselines(kGoSearchSeconds);
  std::erase_if(methods, [&names](const GoMethod& method) {
    return std::find(names.begin(), names.end(), method.name) == names.end();
  });
  return methods;
}

}  // namespace millrace::cli
