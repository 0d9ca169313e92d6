// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/random_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "millrace/runtime/host_units.h"
#include "tests/runtime/kernel_harness.h"

namespace millrace::testing {
namespace {

constexpr std::array<std::int64_t, 5> kChannels = {3, 8, 16, 20, 32};

class NetworkMaker {
 public:
  explicit NetworkMaker(Random& random) : random_(random) {}

  Model Make(int nodes) {
    const int inputs = 1 + static_cast<int>(random_.Below(2));
    for (int i = 0; i < inputs; ++i) Keep(maker_.Input(ImageShape(RandomChannels())));
    for (int i = 0; i < nodes; ++i) AddNode();
    const Model& model = maker_.model();
    std::vector<bool> read(model.values.size(), false);
    for (const Node& node : model.nodes) {
      for (const int value : node.inputs) read[static_cast<std::size_t>(value)] = true;
    }
    for (const int value : images_) {
      const bool made = model.values[static_cast<std::size_t>(value)].producer >= 0;
      if ((made && !read[static_cast<std::size_t>(value)] && random_.Below(4) != 0) || random_.Below(12) == 0)
        maker_.Output(value);
    }
    maker_.Output(images_.back());
    if (random_.Below(3) == 0) maker_.Output(images_.front());
    if (random_.Below(3) == 0) maker_.Output(maker_.Constant(RandomTensor(random_, {5, 2})));
    return maker_.model();
  }

 private:
  Shape ImageShape(std::int64_t channels) const { return {1, channels, 7, 6}; }
  std::int64_t RandomChannels() { return kChannels[random_.Below(kChannels.size())]; }
  std::int64_t ChannelsOf(int value) const { return maker_.model().values[static_cast<std::size_t>(value)].shape[1]; }
  void Keep(int value) { images_.push_back(value); }

  // Recent values more often, so that networks are deep.
  int AnyImage() {
    const std::size_t back =
        random_.Below(2) == 0 ? random_.Below(std::min<std::size_t>(3, images_.size())) : random_.Below(images_.size());
    return images_[images_.size() - 1 - back];
  }

  void AddNode() {
    const int image = AnyImage();
    const std::int64_t channels = ChannelsOf(image);
    switch (random_.Below(8)) {
      case 0:
      case 1:
        return AddConvolution(image);
      case 2:
        return Keep(maker_.Node("Relu", {image}, ImageShape(channels)));
      case 3:
        return Keep(maker_.Node("Sigmoid", {image}, ImageShape(channels)));
      case 4:
        return Keep(maker_.Node("MaxPool", {image}, ImageShape(channels),
                                {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                 {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                                 {"strides", std::vector<std::int64_t>{1, 1}}}));
      case 5:
        return Combine(image);
      case 6:
        return Combine(image);
      default: {
        const int other = AnyImage();
        return Keep(maker_.Node("Concat", {image, other}, ImageShape(channels + ChannelsOf(other)),
                                {{"axis", std::int64_t{1}}}));
      }
    }
  }

  void AddConvolution(int image) {
    const std::int64_t from = ChannelsOf(image);
    const std::int64_t to = RandomChannels();
    const std::int64_t kernel = random_.Below(2) == 0 ? 1 : 3;
    const double scale = 1.0 / std::sqrt(static_cast<double>(from * kernel * kernel));
    const int weights = maker_.Constant(RandomTensor(random_, {to, from, kernel, kernel}, -scale, scale));
    const int bias = maker_.Constant(RandomTensor(random_, {to}));
    const std::int64_t pad = kernel / 2;
    Keep(maker_.Node("Conv", {image, weights, bias}, ImageShape(to),
                     {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
                      {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}}));
  }

  void Combine(int image) {
    const std::int64_t channels = ChannelsOf(image);
    for (int attempt = 0; attempt < 4; ++attempt) {
      const int other = AnyImage();
      if (ChannelsOf(other) != channels) continue;
      return Keep(maker_.Node(random_.Below(2) == 0 ? "Add" : "Mul", {image, other}, ImageShape(channels)));
    }
    Keep(maker_.Node("Relu", {image}, ImageShape(channels)));
  }

  Random& random_;
  ModelMaker maker_;
  std::vector<int> images_;
};

}  // namespace

Model RandomNetwork(Random& random, int nodes) { return NetworkMaker(random).Make(nodes); }

Machine HostMachine() {
  Machine machine;
  machine.name = "host";
  Device device;
  device.kind = "cpu";
  device.flops_per_second = 1e11;
  device.memory_bandwidth = 1e10;
  const std::vector<int> cpus = AllowedProcessors();
  for (const int cpu : cpus) {
    device.name = "cpu" + std::to_string(cpu);
    device.units = {cpu};
    machine.devices.push_back(device);
  }
  if (cpus.size() > 1) {
    device.name = "all";
    device.kind = "cpus";
    device.units = cpus;
    machine.devices.push_back(device);
  }
  return machine;
}

Plan OneByOne(const Model& model) {
  Plan plan;
  for (std::size_t node = 0; node < model.nodes.size(); ++node) plan.groups.push_back({static_cast<OpId>(node)});
  plan.placement.assign(model.nodes.size(), 0);
  plan.sequence.resize(model.nodes.size());
  std::iota(plan.sequence.begin(), plan.sequence.end(), 0);
  return plan;
}

}  // namespace millrace::testing
