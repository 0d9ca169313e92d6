// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/workloads/convolution_unit.h"
#include "millrace/workloads/model_families.h"

// Inception v3 (Szegedy, Vanhoucke, Ioffe, Shlens, Wojna: "Rethinking the Inception architecture for computer vision",
// CVPR 2016), with the channels of the published weights.
namespace millrace {
namespace {

class Inception {
 public:
  explicit Inception(const ModelOptions& options)
      : options_(options),
        builder_("inception_v3", 13, {options.seed, options.draw_weights}),
        unit_(builder_, options) {}

  Model Make() {
    Begin("stem");
    int x = ImageInput(builder_, options_, 299);
    x = Conv(x, 32, 3, {.stride = 2});
    x = Conv(x, 32, 3);
    x = Conv(x, 64, 3, {.pad = {1, 1}});
    x = builder_.MaxPool(x, {.kernel = 3, .stride = 2});
    x = Conv(x, 80, 1);
    x = Conv(x, 192, 3);
    x = builder_.MaxPool(x, {.kernel = 3, .stride = 2});
    for (const std::int64_t pool_channels : {32, 64, 64}) x = MixedA(x, pool_channels);
    x = ReductionA(x);
    for (const std::int64_t channels : {128, 160, 160, 192}) x = MixedB(x, channels);
    x = ReductionB(x);
    for (int block = 0; block < 2; ++block) x = MixedC(x);
    Begin("classifier");
    x = builder_.Flatten(builder_.GlobalAveragePool(x));
    builder_.Output(builder_.Gemm(x, 1000, kLinearGain), "logits");
    return builder_.Finish();
  }

 private:
  void Begin(const std::string& name) { builder_.BeginStage(stage_++, name); }

  void BeginMixed() { Begin(fmt::format("mixed{}", stage_ - 1)); }

  int Conv(int x, std::int64_t channels, std::int64_t kernel, Convolution rest = {}) {
    rest.channels = unit_.Scaled(channels);
    rest.kernel = {kernel, kernel};
    return unit_.Apply(x, rest, Activation::kRelu);
  }

  // One row of n x 1 or one column of 1 x n, padded so that the image keeps its size.
  int Row(int x, std::int64_t channels, std::int64_t n) {
    return unit_.Apply(x, {.channels = unit_.Scaled(channels), .kernel = {1, n}, .pad = {0, n / 2}}, Activation::kRelu);
  }
  int Column(int x, std::int64_t channels, std::int64_t n) {
    return unit_.Apply(x, {.channels = unit_.Scaled(channels), .kernel = {n, 1}, .pad = {n / 2, 0}}, Activation::kRelu);
  }

  int PoolAndConv(int x, std::int64_t channels) {
    return Conv(builder_.AveragePool(x, {.kernel = 3, .stride = 1, .pad = 1}), channels, 1);
  }

  int MixedA(int x, std::int64_t pool_channels) {
    BeginMixed();
    const int one = Conv(x, 64, 1);
    const int five = Conv(Conv(x, 48, 1), 64, 5, {.pad = {2, 2}});
    const int three = Conv(Conv(Conv(x, 64, 1), 96, 3, {.pad = {1, 1}}), 96, 3, {.pad = {1, 1}});
    const int pool = PoolAndConv(x, pool_channels);
    return builder_.Concat({one, five, three, pool}, 1);
  }

  int ReductionA(int x) {
    BeginMixed();
    const int three = Conv(x, 384, 3, {.stride = 2});
    const int twice = Conv(Conv(Conv(x, 64, 1), 96, 3, {.pad = {1, 1}}), 96, 3, {.stride = 2});
    const int pool = builder_.MaxPool(x, {.kernel = 3, .stride = 2});
    return builder_.Concat({three, twice, pool}, 1);
  }

  int MixedB(int x, std::int64_t channels) {
    BeginMixed();
    const int one = Conv(x, 192, 1);
    const int seven = Column(Row(Conv(x, channels, 1), channels, 7), 192, 7);
    int twice = Column(Conv(x, channels, 1), channels, 7);
    twice = Column(Row(twice, channels, 7), channels, 7);
    twice = Row(twice, 192, 7);
    const int pool = PoolAndConv(x, 192);
    return builder_.Concat({one, seven, twice, pool}, 1);
  }

  int ReductionB(int x) {
    BeginMixed();
    const int three = Conv(Conv(x, 192, 1), 320, 3, {.stride = 2});
    const int seven = Conv(Column(Row(Conv(x, 192, 1), 192, 7), 192, 7), 192, 3, {.stride = 2});
    const int pool = builder_.MaxPool(x, {.kernel = 3, .stride = 2});
    return builder_.Concat({three, seven, pool}, 1);
  }

  int RowBesideColumn(int x) {
    const int row = Row(x, 384, 3);
    const int column = Column(x, 384, 3);
    return builder_.Concat({row, column}, 1);
  }

  int MixedC(int x) {
    BeginMixed();
    const int one = Conv(x, 320, 1);
    const int three = RowBesideColumn(Conv(x, 384, 1));
    const int twice = RowBesideColumn(Conv(Conv(x, 448, 1), 384, 3, {.pad = {1, 1}}));
    const int pool = PoolAndConv(x, 192);
    return builder_.Concat({one, three, twice, pool}, 1);
  }

  const ModelOptions& options_;
  ModelBuilder builder_;
  ConvolutionUnit unit_;
  int stage_ = 0;
};

}  // namespace

Model MakeInceptionV3(const ModelOptions& options) { return Inception(options).Make(); }

}  // namespace millrace
