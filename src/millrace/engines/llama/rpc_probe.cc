// SPDX-License-Identifier: Apache-2.0
#include "millrace/engines/llama/rpc_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "millrace/errors/errors.h"
#include "millrace/errors/interrupt.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"
#include "millrace/planning/deadline.h"
#include "millrace/target/statistics.h"
#include "millrace/target/target.h"

namespace millrace {
namespace {

constexpr int kProtocol = 7;
enum class RpcCommand : std::uint8_t {
  kAllocBuffer = 0,
  kBufferGetBase = 3,
  kSetTensor = 6,
  kGetTensor = 8,
  kGetDeviceMemory = 11,
  kHello = 14,
  kDeviceCount = 15,
};
constexpr std::uint32_t kByteTensor = 24;  // ggml's type I8
constexpr std::uint32_t kMostDevices = 64;

// Little-endian bytes of a message.
class Message {
 public:
  template <typename Number>
  Message& Add(Number number) {
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
    return *this;
  }
  Message& Zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::uint64_t NumberAt(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = (number << 8) | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// A flat tensor of bytes that fills its buffer: ggml's struct rpc_tensor.
Message ByteTensor(std::uint64_t buffer, std::uint64_t base, std::uint32_t size) {
  Message tensor;
  tensor.Add(std::uint64_t{1}).Add(kByteTensor).Add(buffer);
  tensor.Add(size).Add(std::uint32_t{1}).Add(std::uint32_t{1}).Add(std::uint32_t{1});  // extents
  tensor.Add(std::uint32_t{1}).Add(size).Add(size).Add(size);                          // strides
  tensor.Zeros(4 + 64 + 4 + 10 * 8 + 8 + 8);  // operation, its parameters, flags, sources, view
  tensor.Add(base).Zeros(64 + 4);             // name, uses
  return tensor;
}

class RpcConnection {
 public:
  RpcConnection(const RpcEndpoint& endpoint, double seconds) : endpoint_(endpoint), seconds_(seconds) { Connect(); }
  RpcConnection(const RpcConnection&) = delete;
  RpcConnection& operator=(const RpcConnection&) = delete;
  ~RpcConnection() {
    if (socket_ >= 0) close(socket_);
  }

  void Send(RpcCommand command, const std::string& body) {
    Message head;
    head.Add(static_cast<std::uint8_t>(command)).Add(std::uint64_t{body.size()});
    const Deadline deadline(seconds_);
    Write(head.bytes(), deadline);
    Write(body, deadline);
  }

  std::string Answer(std::size_t bytes) {
    const Deadline deadline(seconds_);
    const std::string head = Read(8, deadline);
    if (NumberAt(head, 0, 8) != bytes) Fail("answers what no llama.cpp RPC server of protocol 7 answers");
    return Read(bytes, deadline);
  }

  std::string Ask(RpcCommand command, const std::string& body, std::size_t bytes) {
    Send(command, body);
    return Answer(bytes);
  }

  [[noreturn]] void Fail(const std::string& problem) const {
    throw MeasurementFailed(fmt::format("host {}: {}", Shown(endpoint_.text), problem));
  }

 private:
  void Connect() {
    addrinfo hints{};
    hints.ai_family = AF_INET;  // as llama.cpp
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(endpoint_.host.c_str(), endpoint_.port.c_str(), &hints, &found);
    if (error != 0 || found == nullptr) Fail(fmt::format("its name is not known ({})", gai_strerror(error)));
    socket_ = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);
    const int started = socket_ < 0 ? -1 : connect(socket_, found->ai_addr, found->ai_addrlen);
    const int reason = errno;
    freeaddrinfo(found);
    if (socket_ < 0 || (started != 0 && reason != EINPROGRESS && reason != EINTR)) Refused(reason);
    Wait(POLLOUT, Deadline(seconds_), "nobody answers there");
    int problem = 0;
    socklen_t size = sizeof problem;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem != 0) Refused(problem);
    const int now = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  }

  [[noreturn]] void Refused(int error) const {
    Fail(fmt::format("cannot be reached ({}); start its RPC server, or leave it out of --hosts", std::strerror(error)));
  }

  void Wait(short events, const Deadline& deadline, const char* otherwise) const {
    while (true) {
      StopIfInterrupted();
      if (deadline.Passed()) Fail(fmt::format("{} within {:g} seconds", otherwise, seconds_));
      constexpr double kLook = 0.1;
      pollfd watched{socket_, events, 0};
      if (poll(&watched, 1, static_cast<int>(1e3 * std::min(kLook, deadline.Left())) + 1) > 0) return;
    }
  }

