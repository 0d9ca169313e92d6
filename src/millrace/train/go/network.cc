// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/go/network.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "millrace/go/network.h"
#include "millrace/network/sizes.h"

namespace millrace {
namespace {

constexpr double kLeastVariance = 1e-5;
constexpr double kUnused = -std::numeric_limits<double>::infinity();

// What a row's neighbours on one side say, the largest of it; 0 where there are none.
torch::Tensor Pool(const Parameters& parameters, const std::string& name, const torch::Tensor& h,
                   const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& neighbours,
                   const std::vector<float>& features) {
  std::vector<std::int64_t> from(neighbours.begin(), neighbours.end());
  std::vector<std::int64_t> to;
  to.reserve(from.size());
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    to.insert(to.end(), static_cast<std::size_t>(offsets[row + 1] - offsets[row]), static_cast<std::int64_t>(row));
  }
  const auto edges = static_cast<std::int64_t>(to.size());
  const torch::Tensor messages = torch::relu(Linear(parameters, name, h).index_select(0, Indices(from, h.device())) +
                                             Linear(parameters, name + ".edge", Floats(features, 1, h.device())));
  return torch::zeros({h.size(0), kMessage}, h.options())
      .scatter_reduce(0, Indices(to, h.device()).unsqueeze(1).expand({edges, kMessage}), messages, "amax");
}

torch::Tensor Norm(const Parameters& parameters, const std::string& name, const torch::Tensor& x) {
  return torch::layer_norm(x, {kWidth}, parameters.at(name + ".weight"), parameters.at(name + ".bias"), kLeastVariance);
}

// As Linear of tensors.h, for any number of leading sizes.
torch::Tensor LinearOf(const Parameters& parameters, const std::string& name, const torch::Tensor& x) {
  const auto bias = parameters.find(name + ".bias");
  return torch::linear(x, parameters.at(name + ".weight"), bias == parameters.end() ? torch::Tensor() : bias->second);
}

torch::Tensor Modulated(const Parameters& parameters, const std::string& name, const std::string& place,
                        const torch::Tensor& h, const torch::Tensor& condition) {
  return Norm(parameters, name + ".norm." + place, h) * (1 + Linear(parameters, name + ".super." + place, condition));
}

// The memory of each segment: the segment before it, nothing before the first. x: steps x segments x ..
torch::Tensor Before(const torch::Tensor& x) {
  const torch::Tensor none = torch::zeros_like(x.narrow(1, 0, 1));
  return torch::cat({none, x.narrow(1, 0, x.size(1) - 1)}, 1).detach();
}

// layer(h; name) of go/network.h. h: steps x rows x kWidth; its first row begins a segment.
torch::Tensor SegmentLayer(const Parameters& parameters, const std::string& name, const torch::Tensor& h,
                           const torch::Tensor& condition) {
  const std::int64_t steps = h.size(0);
  const std::int64_t rows = h.size(1);
  const std::int64_t segments = (rows + kSegment - 1) / kSegment;
  const torch::Tensor a =
      torch::constant_pad_nd(Modulated(parameters, name, "0", h, condition), {0, 0, 0, segments * kSegment - rows});
  const auto split = [&](const char* what) {
    return LinearOf(parameters, name + what, a).view({steps, segments, kSegment, kSegmentHeads, kAttention});
  };
  const torch::Tensor query = split(".query").transpose(2, 3);
  const torch::Tensor own_key = split(".key");
  const torch::Tensor own_value = split(".value");
  const torch::Tensor key = torch::cat({Before(own_key), own_key}, 2).transpose(2, 3);
  const torch::Tensor value = torch::cat({Before(own_value), own_value}, 2).transpose(2, 3);

  // Which keys there are: none before the first segment, none behind the last row.
  const torch::Tensor place = torch::arange(2 * kSegment, torch::TensorOptions(torch::kInt64).device(h.device()));
  const torch::Tensor row =
      place.unsqueeze(0) +
      (torch::arange(segments, torch::TensorOptions(torch::kInt64).device(h.device())) - 1).unsqueeze(1) * kSegment;
  const torch::Tensor none = row.lt(0).logical_or(row.ge(rows)).view({1, segments, 1, 1, 2 * kSegment});
  const torch::Tensor scores = (torch::matmul(query, key.transpose(3, 4)) / std::sqrt(static_cast<double>(kAttention)))
                                   .masked_fill(none, kUnused);
  const torch::Tensor attended = torch::matmul(torch::softmax(scores, 4), value)
                                     .transpose(2, 3)
                                     .reshape({steps, segments * kSegment, kWidth})
                                     .narrow(1, 0, rows);
  const torch::Tensor joined = h + LinearOf(parameters, name + ".join", attended);
  const torch::Tensor between =
      torch::relu(LinearOf(parameters, name + ".first", Modulated(parameters, name, "1", joined, condition)));
  return joined + LinearOf(parameters, name + ".out", between);
}

// One call of RunGoNetwork.
class WindowPass {
 public:
  WindowPass(const Parameters& parameters, const GoEncoded& encoded, const GoProblem& problem, const GoFeatures& graph,
             const std::vector<const GoStep*>& steps, const RowWindow& window, torch::Device device,
             const OwnLogits* own)
      : parameters_(parameters),
        encoded_(encoded),
        problem_(problem),
        graph_(graph),
        steps_(steps),
        window_(window),
        device_(device),
        own_(own),
        rows_(window.end - window.first) {}

