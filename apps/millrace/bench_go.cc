// SPDX-License-Identifier: Apache-2.0
#include "millrace/bench.h"
#include "millrace/bench_output.h"
#include "millrace/experiments/go_workload_table.h"
#include "millrace/report/progress_bar.h"

// millrace bench go-...: experiments on the workloads of "Transferable graph optimizers for ML compilers".
namespace millrace::cli {

int BenchGoWorkloads(const CommandLine& line, const BenchOptions& options) {
  BenchAccount account(line, 1);
  if (options.quick) account.Note("Unrolled less, for quick trainings");
  ProgressBar bar(line.common.quiet);
  const std::vector<Table> tables =
      GoWorkloadTable(options.quick ? ShortGoWorkloads() : GoWorkloads(),
                      [&bar](int done, int total) { bar.Show("workloads", done, total); });
  bar.Clear();
  account.Print(tables);
  return 0;
}

}  // namespace millrace::cli
