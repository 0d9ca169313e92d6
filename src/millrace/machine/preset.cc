// SPDX-License-Identifier: Apache-2.0
#include "millrace/machine/preset.h"

#include <charconv>
#include <cmath>

#include "millrace/errors/errors.h"
#include "millrace/machine/detect.h"

namespace millrace {
namespace {

constexpr std::string_view kHomogeneous = "homogeneous";
constexpr int kMostHomogeneous = 1024;

// PCI Express 3.0 x16 (base specification 3.0: 8 GT/s a lane, 128b/130b) moves 15.75e9 bytes/s on the wire; large
// copies reach about 12e9 of it. A copy is started by the driver and takes about 10 microseconds before the first byte
// moves.
constexpr double kPcieBandwidth = 12e9;
constexpr double kPcieLatency = 10e-6;

// Between the two sockets peer copies pass the processors' interconnect (QPI, 9.6 GT/s, 19.2e9 bytes/s each way on the
// wire), where they reach clearly less than under one root, and a little later.
constexpr double kSocketBandwidth = 9e9;
constexpr double kSocketLatency = 13e-6;

// NVIDIA's data sheet "Tesla P100 PCIe GPU accelerator", 2016, 16 GB: 9.3e12 flops/s in single precision, HBM2 at 732e9
// bytes/s. Launching a kernel costs about 5 microseconds.
Device P100(int number, std::string kind, int unit) {
  Device gpu;
  gpu.name = "gpu" + std::to_string(number);
  gpu.kind = std::move(kind);
  gpu.units = {unit};
  gpu.flops_per_second = 9.3e12;
  gpu.memory_bandwidth = 732e9;
  gpu.memory_bytes = 16e9;
  gpu.launch_seconds = 5e-6;
  return gpu;
}

// A dual-socket host. Copies within a socket's half go from switch to switch, each pair on its own; all copies that
// cross the sockets in one direction share the interconnect, channel 0 one way and 1 the other.
Machine P100Host(int gpus) {
  Machine machine;
  machine.name = "p100x" + std::to_string(gpus);
  for (int i = 0; i < gpus; ++i) machine.devices.push_back(P100(i, "p100", i));
  const int on_first_socket = gpus <= 2 ? gpus : gpus / 2;
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      Link link;
      link.from = from;
      link.to = to;
      const bool crosses = (from < on_first_socket) != (to < on_first_socket);
      link.latency_seconds = crosses ? kSocketLatency : kPcieLatency;
      link.bandwidth = crosses ? kSocketBandwidth : kPcieBandwidth;
      if (crosses) link.channel = from < on_first_socket ? 0 : 1;
      machine.links.push_back(link);
    }
  }
  return machine;
}

// A 14-core server processor (2.0 GHz under AVX2 load, 32 flops per cycle and core: 0.9e12 flops/s; four channels of
// DDR4-2400: 76.8e9 bytes/s) beside one P100.
Machine CpuGpu() {
  Machine machine;
  machine.name = "cpu-gpu";
  Device cpu;
  cpu.name = "cpu";
  cpu.kind = "cpu";
  cpu.units = {0};
  cpu.flops_per_second = 0.9e12;
  cpu.memory_bandwidth = 76.8e9;
  cpu.memory_bytes = 128e9;
  cpu.launch_seconds = 1e-6;
  machine.devices = {cpu, P100(0, "gpu", 1)};
  machine.links = {{0, 1, kPcieLatency, kPcieBandwidth, {}}, {1, 0, kPcieLatency, kPcieBandwidth, {}}};
  return machine;
}

[[noreturn]] void Refuse(std::string_view words, const std::string& why) {
  throw InvalidInput("machine '" + std::string(words) + "': " + why +
                     "; write homogeneous:P[,latency=SECONDS][,bandwidth=BYTES_PER_SECOND]");
}

template <typename Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Machine Homogeneous(std::string_view words) {
  std::string_view rest = words.substr(kHomogeneous.size() + 1);
  const auto next = [&rest] {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (comma != std::string_view::npos && rest.empty()) rest = ",";
    return part;
  };
  const std::optional<int> devices = NumberIn<int>(next());
  if (!devices || *devices < 1 || *devices > kMostHomogeneous)
    Refuse(words, "the number of devices must be 1.." + std::to_string(kMostHomogeneous));

  std::optional<double> latency, bandwidth;
  while (!rest.empty()) {
    const std::string_view part = next();
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (equals == std::string_view::npos || (name != "latency" && name != "bandwidth"))
      Refuse(words, "'" + std::string(part) + "' is neither latency=... nor bandwidth=...");
    std::optional<double>& parameter = name == "latency" ? latency : bandwidth;
    if (parameter) Refuse(words, std::string(name) + " is given twice");
    parameter = NumberIn<double>(part.substr(equals + 1));
    const bool sensible =
        parameter && std::isfinite(*parameter) && (name == "latency" ? *parameter >= 0 : *parameter > 0);
    if (!sensible)
      Refuse(words, std::string(name) + " must be a finite number " + (name == "latency" ? ">= 0" : "> 0"));
  }

  Machine machine;
  machine.name = words;
  for (int i = 0; i < *devices; ++i) {
    Device device;
    device.name = "device" + std::to_string(i);
    device.kind = "cpu";
    device.units = {i};
    device.flops_per_second = 1e12;
    device.memory_bandwidth = 1e11;
    machine.devices.push_back(device);
  }
  if (latency || bandwidth)
    machine.default_link = DefaultLink{latency.value_or(0), bandwidth.value_or(kUnlimitedBandwidth)};
  return machine;
}

}  // namespace

std::optional<Machine> MachinePreset(std::string_view words) {
  if (words == "this") return DetectHost();
  if (words == "cpu-gpu") return CpuGpu();
  if (words == "p100x2") return P100Host(2);
  if (words == "p100x4") return P100Host(4);
  if (words == "p100x8") return P100Host(8);
  if (words == kHomogeneous) Refuse(words, "it does not say how many devices");
  if (words.starts_with(kHomogeneous) && words[kHomogeneous.size()] == ':') return Homogeneous(words);
  return std::nullopt;
}

std::vector<std::string> MachinePresetNames() {
  return {"this: the host this program runs on",
          "homogeneous:P[,latency=SECONDS][,bandwidth=BYTES_PER_SECOND]: P equal devices",
          "p100x2, p100x4, p100x8: one host with that many NVIDIA P100 on PCIe",
          "cpu-gpu: a CPU and a GPU joined by PCIe"};
}

}  // namespace millrace
