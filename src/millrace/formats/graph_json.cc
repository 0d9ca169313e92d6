// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/graph_json.h"

#include <algorithm>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"

namespace millrace {
namespace {

constexpr std::string_view kFormat = "millrace.graph";
constexpr std::size_t kMostKinds = 1024;  // as many as a machine may have devices

double CostAt(const JsonPlace& place) {
  const double cost = place.Number();
  if (cost < 0) place.Refuse("is negative; costs are >= 0");
  return cost;
}

StatedSeconds SecondsAt(const JsonPlace& place) {
  StatedSeconds seconds;
  if (!place.IsObject()) {
    if (!place.IsNumber()) place.Refuse("must be a number, or an object with a number for each device kind");
    seconds.everywhere = CostAt(place);
    return seconds;
  }
  if (place.Object().size() > kMostKinds) place.Refuse("names too many device kinds");
  for (const JsonMember& member : place.Object()) {
    seconds.by_kind.emplace_back(member.name, CostAt(place.Member(member.name)));
  }
  if (seconds.by_kind.empty()) place.Refuse("names no device kind, so the op could run nowhere; leave it out instead");
  std::sort(seconds.by_kind.begin(), seconds.by_kind.end());
  return seconds;
}

Op OpAt(const JsonPlace& place) {
  Op op;
  op.name = place.Member("name").Text();
  op.type = place.Member("type").Text();
  if (const auto flops = place.Optional("flops")) op.flops = CostAt(*flops);
  if (const auto bytes = place.Optional("weight_bytes")) op.weight_bytes = CostAt(*bytes);
  if (const auto bytes = place.Optional("bytes_accessed")) op.bytes_accessed = CostAt(*bytes);
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
  if (const auto bytes = place.Optional("bytes")) tensor.bytes = CostAt(*bytes);
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
  for (std::size_t i = 0; i < seconds.by_kind.size(); ++i) {
    if (i > 0) out += ',';
    AppendJsonText(out, seconds.by_kind[i].first);
    out += ':';
    AppendJsonNumber(out, seconds.by_kind[i].second);
  }
  out += '}';
}

void AppendOp(std::string& out, const Op& op) {
  out += "{\"name\":";
  AppendJsonText(out, op.name);
  out += ",\"type\":";
  AppendJsonText(out, op.type);
  const auto number = [&out](std::string_view member, double value) {
    out += member;
    AppendJsonNumber(out, value);
  };
  if (op.flops != 0) number(",\"flops\":", op.flops);
  if (op.weight_bytes != 0) number(",\"weight_bytes\":", op.weight_bytes);
  if (op.bytes_accessed) number(",\"bytes_accessed\":", *op.bytes_accessed);
  if (op.seconds.stated()) {
    out += ",\"seconds\":";
    AppendSeconds(out, op.seconds);
  }
  if (!op.colocate.empty()) {
    out += ",\"colocate\":";
    AppendJsonText(out, op.colocate);
  }
  if (op.layer) out += ",\"layer\":" + std::to_string(*op.layer);
  out += '}';
}

void AppendTensor(std::string& out, const Tensor& tensor) {
  out += "{\"name\":";
  AppendJsonText(out, tensor.name);
  out += ",\"producer\":" + std::to_string(tensor.producer) + ",\"consumers\":";
  AppendJsonIntegers(out, tensor.consumers);
  out += ",\"bytes\":";
  AppendJsonNumber(out, tensor.bytes);
  if (tensor.output) out += ",\"output\":true";
  out += '}';
}

void AppendGroupTime(std::string& out, const GroupTime& group) {
  out += "{\"ops\":";
  AppendJsonIntegers(out, group.ops);
  out += ",\"seconds\":";
  AppendSeconds(out, group.seconds);
  out += '}';
}

// One element a line: long files stay readable and comparable.
template <typename Element, typename Append>
void AppendLines(std::string& out, const std::vector<Element>& elements, const Append& append) {
  out += '[';
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append(out, elements[i]);
  }
  out += ']';
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
  CheckFormat(root, kFormat);
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
  AppendLines(out, graph.ops(), AppendOp);
  out += ",\n\"tensors\":";
  AppendLines(out, graph.tensors(), AppendTensor);
  if (!graph.group_seconds().empty()) {
    out += ",\n\"group_seconds\":";
    AppendLines(out, graph.group_seconds(), AppendGroupTime);
  }
  out += "}\n";
  return out;
}

}  // namespace millrace
