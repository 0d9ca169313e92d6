// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/machine.h"

#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>

#include "classes.h"
#include "conversions.h"
#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/machine_json.h"
#include "millrace/machine/preset.h"
#include "millrace/plan/hash.h"
#include "watched.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace millrace::python {
namespace {

std::shared_ptr<Machine> MakeMachine(std::string name, std::vector<Device> devices, std::vector<Link> links,
                                     const std::optional<DefaultLink>& default_link, const std::string& sharing) {
  Machine machine{std::move(name), std::move(devices), std::move(links), default_link};
  const std::optional<Sharing> named = SharingNamed(sharing);
  if (!named) throw InvalidInput("sharing: '" + sharing + "' is neither 'one-at-a-time' nor 'fair'");
  machine.sharing = *named;
  CheckMachine(machine);
  return std::make_shared<Machine>(std::move(machine));
}

std::shared_ptr<Machine> MachineOfJson(const std::string& text) {
  return std::make_shared<Machine>(ParseMachineJson(text));
}

void AddDevice(py::module_& module) {
  py::class_<Device>(module, "Device", "What runs one fusion group at a time. It owns its units while it does.")
      .def(py::init([](std::string name, std::string kind, std::vector<int> units, double flops_per_second,
                       double memory_bandwidth, std::optional<double> memory_bytes, double launch_seconds) {
             return Device{std::move(name),  std::move(kind), std::move(units), flops_per_second,
                           memory_bandwidth, memory_bytes,    launch_seconds};
           }),
           "name"_a, "kind"_a, "units"_a, py::kw_only(), "flops_per_second"_a, "memory_bandwidth"_a,
           "memory_bytes"_a = py::none(), "launch_seconds"_a = 0.0)
      .def_readonly("name", &Device::name)
      .def_readonly("kind", &Device::kind, "Devices of one kind take equally long for the same op.")
      .def_readonly("units", &Device::units, "Ids of cores, GPUs, ...; devices that share one exclude each other.")
      .def_readonly("flops_per_second", &Device::flops_per_second)
      .def_readonly("memory_bandwidth", &Device::memory_bandwidth, "Bytes per second.")
      .def_readonly("memory_bytes", &Device::memory_bytes, "Capacity; None: unlimited.")
      .def_readonly("launch_seconds", &Device::launch_seconds, "Paid once per group.")
      .def(py::self == py::self)
      .def("__repr__", [](const Device& device) {
        return py::str("<millrace.Device {!r} of kind {!r}>").format(device.name, device.kind);
      });
}

void AddLinks(py::module_& module) {
  py::class_<Link>(module, "Link", "Directed: b bytes take latency_seconds + b / bandwidth.")
      .def(py::init([](int from, int to, double latency_seconds, double bandwidth, std::optional<int> channel,
                       std::optional<int> entry_channel) {
             return Link{from, to, latency_seconds, bandwidth, channel, entry_channel};
           }),
           "from_"_a, "to"_a, py::kw_only(), "latency_seconds"_a = 0.0, "bandwidth"_a = kUnlimitedBandwidth,
           "channel"_a = py::none(), "entry_channel"_a = py::none())
      .def_readonly("from_", &Link::from, "Device it leads from.")
      .def_readonly("to", &Link::to, "Device it leads to.")
      .def_readonly("latency_seconds", &Link::latency_seconds)
      .def_readonly("bandwidth", &Link::bandwidth, "Bytes per second.")
      .def_readonly("channel", &Link::channel, "Links of one channel share one bus under contention.")
      .def_readonly("entry_channel", &Link::entry_channel, "The bus that the link ends in.")
      .def(py::self == py::self)
      .def("__repr__",
           [](const Link& link) { return py::str("<millrace.Link from {} to {}>").format(link.from, link.to); });
  py::class_<DefaultLink>(module, "DefaultLink", "The link between every two devices that have none of their own.")
      .def(py::init([](double latency_seconds, double bandwidth) {
             return DefaultLink{latency_seconds, bandwidth};
           }),
           py::kw_only(), "latency_seconds"_a = 0.0, "bandwidth"_a = kUnlimitedBandwidth)
      .def_readonly("latency_seconds", &DefaultLink::latency_seconds)
      .def_readonly("bandwidth", &DefaultLink::bandwidth, "Bytes per second.")
      .def(py::self == py::self);
}

}  // namespace

void AddMachines(py::module_& module) {
  AddDevice(module);
  AddLinks(module);
  py::class_<Machine, std::shared_ptr<Machine>>(
      module, "Machine",
      "Devices joined by links, as the format millrace.machine has it. Immutable. Raises InvalidInput for rates that "
      "are not above 0, costs below 0, links to nowhere or given twice.")
      .def(py::init(&MakeMachine), "name"_a, "devices"_a, "links"_a = std::vector<Link>(),
           "default_link"_a = py::none(), "sharing"_a = std::string(NameOf(Sharing::kOneAtATime)))
      .def_readonly("name", &Machine::name)
      .def_readonly("devices", &Machine::devices)
      .def_readonly("links", &Machine::links)
      .def_readonly("default_link", &Machine::default_link, "None: pairs without a link transfer for free.")
      .def_property_readonly(
          "sharing", [](const Machine& machine) { return NameOf(machine.sharing); },
          "How transfers share a channel under contention: 'one-at-a-time' or 'fair'.")
      .def_property_readonly("hash", &MachineHash, "Of all but names: 16 hexadecimal digits.")
      .def("to_json", &MachineJson, "The text of a machine file.")
      .def_static("from_json", &MachineOfJson, "text"_a, "Of the text of a machine file. Raises InvalidInput.")
      .def(
          "to_dict", [](const Machine& machine) { return ObjectOfJson(MachineJson(machine)); },
          "What json.loads makes of a machine file.")
      .def_static(
          "from_dict", [](const py::dict& object) { return MachineOfJson(JsonOfObject(object)); }, "object"_a,
          "Of what json.loads makes of a machine file. Raises InvalidInput.")
      .def(
          "save",
          [](const Machine& machine, const py::object& path) {
            WriteFileAtomically(PathOf(path), MachineJson(machine));
          },
          "path"_a, "Writes a machine file, whole or not at all. Raises WorkFailed.")
      .def(py::self == py::self)
      .def("__repr__",
           [](const Machine& machine) {
             return py::str("<millrace.Machine {!r} of {} devices>").format(machine.name, machine.devices.size());
           })
      .def(py::pickle([](const Machine& machine) { return MachineJson(machine); }, &MachineOfJson));
  module.def(
      "load_machine",
      [](const std::string& words) {
        return std::make_shared<Machine>(Watched([words](const Reporter&) { return LoadMachine(words); }));
      },
      "words"_a, "The preset of this name, else the machine of this file.");
  module.def("presets", &MachinePresetNames, "One line for each preset that is taken wherever a machine is.");
}

}  // namespace millrace::python
