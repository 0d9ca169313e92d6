// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/onnxruntime/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "millrace/engines/onnxruntime/parts.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/onnx_write.h"
#include "millrace/graph/index.h"
#include "millrace/plan/hash.h"

namespace millrace {
namespace {

std::string PartFile(std::size_t part) { return fmt::format("part_{}.onnx", part); }
std::string ConstantFile(int value) { return fmt::format("constant_{}.pb", value); }

class Manifest {
 public:
  Manifest(const Model& model, const PlanRecord& record, const std::vector<Stretch>& stretches,
           const std::vector<PartBorder>& borders)
      : model_(model), record_(record), stretches_(stretches), borders_(borders) {
    for (std::size_t part = 0; part < borders.size(); ++part) {
      for (const int value : borders[part].outputs) made_by_[value] = static_cast<std::int32_t>(part);
    }
  }

  std::string Text(const std::string& graph_hash) {
    out_ = "{";
    AppendJsonMember(out_, "format", "millrace.parts");
    AppendJsonMember(out_, "version", 1);
    AppendJsonMember(out_, "engine", "onnxruntime");
    AppendJsonMember(out_, "model", model_.name);
    AppendJsonMember(out_, "graph_hash", graph_hash);
    AppendJsonMember(out_, "machine", record_.machine.name);
    AppendJsonMember(out_, "method", record_.method);
    out_ += ",\n";
    AppendJsonName(out_, "inputs");
    Tensors(model_.inputs, false);
    out_ += ",\n";
    AppendJsonName(out_, "outputs");
    Tensors(model_.outputs, true);
    out_ += ",\n";
    AppendJsonName(out_, "parts");
    std::vector<std::size_t> numbers(stretches_.size());
    for (std::size_t part = 0; part < numbers.size(); ++part) numbers[part] = part;
    AppendJsonLines(out_, numbers, [this](std::string&, std::size_t part) { Part(part); });
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void Part(std::size_t part) {
    const Stretch& stretch = stretches_[part];
    const Device& device = record_.machine.devices[Index(stretch.device)];
    out_ += '{';
    AppendJsonMember(out_, "file", PartFile(part));
    AppendJsonMember(out_, "device", device.name);
    AppendJsonMember(out_, "units", std::vector<std::int32_t>(device.units.begin(), device.units.end()));
    AppendJsonMember(out_, "intra_op_threads", static_cast<std::int32_t>(device.units.size()));
    AppendJsonMember(out_, "after", std::vector<std::int32_t>(stretch.after.begin(), stretch.after.end()));
    AppendJsonMember(out_, "ops", std::vector<std::int32_t>(stretch.ops.begin(), stretch.ops.end()));
    AppendJsonName(out_, "inputs");
    Tensors(borders_[part].inputs, true);
    AppendJsonName(out_, "outputs");
    Tensors(borders_[part].outputs, false);
    out_ += '}';
  }

  // With where each comes from, if asked.
  void Tensors(const std::vector<int>& values, bool sources) {
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Value& value = model_.values[Index(values[i])];
      out_ += i == 0 ? "{" : ",{";
      AppendJsonMember(out_, "name", value.name);
      AppendJsonMember(out_, "type", NameOf(value.type));
      AppendJsonName(out_, "shape");
      out_ += fmt::format("[{}]", fmt::join(value.shape, ","));
      if (sources) Source(values[i]);
      out_ += '}';
    }
    out_ += ']';
  }

  void Source(int value) {
    const auto made = made_by_.find(value);
    if (made != made_by_.end()) {
      AppendJsonMember(out_, "part", made->second);
    } else if (model_.values[Index(value)].constant != nullptr) {
      AppendJsonMember(out_, "file", ConstantFile(value));
    } else {
      AppendJsonMember(out_, "input", model_.values[Index(value)].name);
    }
  }

  const Model& model_;
  const PlanRecord& record_;
  const std::vector<Stretch>& stretches_;
  const std::vector<PartBorder>& borders_;
  std::map<int, std::int32_t> made_by_;
  std::string out_;
};

}  // namespace

ExportedParts ExportParts(const Model& model, const ComputationGraph& graph, const PlanRecord& record,
                          const std::string& folder) {
  const std::filesystem::path base(folder);
  std::error_code error;
  std::filesystem::create_directories(base, error);
  if (error || !std::filesystem::is_directory(base))
    throw InvalidInput(
        fmt::format("{}: cannot be made a folder for the parts{}", folder, error ? ": " + error.message() : ""));
  const std::vector<Stretch> stretches = CutIntoStretches(graph, record.machine, record.plan);
  std::vector<std::vector<OpId>> nodes;
  for (const Stretch& stretch : stretches) nodes.push_back(stretch.ops);
  const std::vector<PartBorder> borders = BordersOf(model, nodes);

  ExportedParts exported;
  exported.parts = static_cast<int>(stretches.size());
  for (std::size_t part = 0; part < stretches.size(); ++part) {
    exported.files.push_back((base / PartFile(part)).string());
    WriteOnnx(PartModel(model, nodes[part], borders[part]), exported.files.back());
  }
  for (const int value : model.outputs) {
    const Value& of = model.values[Index(value)];
    if (of.constant == nullptr) continue;
    exported.files.push_back((base / ConstantFile(value)).string());
    WriteTensor(*of.constant, of.name, exported.files.back());
  }
  exported.files.push_back((base / "manifest.json").string());
  WriteFileAtomically(exported.files.back(), Manifest(model, record, stretches, borders).Text(GraphHash(graph)));
  return exported;
}

}  // namespace millrace
