// SPDX-License-Identifier: Apache-2.0
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "classes.h"
#include "conversions.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/graph_json.h"
#include "millrace/fusion/greedy_fusion.h"
#include "millrace/plan/hash.h"
#include "watched.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace millrace::python {
namespace {

// None, a number for every device, or one for each kind.
using Seconds = std::optional<std::variant<double, std::map<std::string, double>>>;

StatedSeconds Stated(const Seconds& seconds) {
  StatedSeconds stated;
  if (!seconds) return stated;
  if (const double* const everywhere = std::get_if<double>(&*seconds)) {
    stated.everywhere = *everywhere;
    return stated;
  }
  const auto& by_kind = std::get<std::map<std::string, double>>(*seconds);
  if (by_kind.empty()) throw InvalidInput("seconds: a dict needs a device kind; leave it out where nothing is known");
  stated.by_kind.assign(by_kind.begin(), by_kind.end());
  return stated;
}

Seconds Told(const StatedSeconds& stated) {
  if (stated.everywhere) return *stated.everywhere;
  if (stated.by_kind.empty()) return std::nullopt;
  return std::map<std::string, double>(stated.by_kind.begin(), stated.by_kind.end());
}

GraphObject GraphOf(GraphData data) {
  auto loaded = std::make_shared<LoadedGraph>();
  loaded->graph = ComputationGraph(std::move(data));
  return {std::move(loaded)};
}

GraphObject GraphOfJson(const std::string& text) {
  auto loaded = std::make_shared<LoadedGraph>();
  loaded->graph = ParseGraphJson(text);
  return {std::move(loaded)};
}

// A task graph: an op for each time, a tensor for each edge.
GraphObject GraphOfEdges(const std::vector<Seconds>& seconds, const std::vector<std::tuple<OpId, OpId, double>>& edges,
                         std::string name, const std::optional<std::vector<std::string>>& names,
                         const std::optional<std::vector<std::string>>& types) {
  for (const auto* const given : {&names, &types}) {
    if (*given && (*given)->size() != seconds.size())
      throw InvalidInput("names and types: one for each op, or none at all");
  }
  GraphData data;
  data.name = std::move(name);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    Op op;
    op.name = names ? (*names)[i] : "op" + std::to_string(i);
    if (types) op.type = (*types)[i];
    op.seconds = Stated(seconds[i]);
    data.ops.push_back(std::move(op));
  }
  for (const auto& [from, to, bytes] : edges) {
    if (from < 0) throw InvalidInput("edges: there is no op " + std::to_string(from));
    Tensor tensor;
    tensor.name = std::to_string(from) + "-" + std::to_string(to);
    tensor.producer = from;
    tensor.consumers = {to};
    tensor.bytes = bytes;
    data.tensors.push_back(std::move(tensor));
  }
  return GraphOf(std::move(data));
}

GraphObject LoadGraphObject(const py::object& path, const std::map<std::string, std::int64_t>& dimensions) {
  return Watched([path = PathOf(path), dimensions](const Reporter&) {
    return GraphObject{std::make_shared<LoadedGraph>(LoadGraph(path, dimensions))};
  });
}

OpId CheckedOp(const GraphObject& object, OpId op) {
  const int ops = object.graph().num_ops();
  if (op < 0 || op >= ops)
    throw py::index_error("there is no op " + std::to_string(op) + "; the graph has " + std::to_string(ops));
  return op;
}

std::vector<OpId> ListOf(std::span<const OpId> ops) { return {ops.begin(), ops.end()}; }

std::string PickledGraph(const GraphObject& object) {
  if (object.loaded->model) {
    throw py::type_error(
        "a graph that was loaded with its model cannot be pickled; load it there, or pickle "
        "Graph.from_json(g.to_json())");
  }
  return GraphJson(object.graph());
}

void AddParts(py::module_& module) {
  py::class_<Op>(module, "Op",
                 "One op and what it costs. seconds: a number for every device, or a dict by device kind.")
      .def(py::init([](std::string name, std::string type, double flops, double weight_bytes,
                       std::optional<double> bytes_accessed, const Seconds& seconds, std::string colocate,
                       std::optional<int> layer) {
             return Op{std::move(name), std::move(type),     flops, weight_bytes, bytes_accessed,
                       Stated(seconds), std::move(colocate), layer};
           }),
           "name"_a, "type"_a = "", py::kw_only(), "flops"_a = 0.0, "weight_bytes"_a = 0.0,
           "bytes_accessed"_a = py::none(), "seconds"_a = py::none(), "colocate"_a = "", "layer"_a = py::none())
      .def_readonly("name", &Op::name)
      .def_readonly("type", &Op::type, "ONNX's name of the operator where there is one; decides what may be fused.")
      .def_readonly("flops", &Op::flops)
      .def_readonly("weight_bytes", &Op::weight_bytes)
      .def_readonly("bytes_accessed", &Op::bytes_accessed)
      .def_property_readonly("seconds", [](const Op& op) { return Told(op.seconds); })
      .def_readonly("colocate", &Op::colocate, "Ops with equal non-empty strings share a device.")
      .def_readonly("layer", &Op::layer)
      .def(py::self == py::self)
      .def("__repr__",
           [](const Op& op) { return py::str("<millrace.Op {!r} of type {!r}>").format(op.name, op.type); });
  py::class_<Tensor>(module, "Tensor", "What one op makes and others read.")
      .def(py::init([](std::string name, OpId producer, std::vector<OpId> consumers, double bytes, bool output) {
             return Tensor{std::move(name), producer, std::move(consumers), bytes, output};
           }),
           "name"_a, "producer"_a, "consumers"_a, "bytes"_a, py::kw_only(), "output"_a = false)
      .def_readonly("name", &Tensor::name)
      .def_readonly("producer", &Tensor::producer, "Op that makes it; -1: an input of the graph.")
      .def_readonly("consumers", &Tensor::consumers, "Ops that read it, ascending.")
      .def_readonly("bytes", &Tensor::bytes, "0: a control dependency.")
      .def_readonly("output", &Tensor::output, "Is it a result of the graph?")
      .def(py::self == py::self)
      .def("__repr__", [](const Tensor& tensor) {
        return py::str("<millrace.Tensor {!r} of {} bytes>").format(tensor.name, tensor.bytes);
      });
  py::class_<GroupTime>(module, "GroupTime", "A time stated for a whole fused group.")
      .def(py::init([](std::vector<OpId> ops, const Seconds& seconds) {
             return GroupTime{std::move(ops), Stated(seconds)};
           }),
           "ops"_a, "seconds"_a)
      .def_readonly("ops", &GroupTime::ops)
      .def_property_readonly("seconds", [](const GroupTime& time) { return Told(time.seconds); })
      .def(py::self == py::self);
}

}  // namespace

