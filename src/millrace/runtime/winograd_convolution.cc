// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/winograd_convolution.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/folded_weights.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/window.h"
#include "millrace/runtime/winograd.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

// Transformed inputs and results that are in memory at a time.
constexpr std::int64_t kTransformedBytes = std::int64_t{16} * 1024 * 1024;
// What both ways take, of one core; what one has over the other counts.
struct Costs {
  double direct_seconds;   // by the definition, for a result and a pair of channels
  double call_seconds;     // to call for 36 products
  double input_seconds;    // to transform a tile of an input channel
  double result_seconds;   // of an output channel
  double product_seconds;  // of products, for a tile and a pair of channels
  double weight_seconds;   // to read a pair of channels from memory, four times as many numbers
};

// Fitted on an EPYC (AVX2) to 6 x 6 to 56 x 56 results of 8 to 512 channels and, for weights, to networks that have too
// many for a cache; and on a Xeon (AVX-512) to the convolutions of three networks. An EPYC with AVX-512 agrees with it.
constexpr Costs kNarrowCosts = {2.4e-10, 22e-6, 3.1e-8, 1.9e-8, 7.9e-10, 16e-9};
constexpr Costs kWideCosts = {1.2e-10, 22e-6, 1.9e-8, 1.2e-8, 4e-10, 16e-9};

// Of the seconds by definition, at most: in a network what is transformed pushes other tensors out of the caches.
constexpr double kWorthIt = 0.75;

// Blocks as wide as vectors of AVX-512, with which oneDNN has Winograd's way, too: on images of fewer tiles it is as
// good.
constexpr std::int64_t kWideBlock = 16;
constexpr std::int64_t kFewestWideTiles = 36;

constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));

std::int64_t WholeBlocks(std::int64_t channels) {
  return (channels + ChannelBlock() - 1) / ChannelBlock() * ChannelBlock();
}

std::int64_t TilesAlong(std::int64_t results) { return (results + kWinogradResults - 1) / kWinogradResults; }

struct Bounds {
  float least = TileEpilogue{}.least, most = TileEpilogue{}.most;
};

// The activation as bounds; nothing where it is something else.
std::optional<Bounds> BoundsOf(const Activation& activation) {
  Bounds bounds;
  for (const ActivationStep& step : activation) {
    Bounds next;
    if (step.algorithm == dnnl::algorithm::eltwise_relu && step.alpha == 0) {
      next.least = 0;
    } else if (step.algorithm == dnnl::algorithm::eltwise_clip) {
      next = {step.alpha, step.beta};
    } else {
      return std::nullopt;
    }
    bounds.least = std::clamp(bounds.least, next.least, next.most);
    bounds.most = std::clamp(bounds.most, next.least, next.most);
  }
  return bounds;
}

struct Shapes {
  Shape source, weights, output;
  SlidingWindow window;
};

Shapes ShapesOf(const Model& model, const Epilogue& epilogue) {
  const Node& node = model.nodes[static_cast<std::size_t>(epilogue.nodes.front())];
  const auto shape = [&model](int value) { return model.values[static_cast<std::size_t>(value)].shape; };
  Shapes shapes{shape(node.inputs[0]), shape(node.inputs[1]), shape(epilogue.output), {}};
  shapes.window = WindowOf(node, Shape(shapes.source.begin() + 2, shapes.source.end()),
                           Shape(shapes.weights.begin() + 2, shapes.weights.end()));
  return shapes;
}

