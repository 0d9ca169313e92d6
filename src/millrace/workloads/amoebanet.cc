// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// AmoebaNet-A (Real, Aggarwal, Huang, Le: "Regularized evolution for image classifier architecture search", AAAI 2019):
// the normal and the reduction cell of its figure 2, stacked as in section 3: a stem, two reduction cells, then three
// times N normal cells (--layers, 6) with reductions between, which double the channels. The first normal cells have F
// channels (--hidden, 190) and images 331 x 331, the paper's large model for ImageNet. Without the auxiliary head and
// drop-path.
//
// Convolutions are Relu-Conv-BatchNormalization; separable ones are applied twice (Zoph et al. 2018). Every cell is a
// stage.
namespace millrace {
namespace {

enum class Piece { kSkip, kAverage, kMax, kSeparable3, kSeparable5, kSeparable7, kSevenByOne };

struct Edge {
  Piece piece;
  std::size_t from;  // 0, 1: the cells before; 2, 3, ...: the sums of the edges, two each
};

struct Cell {
  std::int64_t stride;  // of edges from the cells before
  std::array<Edge, 10> edges;
  std::array<std::size_t, 3> out;  // sums that nobody in the cell reads, joined
};

constexpr Cell kNormal = {1,
                          {{{Piece::kAverage, 0},
                            {Piece::kMax, 1},
                            {Piece::kSeparable3, 0},
                            {Piece::kSeparable5, 2},
                            {Piece::kSeparable3, 0},
                            {Piece::kAverage, 3},
                            {Piece::kSeparable3, 1},
                            {Piece::kSkip, 1},
                            {Piece::kSkip, 0},
                            {Piece::kAverage, 1}}},
                          {4, 5, 6}};

constexpr Cell kReduction = {2,
                             {{{Piece::kAverage, 0},
                               {Piece::kSeparable3, 1},
                               {Piece::kMax, 0},
                               {Piece::kSeparable7, 2},
                               {Piece::kSeparable7, 0},
                               {Piece::kAverage, 1},
                               {Piece::kMax, 0},
                               {Piece::kMax, 1},
                               {Piece::kSevenByOne, 0},
                               {Piece::kSeparable3, 5}}},
                             {3, 4, 6}};

class Amoebanet {
 public:
  explicit Amoebanet(const ModelOptions& options)
      : options_(options),
        cells_(options.layers.value_or(6)),
        channels_(options.hidden.value_or(190)),
        builder_("amoebanet", 13, {options.seed, options.draw_weights}),
        unit_(builder_, options) {}

  Model Make() {
    builder_.BeginStage(stage_, "stem");
    const std::int64_t stem = std::max<std::int64_t>(8, channels_ / 6);
    const int image = ImageInput(builder_, options_, 331);
    int x = unit_.Apply(image, {.channels = stem, .kernel = {3, 3}, .stride = 2, .pad = {1, 1}}, Activation::kNone);
    before_ = x;
    std::int64_t width = std::max<std::int64_t>(8, channels_ / 4);
    x = Apply(kReduction, x, width);
    width = std::max<std::int64_t>(8, channels_ / 2);
    x = Apply(kReduction, x, width);
    width = channels_;
    for (int part = 0; part < 3; ++part) {
      for (std::int64_t cell = 0; cell < cells_; ++cell) x = Apply(kNormal, x, width);
      if (part == 2) break;
      width *= 2;
      x = Apply(kReduction, x, width);
    }
    builder_.BeginStage(stage_ - 1, "classifier");
    x = builder_.Flatten(builder_.GlobalAveragePool(builder_.Relu(x)));
    builder_.Output(builder_.Gemm(x, 1000, kLinearGain), "logits");
    return builder_.Finish();
  }

