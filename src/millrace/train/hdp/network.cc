// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/hdp/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/train/torch/trained_parameters.h"

namespace millrace {
namespace {

constexpr double kGradientLimit = 1;

// One place of a row of probabilities.
std::int32_t Draw(const float* probabilities, std::int64_t count, Random& random) {
  double left = random.Uniform();
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    left -= probabilities[i];
    if (left < 0) return static_cast<std::int32_t>(i);
  }
  return static_cast<std::int32_t>(count - 1);
}

std::int64_t GroupColumns(const HdpFeatures& features, const HdpSizes& sizes) {
  return features.num_types + kHdpSizes + 1 + 2 * static_cast<std::int64_t>(sizes.groups);
}

Shapes ShapesOf(const HdpFeatures& features, const HdpSizes& sizes) {
  const std::int64_t grouper = sizes.grouper_width;
  const std::int64_t width = sizes.placer_width;
  return {{"grouper.0.weight", {grouper, features.num_columns}},
          {"grouper.0.bias", {grouper}},
          {"grouper.1.weight", {sizes.groups, grouper}},
          {"grouper.1.bias", {sizes.groups}},
          {"group.weight", {width, GroupColumns(features, sizes)}},
          {"group.bias", {width}},
          {"reader.input", {4 * width, width}},
          {"reader.state", {4 * width, width}},
          {"reader.input_bias", {4 * width}},
          {"reader.state_bias", {4 * width}},
          {"placer.input", {4 * width, 2 * width}},
          {"placer.state", {4 * width, width}},
          {"placer.input_bias", {4 * width}},
          {"placer.state_bias", {4 * width}},
          {"attention.weight", {width, width}},
          {"named.weight", {sizes.devices + 1, width}},
          {"device.weight", {sizes.devices, 2 * width}},
          {"device.bias", {sizes.devices}}};
}

// The last layers start near zero: every group and device as likely as any other.
Weights StartWeights(const Shapes& shapes, Random random) {
  constexpr float kSmall = 0.05F;
  Weights weights = DrawWeights(shapes, random);
  for (const char* last : {"grouper.1.weight", "device.weight"}) {
    for (float& value : weights.tensors.at(last).values) value *= kSmall;
  }
  for (const char* recurrent : {"reader.input", "reader.state", "placer.input", "placer.state", "named.weight"}) {
    for (float& value : weights.tensors.at(recurrent).values) value *= 0.5F;
  }
  return weights;
}

}  // namespace

struct HdpNetwork::State {
  const HdpFeatures& features;
  HdpSizes sizes;
  torch::Tensor rows;
  TrainedParameters trained;
  torch::Tensor log_probability, entropy;  // by sample, of the last Sample

  State(const HdpFeatures& f, const HdpSizes& s, const Random& random)
      : features(f),
        sizes(s),
        rows(Floats(f.rows, f.num_columns, torch::kCPU)),
        trained(ShapesOf(f, s), StartWeights(ShapesOf(f, s), random), 0, torch::kCPU) {}

