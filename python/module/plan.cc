// SPDX-License-Identifier: Apache-2.0
#include "millrace/plan/plan.h"

#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "classes.h"
#include "conversions.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/plan_json.h"
#include "millrace/plan/hash.h"
#include "millrace/plan/verify.h"
#include "watched.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace millrace::python {
namespace {

std::shared_ptr<PlanRecord> MakePlan(FusionGroups groups, std::vector<int> placement, std::vector<int> sequence,
                                     const Machine& machine, std::string method,
                                     const std::optional<std::string>& proxy) {
  auto record = std::make_shared<PlanRecord>();
  record->plan = {std::move(groups), std::move(placement), std::move(sequence)};
  record->machine = machine;
  record->method = std::move(method);
  record->proxy = ProxyOf(proxy).value_or(UsualProxy(machine));
  return record;
}

std::shared_ptr<PlanRecord> PlanOfJson(const std::string& text) {
  return std::make_shared<PlanRecord>(ParsePlanJson(text));
}

// With a graph the plan is checked against it.
std::shared_ptr<PlanRecord> LoadPlanObject(const py::object& path, const std::optional<GraphObject>& graph) {
  return Watched([path = PathOf(path), graph](const Reporter&) {
    if (graph) return std::make_shared<PlanRecord>(LoadPlan(path, graph->graph()));
    const std::string text = ReadWholeFile(path);
    try {
      return std::make_shared<PlanRecord>(ParsePlanJson(text));
    } catch (const InvalidInput& error) {
      throw error.InFile(path);
    }
  });
}

bool SamePlan(const PlanRecord& a, const PlanRecord& b) { return PlanJson(a) == PlanJson(b); }

// Of the graph, on the machine where one is given.
void Verify(const GraphObject& graph, const PlanRecord& record, const std::shared_ptr<Machine>& machine) {
  const py::gil_scoped_release unlocked;
  if (!machine) return VerifyRecord(graph.graph(), record);
  PlanRecord moved = record;
  moved.machine = *machine;
  VerifyRecord(graph.graph(), moved);
}

}  // namespace

void AddPlans(py::module_& module) {
  py::class_<PlanRecord, std::shared_ptr<PlanRecord>>(
      module, "Plan",
      "Which ops run as one, where, and in which order, as the format millrace.plan has it. Immutable. Whether it is "
      "valid for a graph is not asked before verify, simulate or measure.")
      .def(py::init(&MakePlan), "groups"_a, "placement"_a, "sequence"_a, "machine"_a, py::kw_only(),
           "method"_a = "by hand", "proxy"_a = py::none())
      .def_property_readonly(
          "groups", [](const PlanRecord& record) { return record.plan.groups; },
          "A new list: the ops of each group, in execution order.")
      .def_property_readonly(
          "placement", [](const PlanRecord& record) { return ArrayOf(record.plan.placement); },
          "Device of each group: an array of int32, of shape (groups,).")
      .def_property_readonly(
          "sequence", [](const PlanRecord& record) { return ArrayOf(record.plan.sequence); },
          "One order of all groups: an array of int32, of shape (groups,).")
      .def_property_readonly("machine",
                             [](const PlanRecord& record) { return std::make_shared<Machine>(record.machine); })
      .def_readonly("method", &PlanRecord::method)
      .def_readonly("seed", &PlanRecord::seed)
      .def_property_readonly(
          "proxy", [](const PlanRecord& record) { return NameOf(record.proxy); },
          "\"linear\" or \"contended\": the timeline proxy_seconds is of.")
      .def_readonly("proxy_seconds", &PlanRecord::proxy_seconds)
      .def_readonly("target_seconds", &PlanRecord::target_seconds, "Measured; None where it was not.")
      .def_readonly("graph_name", &PlanRecord::graph_name)
      .def_readonly("graph_hash", &PlanRecord::graph_hash,
                    "Graph.hash of the graph it was made for; empty: not stated.")
      .def_property_readonly(
          "hash", [](const PlanRecord& record) { return PlanHash(record.plan); },
          "Of the decisions alone: 16 hexadecimal digits.")
      .def("to_json", &PlanJson, "The text of a plan file.")
      .def_static("from_json", &PlanOfJson, "text"_a, "Of the text of a plan file. Raises InvalidInput.")
      .def(
          "to_dict", [](const PlanRecord& record) { return ObjectOfJson(PlanJson(record)); },
          "What json.loads makes of a plan file.")
      .def_static(
          "from_dict", [](const py::dict& object) { return PlanOfJson(JsonOfObject(object)); }, "object"_a,
          "Of what json.loads makes of a plan file. Raises InvalidInput.")
      .def(
          "save",
          [](const PlanRecord& record, const py::object& path) { WriteFileAtomically(PathOf(path), PlanJson(record)); },
          "path"_a, "Writes a plan file, whole or not at all. Raises WorkFailed.")
      .def("__eq__", &SamePlan, py::is_operator())
      .def("__repr__",
           [](const PlanRecord& record) {
             return py::str("<millrace.Plan of {} groups by {!r}>").format(record.plan.groups.size(), record.method);
           })
      .def(py::pickle(&PlanJson, &PlanOfJson));
  module.def("load_plan", &LoadPlanObject, "path"_a, "graph"_a, "The plan of a file.");
  module.def("verify", &Verify, "graph"_a, "plan"_a, "machine"_a, "Raises InvalidInput where the plan is not valid.");
}

}  // namespace millrace::python
