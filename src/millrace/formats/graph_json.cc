// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/graph_json.h"

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr std::string_view kGraphFormat = "millrace.graph";
constexpr std::size_t kMostKinds = 1024;  // as many as a machine may have devices

StatedSeconds SecondsAt(const JsonPlace& place) {
  StatedSeconds seconds;
  if (!place.IsObject()) {
    if (!place.IsNumber()) place.Refuse("must be a number, or an object with a number for each device kind");
    seconds.everywhere = place.Cost();
    return seconds;
  }
  if (place.Object().size() > kMostKinds) place.Refuse("names too many device kinds");
  for (const JsonMember& member : place.Object()) {
    seconds.by_kind.emplace_back(member.name, place.Member(member.name).Cost());
  }
  if (seconds.by_kind.empty()) place.Refuse("names no device kind, so the op could run nowhere; leave it out instead");
  std::sort(seconds.by_kind.begin(), seconds.by_kind.end());
  return seconds;
}

Op OpAt(const JsonPlace& place) {
  Op op;
  op.name = place.Member("name").Text();
  op.type = place.Member("type").Text();
  if (const auto flops = place.Optional("flops")) op.flops = flops->Cost();
  if (const auto bytes = place.Optional("weight_bytes")) op.weight_bytes = bytes->Cost();
  if (const auto bytes = place.Optional("bytes_accessed")) op.bytes_accessed = bytes->Cost();
  if (const auto seconds = place.Optional("seconds")) op.seconds = SecondsAt(*seconds);
  if (const auto colocate = place.Optional("colocate")) op.colocate = colocate->Text();
  if (const auto layer = place.Optional("layer")) op.layer = layer->Integer();
  return op;
}

Tensor TensorAt(const JsonPlace& place) {
  Tensor tensor;
  tensor.name = place.Member("name").Text();
  tensor.producer = place.Member("producer").Integer();
  tensor.consumers = place.Member("consumers").Integers();
  if (const auto bytes = place.Optional("bytes")) tensor.bytes = bytes->Cost();
  if (const auto output = place.Optional("output")) tensor.output = output->Boolean();
  return tensor;
}

// Ids have to be checked after the whole file is read; then their places are told from the position alone.
void CheckIds(const GraphData& data) {
  const auto check = [&data](OpId op, OpId least, const auto& place) {
    if (op >= least && op < static_cast<OpId>(data.ops.size())) return;
    throw InvalidInput(place() + ": there is no op " + std::to_string(op) + "; the file has " +
                       std::to_string(data.ops.size()) + " ops, numbered from 0");
  };
  for (std::size_t t = 0; t < data.tensors.size(); ++t) {
    const Tensor& tensor = data.tensors[t];
    const auto member = [t](const std::string& name) { return "tensors[" + std::to_string(t) + "]." + name; };
    check(tensor.producer, -1, [&] { return member("producer"); });
    for (std::size_t i = 0; i < tensor.consumers.size(); ++i) {
      check(tensor.consumers[i], 0, [&] { return member("consumers[" + std::to_string(i) + "]"); });
    }
  }
  for (std::size_t g = 0; g < data.group_seconds.size(); ++g) {
    const std::vector<OpId>& ops = data.group_seconds[g].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      check(ops[i], 0, [&] { return "group_seconds[" + std::to_string(g) + "].ops[" + std::to_string(i) + "]"; });
    }
  }
}

void AppendSeconds(std::string& out, const StatedSeconds& seconds) {
  if (seconds.everywhere) return AppendJsonNumber(out, *seconds.everywhere);
  out += '{';
  for (const auto& [kind, there] : seconds.by_kind) AppendJsonMember(out, kind, there);
  out += '}';
}

void AppendOp(std::string& out, const Op& op) {
  out += '{';
  AppendJsonMember(out, "name", op.name);
  AppendJsonMember(out, "type", op.type);
  if (op.flops != 0) AppendJsonMember(out, "flops", op.flops);
  if (op.weight_bytes != 0) AppendJsonMember(out, "weight_bytes", op.weight_bytes);
  if (op.bytes_accessed) AppendJsonMember(out, "bytes_accessed", *op.bytes_accessed);
  if (op.seconds.stated()) {
    AppendJsonName(out, "seconds");
    AppendSeconds(out, op.seconds);
  }
  if (!op.colocate.empty()) AppendJsonMember(out, "colocate", op.colocate);
  if (op.layer) AppendJsonMember(out, "layer", *op.layer);
  out += '}';
}

void AppendTensor(std::string& out, const Tensor& tensor) {
  out += '{';
  AppendJsonMember(out, "name", tensor.name);
  AppendJsonMember(out, "producer", tensor.producer);
  AppendJsonMember(out, "consumers", tensor.consumers);
  AppendJsonMember(out, "bytes", tensor.bytes);
  if (tensor.output) out += ",\"output\":true";
  out += '}';
}

void AppendGroupTime(std::string& out, const GroupTime& group) {
  out += '{';
  AppendJsonMember(out, "ops", group.ops);
  AppendJsonName(out, "seconds");
  AppendSeconds(out, group.seconds);
  out += '}';
}

}  // namespace

ComputationGraph ParseGraphJson(std::string_view text) {
  GraphData data;
  const JsonStream stream{
      {"ops", "tensors", "group_seconds"}, [&data](const JsonPlace& element, std::string_view member) {
        if (member == "ops") {
          data.ops.push_back(OpAt(element));
        } else if (member == "tensors") {
          data.tensors.push_back(TensorAt(element));
        } else {
          data.group_seconds.push_back({element.Member("ops").Integers(), SecondsAt(element.Member("seconds"))});
        }
      }};
  const JsonValue value = ParseJson(text, stream);
  const JsonPlace root(value);
  CheckFormat(root, kGraphFormat);
  data.name = root.Member("name").Text();
  // The elements have been taken; what is left to see is that these are lists.
  static_cast<void>(root.Member("ops").Size());
  static_cast<void>(root.Member("tensors").Size());
  if (const auto groups = root.Optional("group_seconds")) static_cast<void>(groups->Size());
  CheckIds(data);
  return ComputationGraph(std::move(data));
}

std::string GraphJson(const ComputationGraph& graph) {
  std::string out = "{\"format\":\"millrace.graph\",\"version\":1,\"name\":";
  AppendJsonText(out, graph.name());
  out += ",\n\"ops\":";
  AppendJsonLines(out, graph.ops(), AppendOp);
  out += ",\n\"tensors\":";
  AppendJsonLines(out, graph.tensors(), AppendTensor);
  if (!graph.group_seconds().empty()) {
    out += ",\n\"group_seconds\":";
    AppendJsonLines(out, graph.group_seconds(), AppendGroupTime);
  }
  out += "}\n";
  return out;
}

}  // namespace millrace
