// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// A program that answers as llama.cpp's RPC server of protocol 7 does, on a port of loopback, or misbehaves. It serves
// one client at a time, as the real one.
namespace millrace::testing {

class RpcStandIn {
 public:
  enum class Manner { kProper, kSilent, kOtherProtocol, kGarbage, kHangsUp };

  struct Settings {
    Manner manner = Manner::kProper;
    std::vector<std::uint64_t> free_bytes = {std::uint64_t{8} << 30};  // of each device
  };

  RpcStandIn() : RpcStandIn(Settings()) {}
  explicit RpcStandIn(Settings settings)
      : settings_(std::move(settings)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 8);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  RpcStandIn(const RpcStandIn&) = delete;
  RpcStandIn& operator=(const RpcStandIn&) = delete;
  ~RpcStandIn() { Stop(); }

  // From now on nobody answers at this port.
  void Stop() {
    if (!thread_.joinable()) return;
    stopped_ = true;
    shutdown(listener_, SHUT_RDWR);
    const int client = client_;
    if (client >= 0) shutdown(client, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  int port() const { return port_; }
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void Serve() {
    while (!stopped_) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      client_ = client;
      Talk(client);
      client_ = -1;
      close(client);
    }
  }

  void Talk(int client) const {
    if (settings_.manner == Manner::kHangsUp) return;
    if (settings_.manner == Manner::kGarbage) {
      Hear(client, 9 + 24);
      Say(client, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
      return;
    }
    std::string memory;  // of the one buffer there may be
    while (true) {
      std::string head = Hear(client, 9);
      if (head.size() < 9) return;
      std::uint64_t length = 0;
      std::memcpy(&length, head.data() + 1, 8);
      if (length > (64U << 20)) return;
      const std::string body = Hear(client, length);
      if (body.size() < length) return;
      if (settings_.manner == Manner::kSilent) continue;
      switch (head[0]) {
        case 14: {
          std::string hello(28, '\0');
          hello[0] = settings_.manner == Manner::kOtherProtocol ? 4 : 7;
          Answer(client, hello);
          break;
        }
        case 15:
          Answer(client, Little(settings_.free_bytes.size(), 4));
          break;
        case 11: {
          const std::uint64_t bytes = settings_.free_bytes[static_cast<unsigned char>(body[0])];
          Answer(client, Little(bytes, 8) + Little(2 * bytes, 8));
          break;
        }
        case 0:
          Answer(client, Little(77, 8) + body.substr(4, 8));
          break;
        case 3:
          Answer(client, Little(4096, 8));
          break;
        case 6:
          memory = body.substr(296 + 9);
          break;
        case 8:
          Answer(client, memory);
          break;
        default:
          return;
      }
    }
  }

  static std::string Little(std::uint64_t number, std::size_t size) {
    return {reinterpret_cast<const char*>(&number), size};
  }
  static void Say(int client, const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count = send(client, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  static void Answer(int client, const std::string& body) { Say(client, Little(body.size(), 8) + body); }
  static std::string Hear(int client, std::size_t bytes) {
    std::string heard(bytes, '\0');
    std::size_t taken = 0;
    while (taken < bytes) {
      const ssize_t count = recv(client, heard.data() + taken, bytes - taken, 0);
      if (count <= 0) break;
      taken += static_cast<std::size_t>(count);
    }
    heard.resize(taken);
    return heard;
  }

  Settings settings_;
  int listener_;
  int port_ = 0;
  std::atomic<int> client_{-1};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace millrace::testing
