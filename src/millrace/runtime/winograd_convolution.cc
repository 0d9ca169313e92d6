// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/winograd_convolution.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/convolution_layout.h"
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
// With the channels innermost, oneDNN is faster by the definition. Fitted on an EPYC to convolutions in three networks.
constexpr Costs kLastCosts = {8.5e-11, 22e-6, 1.9e-8, 1.2e-8, 4e-10, 16e-9};

// Of the seconds by definition in blocks, at most: in a network what is transformed pushes other tensors out of the
// caches.
constexpr double kWorthIt = 0.75;

// In blocks as wide as vectors of AVX-512 oneDNN has Winograd's way, too: on images of fewer tiles it is as good.
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

// Whether whole blocks of channels go in and come out.
bool HasWholeBlocks(const Shapes& shapes) {
  return shapes.source[1] == WholeBlocks(shapes.source[1]) && shapes.output[1] == WholeBlocks(shapes.output[1]);
}

Layout ConvolutionLayoutOf(const KernelRequest& request, const Epilogue& epilogue, const Shapes& shapes) {
  const Node& node = request.model->nodes[static_cast<std::size_t>(epilogue.nodes.front())];
  return ConvolutionLayout(request, node.inputs[0], ElementsFrom(shapes.weights, 0) * kFloat, shapes.output);
}