  GoOutputs Run() const {
    GoOutputs outputs;
    torch::Tensor u = encoded_.states.narrow(0, window_.first, rows_)
                          .unsqueeze(0)
                          .expand({static_cast<std::int64_t>(steps_.size()), rows_, kWidth});
    const torch::Tensor before =
        LinearOf(parameters_, "task.before", OfBefore(&DecisionObservation::decisions, kDecisionFeatures));
    for (std::size_t task = 0; task < kTasks.size(); ++task) {
      if (!steps_.front()->chosen.Has(kTasks[task])) continue;
      const torch::Tensor told =
          Rows([task](const GoStep& step) -> const std::vector<float>& { return step.told[task]; }, kDecisionFeatures);
      const torch::Tensor which = parameters_.at("task.which.weight").select(1, static_cast<std::int64_t>(task));
      u = SegmentLayer(parameters_, "task", u + which + before + LinearOf(parameters_, "task.chosen", told),
                       encoded_.condition);
      outputs[task] = kTasks[task] == Task::kPlacement ? Places(u) : Levels(u, kTasks[task]);
    }
    return outputs;
  }

 private:
  // steps x rows x columns of the window, out of arrays that have all rows.
  template <typename Of>
  torch::Tensor Rows(Of of, std::int64_t columns) const {
    std::vector<float> values;
    values.reserve(steps_.size() * static_cast<std::size_t>(rows_ * columns));
    for (const GoStep* step : steps_) {
      const auto begin = of(*step).begin() + window_.first * columns;
      values.insert(values.end(), begin, begin + rows_ * columns);
    }
    return Floats(values, columns, device_).view({static_cast<std::int64_t>(steps_.size()), rows_, columns});
  }

  torch::Tensor OfBefore(std::vector<float> DecisionObservation::*part, std::int64_t columns) const {
    return Rows([part](const GoStep& step) -> const std::vector<float>& { return (*step.before).*part; }, columns);
  }

  // Log probability of what was chosen, and entropy. logits: steps x choices x alternatives.
  GoChoices Choose(const torch::Tensor& logits, const std::vector<std::int64_t>& chosen,
                   const std::vector<float>& counted) const {
    const torch::Tensor log_softmax = torch::log_softmax(logits, 2);
    const torch::Tensor taken = Indices(chosen, device_).view({logits.size(0), logits.size(1), 1});
    GoChoices choices;
    choices.logits = logits;
    choices.log_probability = log_softmax.gather(2, taken).squeeze(2);
    choices.entropy = -(log_softmax.exp() * log_softmax).sum(2);
    choices.counted = Floats(counted, 1, device_).squeeze(1);
    return choices;
  }

  GoChoices Places(const torch::Tensor& u) const {
    const std::int64_t devices = problem_.num_devices();
    const auto steps = static_cast<std::int64_t>(steps_.size());
    const torch::Tensor of_devices =
        Linear(parameters_, "place.device.1",
               torch::relu(Linear(parameters_, "place.device.0", Floats(graph_.devices, kGoDeviceFeatures, device_))));
    const torch::Tensor shared =
        LinearOf(parameters_, "place.embed", u) + Linear(parameters_, "place.condition", encoded_.condition);
    const torch::Tensor features =
        OfBefore(&DecisionObservation::places, devices * kPlaceFeatures).view({steps, rows_, devices, kPlaceFeatures});
    const torch::Tensor priors = OfBefore(&DecisionObservation::place_priors, devices * kPlacePriors)
                                     .view({steps, rows_, devices, kPlacePriors});
    const torch::Tensor first =
        torch::relu(shared.unsqueeze(2) + of_devices + LinearOf(parameters_, "place.features", features));
    const torch::Tensor scores =
        LinearOf(parameters_, "place.out", torch::relu(LinearOf(parameters_, "place.hidden", first))).squeeze(3) +
        (priors * Strengths(parameters_, "place", encoded_.condition).view({1, 1, 1, kPlacePriors})).sum(3);

    const std::int64_t colocations = problem_.num_colocations();
    std::vector<std::int64_t> colocation_of;
    std::vector<float> counted(static_cast<std::size_t>(colocations), 0);
    for (int row = window_.first; row < window_.end; ++row) colocation_of.push_back(problem_.ColocationOf(row));
    std::vector<float> sizes, closed;
    sizes.reserve(static_cast<std::size_t>(colocations));
    closed.reserve(static_cast<std::size_t>(colocations * devices));
    for (std::int32_t colocation = 0; colocation < colocations; ++colocation) {
      const auto rows = problem_.RowsOf(colocation);
      sizes.push_back(static_cast<float>(rows.size()));
      for (int d = 0; d < devices; ++d)
        closed.push_back(std::isfinite(problem_.Seconds(rows.front(), d)) ? 0.0F : 1.0F);
      if (rows.front() >= window_.counted && rows.back() < window_.end)
        counted[static_cast<std::size_t>(colocation)] = 1;
    }
    const torch::Tensor sums = torch::zeros({steps, colocations, devices}, scores.options())
                                   .index_add(1, Indices(colocation_of, device_), scores);
    torch::Tensor means = sums / Floats(sizes, 1, device_);
    if (own_ != nullptr) means = means + Floats(own_->of(Task::kPlacement), devices, device_);
    const torch::Tensor logits = means.masked_fill(Floats(closed, devices, device_).gt(0.5), kClosedLogit);
    std::vector<std::int64_t> chosen;
    for (const GoStep* step : steps_)
      chosen.insert(chosen.end(), step->chosen.device.begin(), step->chosen.device.end());
    return Choose(logits, chosen, counted);
  }

