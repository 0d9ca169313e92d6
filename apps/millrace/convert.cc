// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/verb.h"

namespace millrace::cli {
namespace {

struct ConvertOptions {
  std::string input;
  std::string output;
};

int Convert(const CommandLine& line, const ConvertOptions& options) {
  const LoadedGraph loaded = LoadWithWarnings(line, options.input);
  if (options.output == "-") {
    const std::string text = GraphJson(loaded.graph);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw WorkFailed("stdout: could not write the graph");
    return 0;
  }
  if (options.output.ends_with(".onnx")) {
    if (!loaded.model) {
      throw InvalidInput(options.output + ": " + options.input +
                         " holds costs, not operators, and cannot become ONNX; name a .json file to write");
    }
    WriteOnnx(*loaded.model, options.output);
  } else {
    WriteFileAtomically(options.output, GraphJson(loaded.graph));
  }
  if (line.common.json) {
    PrintJson({{"ops", loaded.graph.num_ops()}, {"tensors", loaded.graph.num_tensors()}, {"output", options.output}});
  } else if (!line.common.quiet) {
    fmt::print("{}: {} ops, {} tensors\n", options.output, loaded.graph.num_ops(), loaded.graph.num_tensors());
  }
  return 0;
}

}  // namespace

void AddConvert(CommandLine& line) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = AddVerb(line, "convert", "Read a graph in any format and write it as graph JSON (or ONNX as ONNX)",
                           [&line, options] { return Convert(line, *options); });
  verb->add_option("IN", options->input, "The graph: .onnx, .json, .stg, .txt (PipeDream profile)")->required();
  verb->add_option("OUT", options->output, "The file to write: .json, or .onnx; - is stdout")->required();
}

}  // namespace millrace::cli
