// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/load.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/dnn_partitioning.h"
#include "millrace/formats/gguf.h"
#include "millrace/formats/graph_json.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/language_model.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/formats/pipedream.h"
#include "millrace/formats/stg.h"

namespace millrace {
namespace {

std::string Ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return ending;
}

LoadedGraph LoadOnnx(const std::string& path, const std::map<std::string, std::int64_t>& dimensions) {
  LoadedGraph loaded;
  OnnxReadOptions options;
  options.dimensions = dimensions;
  loaded.model = ReadOnnx(path, options, &loaded.warnings);
  loaded.graph = GraphOfModel(*loaded.model);
  return loaded;
}

// The dimensions "tokens" (at once; 1 is decoding) and "context" (tokens before them) say what runs.
LoadedGraph LoadGguf(const std::string& path, const std::map<std::string, std::int64_t>& dimensions) {
  const GgufFile file = ReadGguf(path);
  LanguageModelUse use;
  for (const auto& [name, size] : dimensions) {
    if (name != "tokens" && name != "context")
      throw InvalidInput(path + ": has no dimension '" + Shown(name) + "'; tokens and context can be bound");
    (name == "tokens" ? use.tokens : use.context) = static_cast<double>(size);
  }
  LoadedGraph loaded;
  try {
    loaded.graph = GraphOfLanguageModel(LanguageModelOf(file), use);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
  return loaded;
}

// Text formats by their ending; without a telling one, by how they begin.
ComputationGraph ParseText(const std::string& path, const std::string& ending, std::string_view text) {
  const std::string name = std::filesystem::path(path).stem().string();
  if (ending == ".stg") return ParseStg(text, name);
  if (ending == ".txt") return ParsePipeDream(text, name);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const char start = first == std::string_view::npos ? '\0' : text[first];
  if (ending == ".json" || start == '{') {
    switch (KindOfJson(text)) {
      case JsonKind::kDnnPartitioning:
        return ParseDnnPartitioning(text, name);
      case JsonKind::kMachine:
        throw InvalidInput("is a machine; a graph is wanted here");
      case JsonKind::kPlan:
        throw InvalidInput("is a plan; a graph is wanted here");
      default:
        return ParseGraphJson(text);
    }
  }
  if (text.starts_with("node")) return ParsePipeDream(text, name);
  if (start >= '0' && start <= '9') return ParseStg(text, name);
  throw InvalidInput(
      "is no graph this program knows; it reads .onnx, .gguf, .json, .stg and .txt (PipeDream profiles)");
}

}  // namespace

LoadedGraph LoadGraph(const std::string& path, const std::map<std::string, std::int64_t>& dimensions) {
  const std::string ending = Ending(path);
  if (ending == ".onnx") return LoadOnnx(path, dimensions);
  if (ending == ".gguf") return LoadGguf(path, dimensions);
  const std::string text = ReadWholeFile(path);
  LoadedGraph loaded;
  try {
    loaded.graph = ParseText(path, ending, text);
  } catch (const InvalidInput& error) {
    throw error.InFile(path);
  }
  return loaded;
}

}  // namespace millrace