  void Write(const std::string& bytes, const Deadline& deadline) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count > 0) sent += static_cast<std::size_t>(count);
      if (count < 0 && errno != EAGAIN && errno != EINTR) BrokenOff();
      if (count < 0) Wait(POLLOUT, deadline, "takes no data");
    }
  }

  std::string Read(std::size_t bytes, const Deadline& deadline) {
    std::string read(bytes, '\0');
    std::size_t taken = 0;
    while (taken < bytes) {
      const ssize_t count = recv(socket_, read.data() + taken, bytes - taken, 0);
      if (count > 0) taken += static_cast<std::size_t>(count);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) BrokenOff();
      if (count < 0) Wait(POLLIN, deadline, "takes connections but says nothing (is another client using it?)");
    }
    return read;
  }

  [[noreturn]] void BrokenOff() const { Fail("breaks the connection off; is it a llama.cpp RPC server of this year?"); }

  const RpcEndpoint& endpoint_;
  double seconds_;
  int socket_ = -1;
};

double MeasureBandwidth(RpcConnection& connection, std::size_t bytes) {
  Message request;
  request.Add(std::uint32_t{0}).Add(std::uint64_t{bytes});
  const std::string allocated = connection.Ask(RpcCommand::kAllocBuffer, request.bytes(), 16);
  const std::uint64_t buffer = NumberAt(allocated, 0, 8);
  if (buffer == 0) connection.Fail(fmt::format("has no {} bytes of memory to spare", bytes));
  const std::string base = connection.Ask(RpcCommand::kBufferGetBase, Message().Add(buffer).bytes(), 8);
  const Message tensor = ByteTensor(buffer, NumberAt(base, 0, 8), static_cast<std::uint32_t>(bytes));
  std::string content = tensor.bytes() + Message().Zeros(1 + 8).bytes();
  content.append(bytes, 'm');
  const std::string question = tensor.bytes() + Message().Add(std::uint64_t{0}).Add(std::uint64_t{bytes}).bytes();
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const Deadline clock;
    connection.Send(RpcCommand::kSetTensor, content);
    connection.Ask(RpcCommand::kGetTensor, question, bytes);
    best = std::max(best, 2 * static_cast<double>(bytes) / clock.Elapsed());
  }
  return best;
}

}  // namespace

RpcEndpoint ParseRpcEndpoint(std::string_view text) {
  const std::size_t colon = text.find(':');
  RpcEndpoint endpoint;
  endpoint.text = text;
  endpoint.host = text.substr(0, colon);
  const std::optional<int> port = colon == std::string_view::npos ? std::nullopt : IdIn(text.substr(colon + 1));
  if (endpoint.host.empty() || !port || *port < 1 || *port > 65535)
    throw InvalidInput(fmt::format("--hosts: '{}' is not HOST:PORT with a port from 1 to 65535", Shown(text)));
  endpoint.port = std::to_string(*port);
  return endpoint;
}

RpcProbe ProbeRpc(const RpcEndpoint& endpoint, const RpcProbeLimits& limits) {
  RpcConnection connection(endpoint, limits.seconds);
  constexpr std::size_t kCapabilities = 24;
  const std::string hello = connection.Ask(RpcCommand::kHello, std::string(kCapabilities, '\0'), 4 + kCapabilities);
  RpcProbe probe;
  const auto part = [&hello](std::size_t at) { return NumberAt(hello, at, 1); };
  probe.version = fmt::format("{}.{}.{}", part(0), part(1), part(2));
  if (part(0) != kProtocol)
    connection.Fail(fmt::format("speaks protocol {}; this program knows {}.x", probe.version, kProtocol));
  const auto devices = static_cast<std::uint32_t>(NumberAt(connection.Ask(RpcCommand::kDeviceCount, "", 4), 0, 4));
  if (devices == 0 || devices > kMostDevices) connection.Fail(fmt::format("says it has {} devices", devices));
  for (std::uint32_t device = 0; device < devices; ++device) {
    const std::string memory = connection.Ask(RpcCommand::kGetDeviceMemory, Message().Add(device).bytes(), 16);
    probe.devices.push_back({static_cast<double>(NumberAt(memory, 0, 8)), static_cast<double>(NumberAt(memory, 8, 8))});
  }
  std::vector<double> times;
  for (int i = 0; i < limits.questions; ++i) {
    const Deadline clock;
    connection.Ask(RpcCommand::kGetDeviceMemory, Message().Add(std::uint32_t{0}).bytes(), 16);
    times.push_back(clock.Elapsed());
  }
  probe.round_trip_seconds = Median(times);
  probe.bandwidth = MeasureBandwidth(connection, limits.bytes);
  return probe;
}

}  // namespace millrace
