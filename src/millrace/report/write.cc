// SPDX-License-Identifier: Apache-2.0
#include "millrace/report/write.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/plan_json.h"
#include "millrace/optimize/effort.h"
#include "millrace/report/html.h"
#include "millrace/report/result_json.h"
#include "millrace/report/trace.h"

namespace millrace {
namespace {

// Beyond it the baselines are left out of the trace: viewers grow slow.
constexpr std::size_t kGroupsInFullTrace = 20000;

void MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InvalidInput(folder.string() + ": cannot make this output folder: " + error.message());
}

}  // namespace

double ExpectedWritingSeconds(const ComputationGraph& graph) {
  constexpr double kAlways = 0.1;
  constexpr double kPerOp = 5e-5;
  constexpr double kPerOpInFullTrace = 10e-5;
  constexpr double kPerEdge = 1.5e-6;  // pricing the groups anew
  const double ops = graph.num_ops();
  const double in_trace = std::min(ops, static_cast<double>(kGroupsInFullTrace));
  const double edges = static_cast<double>(VisitsOfAPass(graph)) - ops;
  return kAlways + kPerEdge * edges + kPerOpInFullTrace * in_trace + kPerOp * (ops - in_trace);
}

void PrepareOutputFolder(const std::string& folder) {
  MakeFolder(folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InvalidInput(folder + ": cannot write into this output folder: " + std::strerror(errno));
  }
}

void WriteResult(const OptimizeResult& result, const std::string& folder) {
  const std::filesystem::path base(folder);
  const auto write = [&base](const std::string& name, const std::string& content) {
    WriteFileAtomically((base / name).string(), content);
  };
  MakeFolder(base / "baselines");
  write("plan.json", PlanJson(RecordOf(result, result.best)));
  for (const BaselineResult& baseline : result.baselines) {
    PlanRecord record = RecordOf(result, baseline.candidate);
    record.method = baseline.name;
    write("baselines/" + baseline.name + ".plan.json", PlanJson(record));
  }
  if (result.challenger) write("challenger.plan.json", PlanJson(RecordOf(result, result.challenger->candidate)));
  write("graph.json", GraphJson(result.graph));
  write("result.json", ResultJson(result) + "\n");
  WriteReport(result, folder);
}

void WriteReport(const OptimizeResult& result, const std::string& folder) {
  const auto write = [base = std::filesystem::path(folder)](const std::string& name, const std::string& content) {
    WriteFileAtomically((base / name).string(), content);
  };
  std::vector<PlanAccount> accounts = AccountsOf(result);
  const bool all = result.best.plan.groups.size() <= kGroupsInFullTrace;
  const std::size_t traced = all ? accounts.size() : 1;
  write("timeline.trace.json", TraceJson(result.graph, result.machine, std::span(accounts).first(traced)));
  write("report.html", ReportHtml(result, std::move(accounts)));
}

}  // namespace millrace
