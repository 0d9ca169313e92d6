// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/machine_json.h"

#include "millrace/errors/errors.h"
#include "millrace/formats/atomic_file.h"
#include "millrace/formats/json_value.h"
#include "millrace/formats/json_write.h"
#include "millrace/formats/machine_members.h"
#include "millrace/machine/preset.h"

namespace millrace {
namespace {

constexpr std::string_view kMachineFormat = "millrace.machine";

Device DeviceAt(const JsonPlace& place) {
  Device device;
  device.name = place.Member("name").Text();
  device.kind = place.Member("kind").Text();
  device.units = place.Member("units").Integers();
  device.flops_per_second = place.Member("flops_per_second").Rate();
  device.memory_bandwidth = place.Member("memory_bandwidth").Rate();
  if (const auto bytes = place.Optional("memory_bytes")) device.memory_bytes = bytes->Cost();
  device.launch_seconds = place.Member("launch_seconds").Cost();
  return device;
}

Link LinkAt(const JsonPlace& place, std::size_t devices) {
  const auto end_at = [devices](const JsonPlace& end) {
    const std::int32_t device = end.Integer();
    if (device < 0 || static_cast<std::size_t>(device) >= devices) {
      end.Refuse("there is no device " + std::to_string(device) + "; the machine has " + std::to_string(devices) +
                 ", numbered from 0");
    }
    return device;
  };
  Link link;
  link.from = end_at(place.Member("from"));
  link.to = end_at(place.Member("to"));
  link.latency_seconds = place.Member("latency_seconds").Cost();
  link.bandwidth = place.Member("bandwidth").Rate();
  if (const auto channel = place.Optional("channel")) link.channel = channel->Integer();
  if (const auto channel = place.Optional("entry_channel")) link.entry_channel = channel->Integer();
  return link;
}

void AppendDevice(std::string& out, const Device& device) {
  out += '{';
  AppendJsonMember(out, "name", device.name);
  AppendJsonMember(out, "kind", device.kind);
  AppendJsonMember(out, "units", device.units);
  AppendJsonMember(out, "flops_per_second", device.flops_per_second);
  AppendJsonMember(out, "memory_bandwidth", device.memory_bandwidth);
  if (device.memory_bytes) AppendJsonMember(out, "memory_bytes", *device.memory_bytes);
  AppendJsonMember(out, "launch_seconds", device.launch_seconds);
  out += '}';
}

void AppendLink(std::string& out, const Link& link) {
  out += '{';
  AppendJsonMember(out, "from", link.from);
  AppendJsonMember(out, "to", link.to);
  AppendJsonMember(out, "latency_seconds", link.latency_seconds);
  AppendJsonMember(out, "bandwidth", link.bandwidth);
  if (link.channel) AppendJsonMember(out, "channel", *link.channel);
  if (link.entry_channel) AppendJsonMember(out, "entry_channel", *link.entry_channel);
  out += '}';
}

}  // namespace

Machine MachineAt(const JsonPlace& place) {
  CheckFormat(place, kMachineFormat);
  Machine machine;
  machine.name = place.Member("name").Text();
  const JsonPlace devices = place.Member("devices");
  for (std::size_t i = 0; i < devices.Size(); ++i) machine.devices.push_back(DeviceAt(devices.Element(i)));
  const JsonPlace links = place.Member("links");
  for (std::size_t i = 0; i < links.Size(); ++i) {
    machine.links.push_back(LinkAt(links.Element(i), machine.devices.size()));
  }
  if (const auto link = place.Optional("default_link")) {
    machine.default_link = DefaultLink{link->Member("latency_seconds").Cost(), link->Member("bandwidth").Rate()};
  }
  if (const auto sharing = place.Optional("sharing")) {
    const std::optional<Sharing> named = SharingNamed(sharing->Text());
    if (!named) sharing->Refuse("'" + sharing->Text() + "' is neither 'one-at-a-time' nor 'fair'");
    machine.sharing = *named;
  }
  try {
    CheckMachine(machine);
  } catch (const InvalidInput& error) {
    place.Refuse(error.what());
  }
  return machine;
}

void AppendMachine(std::string& out, const Machine& machine) {
  out += "{\"format\":\"millrace.machine\",\"version\":1";
  AppendJsonMember(out, "name", machine.name);
  out += ",\n";
  AppendJsonName(out, "devices");
  AppendJsonLines(out, machine.devices, AppendDevice);
  out += ",\n";
  AppendJsonName(out, "links");
  AppendJsonLines(out, machine.links, AppendLink);
  if (machine.default_link) {
    out += ",\n\"default_link\":{";
    AppendJsonMember(out, "latency_seconds", machine.default_link->latency_seconds);
    AppendJsonMember(out, "bandwidth", machine.default_link->bandwidth);
    out += '}';
  }
  if (machine.sharing != Sharing::kOneAtATime) AppendJsonMember(out, "sharing", NameOf(machine.sharing));
  out += '}';
}

Machine ParseMachineJson(std::string_view text) {
  const JsonValue value = ParseJson(text);
  return MachineAt(JsonPlace(value));
}

std::string MachineJson(const Machine& machine) {
  std::string out;
  AppendMachine(out, machine);
  out += '\n';
  return out;
}

Machine LoadMachine(const std::string& words) {
  if (std::optional<Machine> preset = MachinePreset(words)) return *std::move(preset);
  std::string text;
  try {
    text = ReadWholeFile(words);
  } catch (const InvalidInput& error) {
    throw InvalidInput(std::string(error.what()) +
                       "; a machine is a file, or one of: this, homogeneous:P, p100x2, p100x4, p100x8, cpu-gpu");
  }
  try {
    return ParseMachineJson(text);
  } catch (const InvalidInput& error) {
    throw error.InFile(words);
  }
}

}  // namespace millrace