class WinogradConvolution : public PrimitiveKernel {
 public:
  WinogradConvolution(const KernelRequest& request, const Epilogue& epilogue)
      : PrimitiveKernel(request),
        shapes_(ShapesOf(*request.model, epilogue)),
        layout_(HasWholeBlocks(shapes_) ? ConvolutionLayoutOf(request, epilogue, shapes_) : Layout::kBlocked),
        bounds_(*BoundsOf(epilogue.activation)),
        inputs_channels_(WholeBlocks(shapes_.source[1])),
        results_channels_(WholeBlocks(shapes_.output[1])),
        tile_rows_(TilesAlong(shapes_.output[2])),
        tile_columns_(TilesAlong(shapes_.output[3])) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(epilogue.nodes.front())];
    source_ = InputIndex(node.inputs[0]);
    input_specs_[source_].layout = layout_;
    output_specs_.front().layout = layout_;
    if (epilogue.residual >= 0) {
      residual_ = InputIndex(epilogue.residual);
      input_specs_[*residual_].layout = layout_;
    }
    const FoldedWeights folded = FoldedWeightsOf(model, node, epilogue);
    bias_ = KeepFloats(folded.bias, static_cast<std::size_t>(results_channels_));

    const std::int64_t tiles = shapes_.output[0] * tile_rows_ * tile_columns_;  // of all images
    if (layout_ == Layout::kChannelsLast && OwnTilesPay(tiles)) {
      for (int worker = 0; worker < workers(); ++worker) AddOwn(request, worker, tiles, folded.weights);
    } else {
      AddShared(request, tiles, folded.weights);
    }
  }

 private:
  // Tiles whose transformed numbers are in memory together, and where those lie.
  struct Batch {
    Share tiles;
    Operand inputs, results;
  };

  // Some tiles of a batch, those of one block of channels of the input or result.
  struct Piece {
    std::int64_t block;
    Share tiles;
  };

  // Of one transformed number of so many tiles.
  static std::int64_t MatrixBytes(std::int64_t channels, std::int64_t tiles) { return channels * tiles * kFloat; }

  // Whether a gang goes through tiles that each worker has to itself. Then all workers read all weights; otherwise each
  // reads some matrices of weights, and others' transformed numbers.
  bool OwnTilesPay(std::int64_t tiles) const {
    const std::int64_t channels = inputs_channels_ + results_channels_;
    return workers() == 1 || inputs_channels_ * results_channels_ < tiles * channels;
  }

  // Tiles that are in memory at a time, of so many.
  std::int64_t TilesAtOnce(std::int64_t tiles, std::int64_t bytes) const {
    const std::int64_t tile_bytes = kWinogradNumbers * (inputs_channels_ + results_channels_) * kFloat;
    return std::clamp<std::int64_t>(bytes / tile_bytes / tile_columns_ * tile_columns_, tile_columns_, tiles);
  }

  Batch TakeRoom(std::int64_t tiles) {
    const auto room = [&](std::int64_t channels) {
      return TakeScratch(static_cast<std::size_t>(MatrixBytes(channels, tiles) * kWinogradNumbers));
    };
    Batch batch;
    batch.inputs = room(inputs_channels_);
    batch.results = room(results_channels_);
    return batch;
  }

  void AddOwn(const KernelRequest& request, int worker, std::int64_t tiles, const std::vector<float>& weights) {
    const Share own = ShareOf(tiles, workers(), worker);
    if (own.size() == 0) return;
    const std::int64_t at_once = TilesAtOnce(own.size(), kTransformedBytes / workers());
    Batch batch = TakeRoom(at_once);
    for (std::int64_t begin = own.begin; begin < own.end; begin += at_once) {
      batch.tiles = {begin, std::min(begin + at_once, own.end)};
      AddInputs(0, worker, batch, AllBlocks(inputs_channels_, batch.tiles));
      AddProducts(request, 0, worker, batch, {0, kWinogradNumbers}, weights);
      AddResults(0, worker, batch, AllBlocks(results_channels_, batch.tiles));
    }
  }

  void AddShared(const KernelRequest& request, std::int64_t tiles, const std::vector<float>& weights) {
    const std::int64_t at_once = TilesAtOnce(tiles, kTransformedBytes);
    Batch batch = TakeRoom(at_once);
    int phase = 0;
    for (std::int64_t begin = 0; begin < tiles; begin += at_once, phase += 3) {
      batch.tiles = {begin, std::min(begin + at_once, tiles)};
      for (int worker = 0; worker < workers(); ++worker) {
        AddInputs(phase, worker, batch, PiecesOf(inputs_channels_, batch.tiles, worker));
        AddProducts(request, phase + 1, worker, batch, ShareOf(kWinogradNumbers, workers(), worker), weights);
        AddResults(phase + 2, worker, batch, PiecesOf(results_channels_, batch.tiles, worker));
      }
    }
  }

  static std::vector<Piece> AllBlocks(std::int64_t channels, Share tiles) {
    std::vector<Piece> pieces;
    for (std::int64_t block = 0; block < channels / ChannelBlock(); ++block) pieces.push_back({block, tiles});
    return pieces;
  }

  // A worker's share of a batch: tiles where channels lie innermost, else whole rows of tiles, block by block.
  std::vector<Piece> PiecesOf(std::int64_t channels, Share tiles, int worker) const {
    if (layout_ == Layout::kChannelsLast) {
      const Share own = ShareOf(tiles.size(), workers(), worker);
      return AllBlocks(channels, {tiles.begin + own.begin, tiles.begin + own.end});
    }
    const std::int64_t rows = tiles.size() / tile_columns_;
    const Share own = ShareOf(channels / ChannelBlock() * rows, workers(), worker);
    std::vector<Piece> pieces;
    for (std::int64_t item = own.begin; item < own.end; ++item) {
      const std::int64_t first = tiles.begin + item % rows * tile_columns_;
      pieces.push_back({item / rows, {first, first + tile_columns_}});
    }
    return pieces;
  }

  void AddInputs(int phase, int worker, const Batch& batch, std::vector<Piece> pieces) {
    AddTask(phase, worker, [this, batch, pieces = std::move(pieces)](const KernelBuffers& buffers) {
      FromSource(buffers, batch, pieces);
    });
  }

  void AddResults(int phase, int worker, const Batch& batch, std::vector<Piece> pieces) {
    AddTask(phase, worker, [this, batch, pieces = std::move(pieces)](const KernelBuffers& buffers) {
      ToOutput(buffers, batch, pieces);
    });
  }

  void AddProducts(const KernelRequest& request, int phase, int worker, const Batch& batch, Share numbers,
                   const std::vector<float>& weights) {
    const std::int64_t tiles = batch.tiles.size();
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
    for (std::int64_t number = numbers.begin; number < numbers.end; ++number) {
      const auto at = [number](std::int64_t bytes) { return static_cast<std::size_t>(number * bytes); };
      AddPrimitive(phase, worker, primitive, product.scratchpad_desc(),
                   {{DNNL_ARG_SRC, product.src_desc(), batch.inputs.Plus(at(MatrixBytes(inputs_channels_, tiles)))},
                    {DNNL_ARG_WEIGHTS, product.weights_desc(),
                     transformed.Plus(at(static_cast<std::int64_t>(product.weights_desc().get_size())))},
                    {DNNL_ARG_DST, product.dst_desc(), batch.results.Plus(at(MatrixBytes(results_channels_, tiles)))}});
    }
  }

  // The rows of tiles in a piece: calls use(image, row, column, tiles, floats to the first tile in the matrix of a
  // number).
  template <typename Use>
  void ForRows(const Batch& batch, const Piece& piece, const Use& use) const {
    for (std::int64_t tile = piece.tiles.begin; tile < piece.tiles.end;) {
      const std::int64_t row = tile / tile_columns_, column = tile % tile_columns_;
      const std::int64_t tiles = std::min(tile_columns_ - column, piece.tiles.end - tile);
      use(row / tile_rows_, row % tile_rows_, column, tiles,
          (piece.block * batch.tiles.size() + tile - batch.tiles.begin) * ChannelBlock());
      tile += tiles;
    }
  }

  // Floats from one pixel to the next in a tensor of this shape.
  std::int64_t PixelOf(const Shape& shape) const {
    return layout_ == Layout::kChannelsLast ? shape[1] : ChannelBlock();
  }

  void FromSource(const KernelBuffers& buffers, const Batch& batch, const std::vector<Piece>& pieces) const {
    const auto* source = reinterpret_cast<const float*>(buffers.inputs[source_]);
    auto* transformed = reinterpret_cast<float*>(batch.inputs.Write(buffers));
    const std::int64_t stride = MatrixBytes(inputs_channels_, batch.tiles.size()) / kFloat;
    const Shape& before = shapes_.window.pads_begin;
    for (const Piece& piece : pieces) {
      ForRows(batch, piece,
              [&](std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t tiles, std::int64_t at) {
                const BlockRow line{.rows = shapes_.source[2],
                                    .columns = shapes_.source[3],
                                    .first_row = row * kWinogradResults - before[0],
                                    .first_column = column * kWinogradResults - before[1],
                                    .tiles = tiles,
                                    .pixel = PixelOf(shapes_.source)};
                const std::size_t offset = OffsetOf(shapes_.source, layout_, image, piece.block * ChannelBlock());
                TransformInputs(line, source + offset / sizeof(float), transformed + at, stride);
              });
    }
  }

  void ToOutput(const KernelBuffers& buffers, const Batch& batch, const std::vector<Piece>& pieces) const {
    const auto* transformed = reinterpret_cast<const float*>(batch.results.Read(buffers));
    const auto* bias = reinterpret_cast<const float*>(bias_.Read(buffers));
    const auto* residual = residual_ ? reinterpret_cast<const float*>(buffers.inputs[*residual_]) : nullptr;
    auto* output = reinterpret_cast<float*>(buffers.outputs[0]);
    const std::int64_t stride = MatrixBytes(results_channels_, batch.tiles.size()) / kFloat;
    for (const Piece& piece : pieces) {
      const std::int64_t channel = piece.block * ChannelBlock();
      ForRows(batch, piece,
              [&](std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t tiles, std::int64_t at) {
                const BlockRow line{.rows = shapes_.output[2],
                                    .columns = shapes_.output[3],
                                    .first_row = row * kWinogradResults,
                                    .first_column = column * kWinogradResults,
                                    .tiles = tiles,
                                    .pixel = PixelOf(shapes_.output)};
                const std::size_t offset = OffsetOf(shapes_.output, layout_, image, channel) / sizeof(float);
                TransformResults(
                    line, transformed + at, stride,
                    {bias + channel, residual != nullptr ? residual + offset : nullptr, bounds_.least, bounds_.most},
                    output + offset);
              });
    }
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
  Layout layout_;
  Bounds bounds_;
  std::int64_t inputs_channels_, results_channels_;  // whole blocks
  std::int64_t tile_rows_, tile_columns_;            // of an image
  std::size_t source_ = 0;
  std::optional<std::size_t> residual_;
  Operand bias_;
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

bool WinogradPays(const KernelRequest& request, const Epilogue& epilogue) {
  if (!CanTakeWinograd(*request.model, epilogue)) return false;
  const Shapes shapes = ShapesOf(*request.model, epilogue);
  const std::int64_t inputs = shapes.source[1], results = shapes.output[1], images = shapes.source[0];
  const std::int64_t tiles_of_image = TilesAlong(shapes.output[2]) * TilesAlong(shapes.output[3]);
  const bool wide = ChannelBlock() == kWideBlock;
  const bool last = ConvolutionLayoutOf(request, epilogue, shapes) == Layout::kChannelsLast;
  if (last && !HasWholeBlocks(shapes)) return false;
  if (inputs < ChannelBlock() || (wide && !last && tiles_of_image < kFewestWideTiles)) return false;
  const Costs& costs = last ? kLastCosts : wide ? kWideCosts : kNarrowCosts;
  const auto tiles = static_cast<double>(images * tiles_of_image);
  const auto pairs = static_cast<double>(inputs * results);
  const double by_definition =
      costs.direct_seconds * static_cast<double>(images * shapes.output[2] * shapes.output[3]) * pairs;
  const double transforms = costs.call_seconds + tiles * (costs.input_seconds * static_cast<double>(inputs) +
                                                          costs.result_seconds * static_cast<double>(results));
  return (last ? 1 : kWorthIt) * by_definition >
         transforms + (costs.product_seconds * tiles + costs.weight_seconds) * pairs;
}

std::unique_ptr<Kernel> MakeWinogradConvolution(const KernelRequest& request, const Epilogue& epilogue) {
  return std::make_unique<WinogradConvolution>(request, epilogue);
}

}  // namespace millrace
