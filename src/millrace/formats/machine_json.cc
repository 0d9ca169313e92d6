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

constexpr std::string_view kFormat = "millrace.machine";

// What CheckMachine asks of every number is asked here too, where the member's place can still be told.
double CostAt(const JsonPlace& place) {
  const double cost = place.Number();
  if (cost < 0) place.Refuse("is negative; it must be >= 0");
  return cost;
}

double RateAt(const JsonPlace& place) {
  const double rate = place.Number();
  if (rate <= 0) place.Refuse("must be > 0");
  return rate;
}

Device DeviceAt(const JsonPlace& place) {
  Device device;
  device.name = place.Member("name").Text();
  device.kind = place.Member("kind").Text();
  device.units = place.Member("units").Integers();
  device.flops_per_second = RateAt(place.Member("flops_per_second"));
  device.memory_bandwidth = RateAt(place.Member("memory_bandwidth"));
  if (const auto bytes = place.Optional("memory_bytes")) device.memory_bytes = CostAt(*bytes);
  device.launch_seconds = CostAt(place.Member("launch_seconds"));
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
  link.latency_seconds = CostAt(place.Member("latency_seconds"));
  link.bandwidth = RateAt(place.Member("bandwidth"));
  if (const auto channel = place.Optional("channel")) link.channel = channel->Integer();
  return link;
}

void AppendDevice(std::string& out, const Device& device) {
  out += "{\"name\":";
  AppendJsonText(out, device.name);
  out += ",\"kind\":";
  AppendJsonText(out, device.kind);
  out += ",\"units\":";
  AppendJsonIntegers(out, device.units);
  out += ",\"flops_per_second\":";
  AppendJsonNumber(out, device.flops_per_second);
  out += ",\"memory_bandwidth\":";
  AppendJsonNumber(out, device.memory_bandwidth);
  if (device.memory_bytes) {
    out += ",\"memory_bytes\":";
    AppendJsonNumber(out, *device.memory_bytes);
  }
  out += ",\"launch_seconds\":";
  AppendJsonNumber(out, device.launch_seconds);
  out += '}';
}

void AppendTransfer(std::string& out, double latency_seconds, double bandwidth) {
  out += "\"latency_seconds\":";
  AppendJsonNumber(out, latency_seconds);
  out += ",\"bandwidth\":";
  AppendJsonNumber(out, bandwidth);
}

}  // namespace

Machine MachineAt(const JsonPlace& place) {
  CheckFormat(place, kFormat);
  Machine machine;
  machine.name = place.Member("name").Text();
  const JsonPlace devices = place.Member("devices");
  for (std::size_t i = 0; i < devices.Size(); ++i) machine.devices.push_back(DeviceAt(devices.Element(i)));
  const JsonPlace links = place.Member("links");
  for (std::size_t i = 0; i < links.Size(); ++i) {
    machine.links.push_back(LinkAt(links.Element(i), machine.devices.size()));
  }
  if (const auto link = place.Optional("default_link")) {
    machine.default_link = DefaultLink{CostAt(link->Member("latency_seconds")), RateAt(link->Member("bandwidth"))};
  }
  try {
    CheckMachine(machine);
  } catch (const InvalidInput& error) {
    place.Refuse(error.what());
  }
  return machine;
}

void AppendMachine(std::string& out, const Machine& machine) {
  out += "{\"format\":\"millrace.machine\",\"version\":1,\"name\":";
  AppendJsonText(out, machine.name);
  out += ",\n\"devices\":[";
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    AppendDevice(out, machine.devices[i]);
  }
  out += "],\n\"links\":[";
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& link = machine.links[i];
    out += i == 0 ? "\n" : ",\n";
    out += "{\"from\":" + std::to_string(link.from) + ",\"to\":" + std::to_string(link.to) + ",";
    AppendTransfer(out, link.latency_seconds, link.bandwidth);
    if (link.channel) out += ",\"channel\":" + std::to_string(*link.channel);
    out += '}';
  }
  out += ']';
  if (machine.default_link) {
    out += ",\n\"default_link\":{";
    AppendTransfer(out, machine.default_link->latency_seconds, machine.default_link->bandwidth);
    out += '}';
  }
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
