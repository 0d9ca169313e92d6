// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/go_corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "millrace/machine/preset.h"
#include "millrace/random/random.h"

namespace millrace {
namespace {

template <typename Value>
Value OneOf(std::initializer_list<Value> values, Random& random) {
  return *std::next(values.begin(), static_cast<std::ptrdiff_t>(random.Below(values.size())));
}

std::int64_t Between(std::int64_t least, std::int64_t most, Random& random) {
  return least + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(most - least + 1)));
}

// Steps that leave a graph of the wanted size with so many layers.
std::int64_t StepsFor(std::int64_t layers, std::int64_t ops_per_step_and_layer, Random& random) {
  const std::int64_t most = 1600 / (ops_per_step_and_layer * (layers + 1));
  return Between(2, std::max<std::int64_t>(3, most), random);
}

ModelOptions DrawOptions(const std::string& family, Random& random) {
  ModelOptions options;
  options.draw_weights = false;
  if (family == "rnnlm") {
    options.layers = Between(1, 8, random);
    options.sequence = StepsFor(*options.layers, 16, random);
    options.hidden = OneOf<std::int64_t>({512, 768, 1024, 1536, 3072}, random);
    options.batch = OneOf<std::int64_t>({16, 32, 64, 128}, random);
  } else if (family == "gnmt") {
    options.layers = Between(2, 8, random);
    options.sequence = StepsFor(*options.layers, 50, random);
    options.hidden = OneOf<std::int64_t>({512, 768, 1280, 1536, 2048}, random);
    options.batch = OneOf<std::int64_t>({32, 64, 128, 256}, random);
  } else if (family == "transformer_xl") {
    options.layers = Between(1, 8, random);
    options.hidden = OneOf<std::int64_t>({512, 768, 1536, 2048}, random);
    options.chunks = Between(1, 3, random);
    options.sequence = *options.chunks * OneOf<std::int64_t>({64, 96, 128, 192}, random);
    options.batch = OneOf<std::int64_t>({8, 16, 32}, random);
  } else if (family == "inception_v3") {
    options.batch = OneOf<std::int64_t>({8, 12, 16, 24, 48, 96, 128}, random);
    options.width = OneOf({0.5, 0.75, 1.0, 1.25, 1.5}, random);
    options.keep_batch_normalization = true;
  } else if (family == "amoebanet") {
    options.layers = Between(1, 3, random);
    options.hidden = OneOf<std::int64_t>({96, 128, 160, 190, 256}, random);
    options.batch = OneOf<std::int64_t>({8, 16, 24, 48, 64}, random);
    options.keep_batch_normalization = true;
  } else {
    options.stacks = Between(1, 4, random);
    options.layers = *options.stacks * Between(4, 9, random);
    options.hidden = OneOf<std::int64_t>({256, 384, 512, 768}, random);
    options.batch = OneOf<std::int64_t>({2, 4, 12, 16}, random);
  }
  return options;
}

// Steps of networks that are unrolled over time, chunks of those that read theirs at once.
void Lengthen(double factor, ModelOptions& options) {
  const auto times = [factor](std::int64_t count) { return std::llround(static_cast<double>(count) * factor); };
  if (!options.sequence) return;
  if (!options.chunks) {
    options.sequence = times(*options.sequence);
    return;
  }
  const std::int64_t length = *options.sequence / *options.chunks;
  options.chunks = times(*options.chunks);
  options.sequence = *options.chunks * length;
}

// Accelerators and links as those of the preset with eight, of which each socket has half.
Machine DrawHost(Random& random) {
  enum class Wiring { kTwoSockets, kOneSwitch, kOneBus };
  const Machine model = *MachinePreset("p100x8");
  const auto devices = OneOf<std::size_t>({2, 2, 3, 4, 4, 5, 6, 8, 8}, random);
  const Wiring wiring = OneOf({Wiring::kTwoSockets, Wiring::kTwoSockets, Wiring::kOneSwitch, Wiring::kOneBus}, random);
  const double speed = std::exp2(random.Uniform(-2, 2));
  const double memory = std::exp2(random.Uniform(-1, 1));
  Machine host;
  host.devices.assign(model.devices.begin(), model.devices.begin() + static_cast<std::ptrdiff_t>(devices));
  for (Device& device : host.devices) device.memory_bytes = *device.memory_bytes * memory;
  const Link& near = model.links.front();  // from the first device to the second
  Link across = near;
  for (const Link& link : model.links) {
    if (link.channel) across = link;
  }
  const auto first_socket = static_cast<int>(wiring == Wiring::kTwoSockets && devices > 2 ? devices / 2 : devices);
  for (int from = 0; from < static_cast<int>(devices); ++from) {
    for (int to = 0; to < static_cast<int>(devices); ++to) {
      if (from == to) continue;
      const bool crosses = (from < first_socket) != (to < first_socket);
      Link link = crosses ? across : near;
      link.from = from;
      link.to = to;
      link.bandwidth *= speed;
      link.channel.reset();
      if (crosses) link.channel = from < first_socket ? 0 : 1;
      if (wiring == Wiring::kOneBus) link.channel = 0;
      host.links.push_back(link);
    }
  }
  constexpr const char* kWords[] = {"two sockets", "one switch", "one bus"};
  host.name = fmt::format("{} accelerators, {}, links x{:.2f}", devices, kWords[static_cast<int>(wiring)], speed);
  return host;
}

}  // namespace

const std::vector<std::string>& GoFamilies() {
  static const std::vector<std::string> families = {"rnnlm",        "gnmt",      "transformer_xl",
                                                    "inception_v3", "amoebanet", "wavenet"};
  return families;
}

GoCase DrawGoCase(std::uint64_t seed, GoCasePurpose purpose, int number, double longest) {
  Random random = Random(seed).Fork(static_cast<std::uint64_t>(purpose)).Fork(static_cast<std::uint64_t>(number));
  GoCase drawn;
  GoWorkload& workload = drawn.workload;
  workload.family = GoFamilies()[static_cast<std::size_t>(number) % GoFamilies().size()];
  workload.options = DrawOptions(workload.family, random);
  drawn.machine = DrawHost(random);
  workload.devices = static_cast<int>(drawn.machine.devices.size());
  if (longest > 1) Lengthen(std::exp2(random.Uniform(0, std::log2(longest))), workload.options);
  drawn.name =
      fmt::format("{}{} #{}", purpose == GoCasePurpose::kValidation ? "validation " : "", workload.family, number);
  workload.name = workload.title = drawn.name;
  return drawn;
}

void TakeGoCases(std::uint64_t seed, GoCasePurpose purpose, int count, const GoCaseLimits& limits,
                 const std::function<bool(GoCase)>& take) {
  constexpr int kMostPassedOver = 1000;  // of a family
  const int most_tries = static_cast<int>(GoFamilies().size()) * (count + kMostPassedOver);
  int taken = 0;
  for (int number = 0; number < most_tries && taken < count; ++number) {
    GoCase drawn = DrawGoCase(seed, purpose, number, limits.longest);
    const std::vector<std::string>& without = limits.without;
    if (std::find(without.begin(), without.end(), drawn.workload.family) != without.end()) continue;
    if (MakeGoWorkload(drawn.workload).num_ops() <= limits.most_ops && take(std::move(drawn))) ++taken;
  }
}

}  // namespace millrace