  GoChoices Levels(const torch::Tensor& u, Task task) const {
    const bool fusion = task == Task::kFusion;
    const std::string name = fusion ? "fusion" : "priority";
    const torch::Tensor features = OfBefore(&DecisionObservation::levels, kLevelFeatures);
    const torch::Tensor first = torch::relu(LinearOf(parameters_, name + ".embed", u) +
                                            Linear(parameters_, name + ".condition", encoded_.condition) +
                                            LinearOf(parameters_, name + ".features", features));
    torch::Tensor logits =
        LinearOf(parameters_, name + ".out", torch::relu(LinearOf(parameters_, name + ".hidden", first)));
    const torch::Tensor centres =
        OfBefore(fusion ? &DecisionObservation::fusion_centres : &DecisionObservation::priority_centres, kLevelPriors);
    const torch::Tensor strengths = Strengths(parameters_, name, encoded_.condition);
    const torch::Tensor levels = torch::arange(kLevels, logits.options());
    for (std::int64_t k = 0; k < kLevelPriors; ++k) {
      const torch::Tensor centre = centres.select(2, k).unsqueeze(2);
      const torch::Tensor distance = (levels - centre).abs().masked_fill(centre.lt(0), 0);
      logits = logits - strengths.select(1, k) * distance;
    }
    if (own_ != nullptr)
      logits = logits + Floats(own_->of(task), kLevels, device_).narrow(0, window_.first, window_.end - window_.first);
    std::vector<std::int64_t> chosen;
    for (const GoStep* step : steps_) {
      const std::vector<std::uint8_t>& levels_of = fusion ? step->chosen.fusion : step->chosen.priority;
      chosen.insert(chosen.end(), levels_of.begin() + window_.first, levels_of.begin() + window_.end);
    }
    std::vector<float> counted;
    for (int row = window_.first; row < window_.end; ++row) {
      const bool counts = row >= window_.counted && (!fusion || problem_.fusible()[static_cast<std::size_t>(row)] != 0);
      counted.push_back(counts ? 1.0F : 0.0F);
    }
    return Choose(logits, chosen, counted);
  }

  const Parameters& parameters_;
  const GoEncoded& encoded_;
  const GoProblem& problem_;
  const GoFeatures& graph_;
  const std::vector<const GoStep*>& steps_;
  const RowWindow& window_;
  torch::Device device_;
  const OwnLogits* own_;  // null: none
  std::int64_t rows_;
};

}  // namespace

GoEncoded EncodeGo(const Parameters& parameters, const GoFeatures& graph, torch::Device device) {
  torch::Tensor h = torch::relu(Linear(parameters, "input", Floats(graph.ops, kGoOpFeatures, device)));
  for (int l = 0; l < kSageLayers; ++l) {
    const std::string name = "sage." + std::to_string(l);
    const torch::Tensor forward = Pool(parameters, name + ".forward", h, graph.predecessor_offsets, graph.predecessors,
                                       graph.predecessor_features);
    const torch::Tensor backward =
        Pool(parameters, name + ".backward", h, graph.successor_offsets, graph.successors, graph.successor_features);
    h = h + torch::relu(Linear(parameters, name + ".mix", torch::cat({h, forward, backward}, 1)));
  }
  const std::vector<float> global(graph.global.begin(), graph.global.end());
  const torch::Tensor pooled =
      torch::cat({h.mean(0, true), std::get<0>(h.max(0, true)), Floats(global, kGoGlobalFeatures, device)}, 1);
  GoEncoded encoded;
  encoded.condition =
      torch::relu(Linear(parameters, "condition.1", torch::relu(Linear(parameters, "condition.0", pooled))));
  h = h.unsqueeze(0);
  for (int l = 0; l < kSegmentLayers; ++l) {
    h = SegmentLayer(parameters, "layer." + std::to_string(l), h, encoded.condition);
  }
  encoded.states = Norm(parameters, "norm", h.squeeze(0));
  return encoded;
}

GoOutputs RunGoNetwork(const Parameters& parameters, const GoEncoded& encoded, const GoProblem& problem,
                       const GoFeatures& graph, const std::vector<const GoStep*>& steps, const RowWindow& window,
                       torch::Device device, const OwnLogits* own) {
  return WindowPass(parameters, encoded, problem, graph, steps, window, device, own).Run();
}

}  // namespace millrace
