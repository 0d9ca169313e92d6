// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Asking a llama.cpp RPC server what it has and how far away it is, before anything is planned. Seconds, bytes.
//
// The protocol has no authentication and no protection: who reaches the port may use the machine. It belongs on
// loopback or a private network.
namespace millrace {

struct RpcEndpoint {
  std::string text;  // "HOST:PORT", as llama.cpp takes it
  std::string host;
  std::string port;
};

// Throws InvalidInput: no colon, no port, an address with more colons, which llama.cpp does not take.
RpcEndpoint ParseRpcEndpoint(std::string_view text);

struct RpcDevice {
  double free_bytes = 0;
  double total_bytes = 0;
};

struct RpcProbe {
  std::string version;             // of its protocol, "7.0.0"
  std::vector<RpcDevice> devices;  // at least one
  double round_trip_seconds = 0;   // the median of several short questions
  double bandwidth = 0;            // bytes per second, there and back, of a tensor of `bytes`
};

struct RpcProbeLimits {
  double seconds = 10;           // for each answer
  std::size_t bytes = 4U << 20;  // sent there and back for the bandwidth
  int questions = 15;
};

// Speaks protocol 7 (ggml's src/ggml-rpc/ggml-rpc.cpp, llama.cpp of 2026). Leaves nothing behind: buffers go with the
// connection. Throws MeasurementFailed, one line that names the host: no such host, nobody listens, no answer in time,
// the connection breaks off, another protocol. Throws Interrupted.
RpcProbe ProbeRpc(const RpcEndpoint& endpoint, const RpcProbeLimits& limits = {});

}  // namespace millrace
