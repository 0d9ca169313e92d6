// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/bench.h"
#include "millrace/bench/output.h"
#include "millrace/bench/study.h"
#include "millrace/experiments/go/go_workload_table.h"
#include "millrace/report/progress_bar.h"

// millrace bench go-workloads: the training graphs of "Transferable graph optimizers for ML compilers", counted.
namespace millrace::cli {
namespace {

int RunGoWorkloads(const CommandLine& line, const GoStudyFlags& options) {
  BenchAccount account(line, 1);
  if (options.quick) account.Note("Unrolled less, for quick trainings");
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      GoWorkloadTable(GoWorkloadsOf(options), [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace

ExperimentRun AddGoWorkloads(const CommandLine& line, CLI::App& flags) {
  auto options = std::make_shared<GoStudyFlags>();
  AddWorkloadFlags(flags, *options);
  return [&line, options] { return RunGoWorkloads(line, *options); };
}

}  // namespace millrace::cli
