// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/dnn_partitioning.h"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/formats/json_value.h"

namespace millrace {
namespace {

// The collection writes its marks as true and false in some files and as 1 and 0 in others.
bool MarkAt(const JsonPlace& place) { return place.IsNumber() ? place.Number() != 0 : place.Boolean(); }

struct Reader {
  GraphData data;
  std::unordered_map<std::int32_t, OpId> op_of;  // by the file's node id
  std::vector<std::optional<std::int32_t>> color;
  struct Edge {
    std::int32_t from, to;
    double milliseconds;
    std::size_t index;
  };
  std::vector<Edge> edges;

  void TakeNode(const JsonPlace& node) {
    const JsonPlace id = node.Member("id");
    if (!op_of.emplace(id.Integer(), static_cast<OpId>(data.ops.size())).second) id.Refuse("is given twice");
    Op op;
    op.name = node.Member("name").Text();
    const auto backward = node.Optional("isBackwardNode");
    op.type = backward && MarkAt(*backward) ? "backward" : "forward";
    op.seconds.by_kind.emplace_back("cpu", node.Member("cpuLatency").Cost() / 1e3);
    const auto supported = node.Optional("supportedOnFpga");
    if (!supported || MarkAt(*supported))
      op.seconds.by_kind.emplace_back("fpga", node.Member("fpgaLatency").Cost() / 1e3);
    if (const auto size = node.Optional("size")) op.weight_bytes = size->Cost();
    if (const auto layer = node.Optional("layerId")) op.layer = layer->Integer();
    const auto color_class = node.Optional("colorClass");
    color.push_back(color_class ? std::optional(color_class->Integer()) : std::nullopt);
    data.ops.push_back(std::move(op));
  }

  void TakeEdge(const JsonPlace& edge) {
    edges.push_back(
        {edge.Member("sourceId").Integer(), edge.Member("destId").Integer(), edge.Member("cost").Cost(), edges.size()});
  }

  // A colour that only one node wears binds nothing.
  void Colocate() {
    std::map<std::int32_t, int> wearers;
    for (const auto& worn : color) {
      if (worn) ++wearers[*worn];
    }
    for (std::size_t i = 0; i < color.size(); ++i) {
      if (color[i] && wearers[*color[i]] > 1) data.ops[i].colocate = "color" + std::to_string(*color[i]);
    }
  }

  void MakeTensors() {
    std::map<std::pair<OpId, OpId>, double> cost_of;
    for (const Edge& edge : edges) {
      const auto end_of = [this, &edge](std::int32_t id, const char* member) {
        const auto found = op_of.find(id);
        if (found == op_of.end()) {
          throw InvalidInput("edges[" + std::to_string(edge.index) + "]." + member + ": there is no node " +
                             std::to_string(id));
        }
        return found->second;
      };
      double& cost = cost_of[{end_of(edge.from, "sourceId"), end_of(edge.to, "destId")}];
      cost = std::max(cost, edge.milliseconds);
    }
    std::map<std::pair<OpId, double>, std::vector<OpId>> consumers;
    for (const auto& [ends, cost] : cost_of) consumers[{ends.first, cost}].push_back(ends.second);
    for (auto& [key, readers] : consumers) {
      Tensor tensor;
      tensor.name = data.ops[static_cast<std::size_t>(key.first)].name;
      tensor.producer = key.first;
      tensor.consumers = std::move(readers);
      tensor.bytes = key.second / 1e3 * kDnnPartitioningBandwidth;
      data.tensors.push_back(std::move(tensor));
    }
  }
};

}  // namespace

ComputationGraph ParseDnnPartitioning(std::string_view text, const std::string& name) {
  Reader reader;
  reader.data.name = name;
  const JsonStream stream{{"nodes", "edges"}, [&reader](const JsonPlace& element, std::string_view member) {
                            member == "nodes" ? reader.TakeNode(element) : reader.TakeEdge(element);
                          }};
  const JsonValue value = ParseJson(text, stream);
  const JsonPlace root(value);
  static_cast<void>(root.Member("nodes").Size());
  static_cast<void>(root.Member("edges").Size());
  reader.Colocate();
  reader.MakeTensors();
  return ComputationGraph(std::move(reader.data));
}

}  // namespace millrace
