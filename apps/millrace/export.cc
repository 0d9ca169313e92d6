// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/export.h"

#include <memory>

#include "millrace/errors/errors.h"
#include "millrace/formats/plan_json.h"
#include "millrace/verb.h"

// millrace export: a plan in the form that another engine takes.
namespace millrace::cli {
namespace {

struct ExportOptions {
  std::string model;
  std::string plan;
  std::string output;
};

int ExportOrt(const CommandLine& line, const ExportOptions& options) {
  const LoadedGraph loaded = LoadWithWarnings(line, options.model);
  if (!loaded.model)
    throw InvalidInput(options.model + ": holds costs, not operators, and cannot become parts; give an ONNX file");
  const PlanRecord record = LoadPlan(options.plan, loaded.graph, {.dimensions = line.common.dimensions});
  const ExportedParts exported = ExportParts(*loaded.model, loaded.graph, record, options.output);
  if (line.common.json) {
    PrintJson({{"parts", exported.parts}, {"manifest", exported.files.back()}, {"files", exported.files}});
  } else if (!line.common.quiet) {
    Print("{}: {} part{}\n", exported.files.back(), exported.parts, exported.parts == 1 ? "" : "s");
  }
  return 0;
}

}  // namespace

void AddExport(CommandLine& line) {
  CLI::App* verb = AddVerb(line, "export", "Write a plan in the form that another engine takes", [] { return 0; });
  verb->require_subcommand(1);
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* ort =
      verb->add_subcommand("ort", "ONNX Runtime: one sub-model for each stretch of a device's work, and manifest.json");
  MakeVerb(line, *ort, [&line, options] { return ExportOrt(line, *options); });
  ort->add_option("MODEL", options->model, "ONNX model")->required();
  ort->add_option("--plan", options->plan, "The plan to cut it by")->required();
  ort->add_option("-o,--output", options->output, "Folder for part_0.onnx, part_1.onnx, ... and manifest.json")
      ->required();
}

}  // namespace millrace::cli