class WinogradConvolution : public PrimitiveKernel {
 public:
  WinogradConvolution(const KernelRequest& request, const Epilogue& epilogue)
      : PrimitiveKernel(request),
        shapes_(ShapesOf(*request.model, epilogue)),
        bounds_(*BoundsOf(epilogue.activation)),
        inputs_channels_(WholeBlocks(shapes_.source[1])),
        results_channels_(WholeBlocks(shapes_.output[1])),
        tile_rows_(TilesAlong(shapes_.output[2])),
        tile_columns_(TilesAlong(shapes_.output[3])) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(epilogue.nodes.front())];
    source_ = InputIndex(node.inputs[0]);
    input_specs_[source_].layout = Layout::kBlocked;
    output_specs_.front().layout = Layout::kBlocked;
    if (epilogue.residual >= 0) {
      residual_ = InputIndex(epilogue.residual);
      input_specs_[*residual_].layout = Layout::kBlocked;
    }
    const FoldedWeights folded = FoldedWeightsOf(model, node, epilogue);
    bias_ = KeepFloats(folded.bias, static_cast<std::size_t>(results_channels_));

    const std::int64_t rows = shapes_.output[0] * tile_rows_;  // of all images
    const std::int64_t row_bytes = kWinogradNumbers * (inputs_channels_ + results_channels_) * tile_columns_ * kFloat;
    const std::int64_t at_once = std::clamp<std::int64_t>(kTransformedBytes / row_bytes, 1, rows);
    inputs_at_ = TakeScratch(static_cast<std::size_t>(MatrixBytes(inputs_channels_, at_once) * kWinogradNumbers));
    results_at_ = TakeScratch(static_cast<std::size_t>(MatrixBytes(results_channels_, at_once) * kWinogradNumbers));
    int phase = 0;
    for (std::int64_t begin = 0; begin < rows; begin += at_once, phase += 3)
      AddRows(request, phase, {begin, std::min(begin + at_once, rows)}, folded.weights);
  }

 private:
  // Of one transformed number of all tiles in so many rows.
  std::int64_t MatrixBytes(std::int64_t channels, std::int64_t rows) const {
    return channels * rows * tile_columns_ * kFloat;
  }

  void AddRows(const KernelRequest& request, int phase, Share rows, const std::vector<float>& weights) {
    const std::int64_t tiles = rows.size() * tile_columns_;
    const auto matrix = [tiles](std::int64_t channels) {
      return DescriptionOf({1, channels, 1, tiles}, Layout::kBlocked);
    };
    const dnnl::memory::desc any({results_channels_, inputs_channels_, 1, 1}, dnnl::memory::data_type::f32,
                                 dnnl::memory::format_tag::any);
    const dnnl::convolution_forward::primitive_desc product({dnnl::prop_kind::forward_inference,
                                                             dnnl::algorithm::convolution_direct,
                                                             matrix(inputs_channels_),
                                                             any,
                                                             matrix(results_channels_),
                                                             {1, 1},
                                                             {0, 0},
                                                             {0, 0}},
                                                            PrimitiveAttributes(), CpuEngine());
    const dnnl::convolution_forward primitive(product);
    const Operand transformed = WeightsOf(request, weights, product.weights_desc());
    for (int worker = 0; worker < workers(); ++worker) {
      const Share inputs = ShareOf(inputs_channels_ / ChannelBlock() * rows.size(), workers(), worker);
      AddTask(phase, worker, [this, rows, inputs](const KernelBuffers& buffers) { FromSource(buffers, rows, inputs); });
      const Share numbers = ShareOf(kWinogradNumbers, workers(), worker);
      for (std::int64_t number = numbers.begin; number < numbers.end; ++number) {
        const auto at = [number](std::int64_t bytes) { return static_cast<std::size_t>(number * bytes); };
        AddPrimitive(
            phase + 1, worker, primitive, product.scratchpad_desc(),
            {{DNNL_ARG_SRC, product.src_desc(), inputs_at_.Plus(at(MatrixBytes(inputs_channels_, rows.size())))},
             {DNNL_ARG_WEIGHTS, product.weights_desc(),
              transformed.Plus(at(static_cast<std::int64_t>(product.weights_desc().get_size())))},
             {DNNL_ARG_DST, product.dst_desc(), results_at_.Plus(at(MatrixBytes(results_channels_, rows.size())))}});
      }
      const Share results = ShareOf(results_channels_ / ChannelBlock() * rows.size(), workers(), worker);
      AddTask(phase + 2, worker,
              [this, rows, results](const KernelBuffers& buffers) { ToOutput(buffers, rows, results); });
    }
  }

  // The rows of tiles in a share of all blocks of channels: calls use(image, block, row, floats to the row's first tile
  // in the matrix of a number).
  template <typename Use>
  void ForRows(Share rows, Share share, const Use& use) const {
    for (std::int64_t item = share.begin; item < share.end; ++item) {
      const std::int64_t row = rows.begin + item % rows.size();
      use(row / tile_rows_, item / rows.size(), row % tile_rows_, item * tile_columns_ * ChannelBlock());
    }
  }

  void FromSource(const KernelBuffers& buffers, Share rows, Share share) const {
    const auto* source = reinterpret_cast<const float*>(buffers.inputs[source_]);
    auto* transformed = reinterpret_cast<float*>(inputs_at_.Write(buffers));
    const std::int64_t stride = MatrixBytes(inputs_channels_, rows.size()) / kFloat;
    ForRows(rows, share, [&](std::int64_t image, std::int64_t block, std::int64_t row, std::int64_t at) {
      const BlockRow line{shapes_.source[2], shapes_.source[3], row * kWinogradResults - shapes_.window.pads_begin[0],
                          -shapes_.window.pads_begin[1], tile_columns_};
      const std::size_t offset = OffsetOf(shapes_.source, Layout::kBlocked, image, block * ChannelBlock());
      TransformInputs(line, source + offset / sizeof(float), transformed + at, stride);
    });
  }

  void ToOutput(const KernelBuffers& buffers, Share rows, Share share) const {
    const auto* transformed = reinterpret_cast<const float*>(results_at_.Read(buffers));
    const auto* bias = reinterpret_cast<const float*>(bias_.Read(buffers));
    const auto* residual = residual_ ? reinterpret_cast<const float*>(buffers.inputs[*residual_]) : nullptr;
    auto* output = reinterpret_cast<float*>(buffers.outputs[0]);
    const std::int64_t stride = MatrixBytes(results_channels_, rows.size()) / kFloat;
    ForRows(rows, share, [&](std::int64_t image, std::int64_t block, std::int64_t row, std::int64_t at) {
      const BlockRow line{shapes_.output[2], shapes_.output[3], row * kWinogradResults, 0, tile_columns_};
      const std::int64_t channel = block * ChannelBlock();
      const std::size_t offset = OffsetOf(shapes_.output, Layout::kBlocked, image, channel) / sizeof(float);
      TransformResults(line, transformed + at, stride,
                       {bias + channel, residual != nullptr ? residual + offset : nullptr, bounds_.least, bounds_.most},
                       output + offset);
    });
  }

  // All transformed weights, the matrix of one number behind that of the other, each as `wanted` says.
  Operand WeightsOf(const KernelRequest& request, const std::vector<float>& weights, const dnnl::memory::desc& wanted) {
    for (const auto& [description, operand] : kept_weights_) {
      if (description == wanted) return operand;
    }
    const std::size_t bytes = wanted.get_size();
    const auto fill = [&](std::byte* to) {
      const std::int64_t matrix = results_channels_ * inputs_channels_;
      std::vector<float> plain(static_cast<std::size_t>(kWinogradNumbers * matrix));
      for (std::int64_t output = 0; output < shapes_.weights[0]; ++output) {
        for (std::int64_t input = 0; input < shapes_.weights[1]; ++input) {
          const float* window = weights.data() + (output * shapes_.weights[1] + input) * 9;
          TransformWindow(std::span<const float, 9>(window, 9), plain.data() + output * inputs_channels_ + input,
                          matrix);
        }
      }
      const dnnl::memory::desc from = PlainDescription({results_channels_, inputs_channels_, 1, 1});
      for (std::int64_t number = 0; number < kWinogradNumbers; ++number)
        ReorderWeights(from, plain.data() + number * matrix, wanted, to + static_cast<std::size_t>(number) * bytes);
    };
    const Operand kept = KeepPrepared(request, "winograd", wanted, bytes * kWinogradNumbers, fill);
    kept_weights_.emplace_back(wanted, kept);
    return kept;
  }

  Shapes shapes_;
  Bounds bounds_;
  std::int64_t inputs_channels_, results_channels_;  // whole blocks
  std::int64_t tile_rows_, tile_columns_;            // of an image
  std::size_t source_ = 0;
  std::optional<std::size_t> residual_;
  Operand bias_, inputs_at_, results_at_;
  std::vector<std::pair<dnnl::memory::desc, Operand>> kept_weights_;
};

}  // namespace

