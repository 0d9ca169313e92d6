// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/llama_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "millrace/engines/llama/tensor_split.h"

namespace millrace {
namespace {

// llama.cpp's numbers of devices: those of the first endpoint, then those of the next.
std::vector<int> DevicesInOrder(const LlamaDevices& words, const std::vector<LlamaDevice>& devices) {
  std::vector<int> order;
  for (const std::string& host : words.hosts) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].endpoint == host) order.push_back(static_cast<int>(i));
    }
  }
  return order;
}

}  // namespace

std::string NameOf(const LlamaDevice& device) {
  return device.siblings == 1 ? device.endpoint : fmt::format("{}#{}", device.endpoint, device.number);
}

std::string NameOf(const LayerSplit& split, const std::vector<LlamaDevice>& devices) {
  std::string name;
  for (const SplitStage& stage : split) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", NameOf(devices[static_cast<std::size_t>(stage.host)]),
                        stage.end - stage.begin);
  }
  return name;
}

LlamaDevices WordsFor(const LayerSplit& split, const std::vector<LlamaDevice>& devices) {
  LlamaDevices words;
  std::vector<int> counts;
  for (const SplitStage& stage : split) {
    const std::string& endpoint = devices[static_cast<std::size_t>(stage.host)].endpoint;
    if (std::find(words.hosts.begin(), words.hosts.end(), endpoint) == words.hosts.end())
      words.hosts.push_back(endpoint);
    counts.push_back(stage.end - stage.begin);
  }
  const std::vector<int> order = DevicesInOrder(words, devices);
  for (const SplitStage& stage : split) {
    const auto place = std::find(order.begin(), order.end(), stage.host) - order.begin();
    words.devices.push_back(fmt::format("RPC{}", place));
  }
  if (counts.size() > 1) words.tensor_split = TensorSplitFor(counts);
  return words;
}

LlamaDevices DefaultWords(const std::vector<LlamaDevice>& devices) {
  LlamaDevices words;
  for (const LlamaDevice& device : devices) {
    if (device.number == 0) words.hosts.push_back(device.endpoint);
  }
  return words;
}

std::optional<LayerSplit> SplitIn(const LlamaBenchAnswer& answer, const LlamaDevices& words,
                                  const std::vector<LlamaDevice>& devices, int parts) {
  const std::vector<int> order = DevicesInOrder(words, devices);
  LayerSplit split;
  for (int part = 0; part < parts; ++part) {
    const auto found = answer.device_of_part.find(part);
    if (found == answer.device_of_part.end()) return std::nullopt;
    int host = -1;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (found->second == fmt::format("RPC{}", i)) host = order[i];
    }
    if (host < 0) return std::nullopt;
    if (split.empty() || split.back().host != host) split.push_back({host, part, part});
    ++split.back().end;
  }
  return split;
}

}  // namespace millrace
