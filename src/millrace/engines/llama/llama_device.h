// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/engines/llama/layer_split.h"
#include "millrace/engines/llama/llama_bench.h"
#include "millrace/engines/llama/rpc_probe.h"

// Devices behind RPC servers, which a split's hosts are, and splits in llama.cpp's words. Seconds, bytes.
namespace millrace {

struct LlamaDevice {
  std::string endpoint;  // "10.0.0.2:50052"
  int number = 0;        // among those of its endpoint
  int siblings = 1;      // devices of its endpoint, itself included
  RpcDevice memory;
  double round_trip_seconds = 0;
  double bandwidth = 0;  // bytes per second
};

// "10.0.0.2:50052", with "#1" after it where its endpoint has several.
std::string NameOf(const LlamaDevice& device);

// "10.0.0.2:50052 12, 10.0.0.3:50052 5": who has how many parts.
std::string NameOf(const LayerSplit& split, const std::vector<LlamaDevice>& devices);

// What makes llama.cpp use this split: only the endpoints it needs, in its order.
LlamaDevices WordsFor(const LayerSplit& split, const std::vector<LlamaDevice>& devices);

// What leaves everything to llama.cpp, with all endpoints at hand.
LlamaDevices DefaultWords(const std::vector<LlamaDevice>& devices);

// The split that llama.cpp says it has made, "RPC0" being the first device of the words' first endpoint. Nothing where
// the log said nothing, or something else than a split of `parts` parts over these devices.
std::optional<LayerSplit> SplitIn(const LlamaBenchAnswer& answer, const LlamaDevices& words,
                                  const std::vector<LlamaDevice>& devices, int parts);

}  // namespace millrace