 private:
  // Reads `x` and, through before_, the cell before it.
  int Apply(const Cell& cell, int x, std::int64_t width) {
    builder_.BeginStage(stage_, fmt::format("cell{}", stage_ + 1));
    ++stage_;
    const bool larger = builder_.ShapeOf(before_)[2] != builder_.ShapeOf(x)[2];
    std::vector<int> states = {larger ? Halve(before_, width) : Fit(before_, width), Fit(x, width)};
    for (std::size_t k = 0; k < cell.edges.size(); k += 2) {
      const int left = Follow(cell.edges[k], states, width, cell.stride);
      const int right = Follow(cell.edges[k + 1], states, width, cell.stride);
      states.push_back(builder_.Add(left, right));
    }
    before_ = x;
    return builder_.Concat({states[cell.out[0]], states[cell.out[1]], states[cell.out[2]]}, 1);
  }

  int ReluConv(int x, Convolution convolution) { return unit_.Apply(builder_.Relu(x), convolution, Activation::kNone); }

  int Fit(int x, std::int64_t width) { return ReluConv(x, {.channels = width}); }

  // To half the size, by two convolutions that read other pixels each.
  int Halve(int x, std::int64_t width) {
    const int active = builder_.Relu(x);
    const Shape shape = builder_.ShapeOf(x);
    const int moved = builder_.Slice(builder_.Pad(active, 2, 0, 1), 2, 1, shape[2] + 1);
    const int aside = builder_.Slice(builder_.Pad(moved, 3, 0, 1), 3, 1, shape[3] + 1);
    const auto half = [&](int part, std::int64_t channels) {
      return unit_.Apply(part, {.channels = channels, .stride = 2}, Activation::kNone);
    };
    return builder_.Concat({half(active, width - width / 2), half(aside, width / 2)}, 1);
  }

  int Follow(const Edge& edge, const std::vector<int>& states, std::int64_t width, std::int64_t reduction) {
    const int x = states[edge.from];
    const std::int64_t stride = edge.from < 2 ? reduction : 1;  // sums in the cell have its size already
    switch (edge.piece) {
      case Piece::kSkip:
        return x;
      case Piece::kAverage:
        return builder_.AveragePool(x, {.kernel = 3, .stride = stride, .pad = 1});
      case Piece::kMax:
        return builder_.MaxPool(x, {.kernel = 3, .stride = stride, .pad = 1});
      case Piece::kSeparable3:
        return Separable(x, width, 3, stride);
      case Piece::kSeparable5:
        return Separable(x, width, 5, stride);
      case Piece::kSeparable7:
        return Separable(x, width, 7, stride);
      case Piece::kSevenByOne:
        return SevenByOne(x, width, stride);
    }
    return x;
  }

  int Separable(int x, std::int64_t width, std::int64_t kernel, std::int64_t stride) {
    for (const std::int64_t step : {stride, std::int64_t{1}}) {
      Convolution depthwise = {.channels = width, .kernel = {kernel, kernel}, .stride = step};
      depthwise.pad = {kernel / 2, kernel / 2};
      depthwise.groups = width;
      depthwise.bias = false;
      x = unit_.Apply(builder_.Conv(builder_.Relu(x), depthwise), {.channels = width, .gain = kLinearGain},
                      Activation::kNone);
    }
    return x;
  }

  int SevenByOne(int x, std::int64_t width, std::int64_t stride) {
    Convolution row = {.channels = width, .kernel = {1, 7}, .pad = {0, 3}};
    row.bias = false;
    return unit_.Apply(builder_.Conv(builder_.Relu(x), row),
                       {.channels = width, .kernel = {7, 1}, .stride = stride, .pad = {3, 0}, .gain = kLinearGain},
                       Activation::kNone);
  }

  const ModelOptions& options_;
  std::int64_t cells_, channels_;
  ModelBuilder builder_;
  ConvolutionUnit unit_;
  int stage_ = 0;
  int before_ = -1;
};

}  // namespace

Model MakeAmoebanet(const ModelOptions& options) { return Amoebanet(options).Make(); }

}  // namespace millrace