void AddGraphs(py::module_& module) {
  AddParts(module);
  py::class_<GraphObject>(
      module, "Graph",
      "Ops joined by tensors, as the format millrace.graph has it; an op is its place in the list. "
      "Immutable. Raises InvalidInput for unknown ops, cycles, and costs that are negative or not finite.")
      .def(py::init([](std::string name, std::vector<Op> ops, std::vector<Tensor> tensors,
                       std::vector<GroupTime> group_seconds) {
             return GraphOf({std::move(name), std::move(ops), std::move(tensors), std::move(group_seconds)});
           }),
           "name"_a, "ops"_a, "tensors"_a, "group_seconds"_a = std::vector<GroupTime>())
      .def_static("from_edges", &GraphOfEdges, "seconds"_a, "edges"_a, py::kw_only(), "name"_a = "graph",
                  "names"_a = py::none(), "types"_a = py::none(),
                  "A task graph: `seconds` has a number, a dict by device kind or None for each op, `edges` triples "
                  "(op, op that reads what it makes, bytes).")
      .def_property_readonly("name", [](const GraphObject& o) { return o.graph().name(); })
      .def_property_readonly("num_ops", [](const GraphObject& o) { return o.graph().num_ops(); })
      .def_property_readonly("num_tensors", [](const GraphObject& o) { return o.graph().num_tensors(); })
      .def_property_readonly(
          "ops", [](const GraphObject& o) { return o.graph().ops(); }, "A new list of all ops.")
      .def_property_readonly(
          "tensors", [](const GraphObject& o) { return o.graph().tensors(); }, "A new list of all tensors.")
      .def_property_readonly("group_seconds", [](const GraphObject& o) { return o.graph().group_seconds(); })
      .def_property_readonly(
          "executable", [](const GraphObject& o) { return o.loaded->model.has_value(); },
          "Was it loaded with a model that can be run (ONNX)?")
      .def_property_readonly(
          "warnings", [](const GraphObject& o) { return o.loaded->warnings; }, "What loading it had to say.")
      .def_property_readonly(
          "hash", [](const GraphObject& o) { return GraphHash(o.graph()); },
          "What ties plans to it: 16 hexadecimal digits, of all but names and costs.")
      .def(
          "op", [](const GraphObject& o, OpId op) { return o.graph().op(CheckedOp(o, op)); }, "op"_a)
      .def(
          "predecessors",
          [](const GraphObject& o, OpId op) { return ListOf(o.graph().Predecessors(CheckedOp(o, op))); }, "op"_a,
          "Ops whose tensors it reads, ascending.")
      .def(
          "successors", [](const GraphObject& o, OpId op) { return ListOf(o.graph().Successors(CheckedOp(o, op))); },
          "op"_a, "Ops that read its tensors, ascending.")
      .def(
          "topological_order", [](const GraphObject& o) { return ListOf(o.graph().topological_order()); },
          "All ops, each after those it reads: the smallest ready one first.")
      .def(
          "greedy_fusion", [](const GraphObject& o) { return GreedyFusion(o.graph()); },
          "Groups of ops that a fixed rule fuses: every elementwise or normalisation op joins a producer where it may.")
      .def(
          "to_json", [](const GraphObject& o) { return GraphJson(o.graph()); }, "The text of a graph file.")
      .def_static("from_json", &GraphOfJson, "text"_a, "Of the text of a graph file. Raises InvalidInput.")
      .def(
          "to_dict", [](const GraphObject& o) { return ObjectOfJson(GraphJson(o.graph())); },
          "What json.loads makes of a graph file.")
      .def_static(
          "from_dict", [](const py::dict& object) { return GraphOfJson(JsonOfObject(object)); }, "object"_a,
          "Of what json.loads makes of a graph file. Raises InvalidInput.")
      .def(
          "save",
          [](const GraphObject& o, const py::object& path) { WriteFileAtomically(PathOf(path), GraphJson(o.graph())); },
          "path"_a, "Writes a graph file, whole or not at all. Raises WorkFailed.")
      .def(
          "__eq__",
          [](const GraphObject& a, const GraphObject& b) { return GraphJson(a.graph()) == GraphJson(b.graph()); },
          py::is_operator())
      .def("__len__", [](const GraphObject& o) { return o.graph().num_ops(); })
      .def("__repr__",
           [](const GraphObject& o) {
             return py::str("<millrace.Graph {!r} of {} ops>").format(o.graph().name(), o.graph().num_ops());
           })
      .def(py::pickle(&PickledGraph, &GraphOfJson));
  module.def("load_graph", &LoadGraphObject, "path"_a, "dimensions"_a, "The graph of a file.");
}

}  // namespace millrace::python
