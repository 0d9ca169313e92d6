// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <string>

#include "millrace/report/read_result.h"
#include "millrace/report/text.h"
#include "millrace/report/write.h"
#include "millrace/verb.h"

// millrace report: the report and the trace of a finished run, made anew from its other files.
namespace millrace::cli {
namespace {

int Report(const CommandLine& line, const std::string& folder) {
  const OptimizeResult result = ReadResult(folder);
  PrepareOutputFolder(folder);
  WriteReport(result, folder);
  const std::string page = (std::filesystem::path(folder) / "report.html").string();
  const std::string trace = (std::filesystem::path(folder) / "timeline.trace.json").string();
  if (line.common.json) {
    PrintJson({{"report", page}, {"trace", trace}});
    return 0;
  }
  WriteOut(ResultText(result));
  Print("\n  report  {}\n  trace   {}\n", page, trace);
  return 0;
}

}  // namespace

void AddReport(CommandLine& line) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* verb = AddVerb(line, "report", "Make the report and the trace of an optimize run anew",
                           [&line, folder] { return Report(line, *folder); });
  verb->add_option("DIR", *folder, "The run's output folder (optimize -o)")->required();
}

}  // namespace millrace::cli