  // groups x samples x GroupColumns: what the groups are made of, and which are empty.
  torch::Tensor Describe(const std::vector<HdpSample>& samples, torch::Tensor& full) const {
    const auto groups = static_cast<std::size_t>(sizes.groups);
    const auto types = static_cast<std::size_t>(features.num_types);
    const auto columns = static_cast<std::size_t>(GroupColumns(features, sizes));
    std::vector<float> rows_of(groups * samples.size() * columns, 0);
    std::vector<float> members(groups * samples.size(), 0);
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
      const auto row = [&](std::int32_t unit) {
        const auto group = static_cast<std::size_t>(samples[sample].group_of_unit[static_cast<std::size_t>(unit)]);
        return group * samples.size() + sample;
      };
      for (std::int32_t unit = 0; unit < features.num_units; ++unit) {
        float* out = &rows_of[row(unit) * columns];
        const auto at = static_cast<std::size_t>(unit);
        for (std::size_t type = 0; type < types; ++type) out[type] += features.types[at * types + type];
        for (std::size_t size = 0; size < kHdpSizes; ++size) {
          out[types + size] += static_cast<float>(features.sizes[at * kHdpSizes + size]);
        }
        out[types + kHdpSizes] += static_cast<float>(features.place[at]);
        members[row(unit)] += 1;
      }
      for (const HdpFeatures::Edge& edge : features.edges) {
        const std::size_t from = row(edge.from);
        const std::size_t to = row(edge.to);
        rows_of[from * columns + types + kHdpSizes + 1 + to / samples.size()] = 1;
        rows_of[to * columns + types + kHdpSizes + 1 + groups + from / samples.size()] = 1;
      }
      for (std::size_t group = 0; group < groups; ++group) {
        const std::size_t at = group * samples.size() + sample;
        float* out = &rows_of[at * columns];
        const float count = std::max(1.0F, members[at]);
        float ops = 0;
        for (std::size_t type = 0; type < types; ++type) ops += out[type];
        for (std::size_t type = 0; type < types; ++type) out[type] /= std::max(1.0F, ops);
        for (std::size_t size = 0; size < kHdpSizes; ++size) {
          out[types + size] = std::log1p(out[types + size] * static_cast<float>(groups));
        }
        out[types + kHdpSizes] /= count;
      }
    }
    const auto count = static_cast<std::int64_t>(samples.size());
    full = Floats(members, count, torch::kCPU).gt(0).to(torch::kFloat32);
    return Floats(rows_of, static_cast<std::int64_t>(columns), torch::kCPU)
        .view({sizes.groups, count, static_cast<std::int64_t>(columns)});
  }

  // Names a device per group and sample, into the samples; log probabilities and entropies by sample, means over the
  // groups that are not empty.
  std::pair<torch::Tensor, torch::Tensor> Place(std::vector<HdpSample>& samples, Random& random) const {
    const Parameters& parameters = trained.parameters();
    const auto count = static_cast<std::int64_t>(samples.size());
    const std::int64_t width = sizes.placer_width;
    torch::Tensor full;
    const torch::Tensor described = Describe(samples, full);
    const torch::Tensor embedded = torch::relu(Linear(parameters, "group", described.view({sizes.groups * count, -1})))
                                       .view({sizes.groups, count, width});
    const torch::Tensor zero = torch::zeros({1, count, width});
    const auto [read, hidden_end, cell_end] =
        torch::lstm(embedded, {zero, zero},
                    {parameters.at("reader.input"), parameters.at("reader.state"), parameters.at("reader.input_bias"),
                     parameters.at("reader.state_bias")},
                    /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, /*train=*/true, /*bidirectional=*/false,
                    /*batch_first=*/false);
    const torch::Tensor memory = read.transpose(0, 1).contiguous();  // samples x groups x width
    const torch::Tensor keys = torch::matmul(memory, parameters.at("attention.weight")) / std::sqrt(width);
    torch::Tensor hidden = hidden_end.squeeze(0);
    torch::Tensor cell = cell_end.squeeze(0);
    torch::Tensor context = torch::zeros({count, width});
    torch::Tensor named = torch::full({count}, sizes.devices, torch::kInt64);
    std::vector<torch::Tensor> log_probabilities, entropies;
    for (std::int64_t group = 0; group < sizes.groups; ++group) {
      const torch::Tensor input =
          torch::cat({parameters.at("named.weight").index_select(0, named) + embedded[group], context}, 1);
      std::tie(hidden, cell) =
          torch::lstm_cell(input, {hidden, cell}, parameters.at("placer.input"), parameters.at("placer.state"),
                           parameters.at("placer.input_bias"), parameters.at("placer.state_bias"));
      const torch::Tensor attention = torch::softmax(torch::bmm(keys, hidden.unsqueeze(2)), 1);
      context = torch::bmm(attention.transpose(1, 2), memory).squeeze(1);
      const torch::Tensor log_softmax =
          torch::log_softmax(Linear(parameters, "device", torch::cat({hidden, context}, 1)), 1);
      const torch::Tensor probabilities = log_softmax.detach().exp().contiguous();
      std::vector<std::int64_t> devices;
      for (std::int64_t sample = 0; sample < count; ++sample) {
        const std::int32_t device =
            Draw(probabilities.data_ptr<float>() + sample * sizes.devices, sizes.devices, random);
        samples[static_cast<std::size_t>(sample)].device_of_group.push_back(device);
        devices.push_back(device);
      }
      named = Indices(devices, torch::kCPU);
      log_probabilities.push_back(log_softmax.gather(1, named.unsqueeze(1)).squeeze(1) * full[group]);
      entropies.push_back(-(log_softmax.exp() * log_softmax).sum(1) * full[group]);
    }
    const torch::Tensor filled = full.sum(0);
    return {torch::stack(log_probabilities).sum(0) / filled, torch::stack(entropies).sum(0) / filled};
  }
};

HdpNetwork::HdpNetwork(const HdpFeatures& features, const HdpSizes& sizes, int torch_threads, const Random& random) {
  SetTorchThreads(torch_threads);
  state_ = std::make_unique<State>(features, sizes, random);
}

HdpNetwork::~HdpNetwork() = default;

std::vector<HdpSample> HdpNetwork::Sample(int count, Random& random) {
  State& state = *state_;
  const Parameters& parameters = state.trained.parameters();
  const torch::Tensor log_softmax =
      torch::log_softmax(Linear(parameters, "grouper.1", torch::relu(Linear(parameters, "grouper.0", state.rows))), 1);
  const torch::Tensor probabilities = log_softmax.detach().exp().contiguous();
  const auto units = static_cast<std::size_t>(state.features.num_units);
  std::vector<HdpSample> samples(static_cast<std::size_t>(count));
  std::vector<std::int64_t> taken;
  taken.reserve(units * samples.size());
  for (std::size_t unit = 0; unit < units; ++unit) {
    const float* row = probabilities.data_ptr<float>() + unit * static_cast<std::size_t>(state.sizes.groups);
    for (HdpSample& sample : samples) {
      sample.group_of_unit.push_back(Draw(row, state.sizes.groups, random));
      taken.push_back(sample.group_of_unit.back());
    }
  }
  const torch::Tensor grouping = log_softmax.gather(1, Indices(taken, torch::kCPU).view({-1, count})).mean(0);
  const torch::Tensor grouping_entropy = -(log_softmax.exp() * log_softmax).sum(1).mean();
  const auto [placing, placing_entropy] = state.Place(samples, random);
  state.log_probability = grouping + placing;
  state.entropy = grouping_entropy + placing_entropy;
  return samples;
}

void HdpNetwork::Reinforce(const std::vector<double>& advantages, double entropy_bonus, double learning_rate) {
  State& state = *state_;
  const torch::Tensor weights = torch::tensor(advantages, torch::kFloat64).to(torch::kFloat32);
  const torch::Tensor loss = -(weights * state.log_probability).mean() - entropy_bonus * state.entropy.mean();
  state.trained.ClearGradient();
  loss.backward();
  state.log_probability = state.entropy = torch::Tensor();
  state.trained.Descend(learning_rate, kGradientLimit);
}

}  // namespace millrace