bool CanTakeWinograd(const Model& model, const Epilogue& epilogue) {
  const Node& node = model.nodes[static_cast<std::size_t>(epilogue.nodes.front())];
  if (ConstantOf(model, node.inputs[1]) == nullptr || Model::IntOf(node, "group", 1) != 1) return false;
  if (node.inputs.size() > 2 && node.inputs[2] >= 0 && ConstantOf(model, node.inputs[2]) == nullptr) return false;
  const Shapes shapes = ShapesOf(model, epilogue);
  const auto all = [](const Shape& shape, std::int64_t value) {
    return std::all_of(shape.begin(), shape.end(), [value](std::int64_t number) { return number == value; });
  };
  const SlidingWindow& window = shapes.window;
  return shapes.source.size() == 4 && all(window.kernel, 3) && all(window.strides, 1) && all(window.dilations, 1) &&
         BoundsOf(epilogue.activation).has_value();
}

bool WinogradPays(const Model& model, const Epilogue& epilogue) {
  if (!CanTakeWinograd(model, epilogue)) return false;
  const Shapes shapes = ShapesOf(model, epilogue);
  const std::int64_t inputs = shapes.source[1], results = shapes.output[1], images = shapes.source[0];
  const std::int64_t tiles_of_image = TilesAlong(shapes.output[2]) * TilesAlong(shapes.output[3]);
  const bool wide = ChannelBlock() == kWideBlock;
  if (inputs < ChannelBlock() || (wide && tiles_of_image < kFewestWideTiles)) return false;
  const Costs& costs = wide ? kWideCosts : kNarrowCosts;
  const auto tiles = static_cast<double>(images * tiles_of_image);
  const auto pairs = static_cast<double>(inputs * results);
  const double by_definition =
      costs.direct_seconds * static_cast<double>(images * shapes.output[2] * shapes.output[3]) * pairs;
  const double transforms = costs.call_seconds + tiles * (costs.input_seconds * static_cast<double>(inputs) +
                                                          costs.result_seconds * static_cast<double>(results));
  return kWorthIt * by_definition > transforms + (costs.product_seconds * tiles + costs.weight_seconds) * pairs;
}

std::unique_ptr<Kernel> MakeWinogradConvolution(const KernelRequest& request, const Epilogue& epilogue) {
  return std::make_unique<WinogradConvolution>(request, epilogue);
}

}  // namespace millrace
