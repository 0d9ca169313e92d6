// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "millrace/errors/errors.h"
#include "millrace/workloads/model_builder.h"
#include "millrace/workloads/model_families.h"

// WaveNet (van den Oord et al.: "WaveNet: a generative model for raw audio", 2016): stacks of causal convolutions of
// width 2, dilated by 1, 2, 4, ... within a stack, with gated activations, residual and skip connections, over 256
// levels of amplitude. The paper gives no widths; 512 features (--hidden) and skips of half as many are those of Engel
// et al.: "Neural audio synthesis of musical notes with WaveNet autoencoders", 2017. Layers are counted over all
// stacks, so that two stacks of 18 layers dilate up to 256. Length (6144 samples) and batch (8) are ours.
//
// The input is the waveform, batch x 1 x 1 x samples. Two-dimensional convolutions of height 1, as ONNX runtimes like
// them. Every layer is a stage; what comes before and behind belongs to the first and the last.
namespace millrace {
namespace {

constexpr std::int64_t kLevels = 256;
constexpr std::int64_t kMostDilations = 20;  // in one stack

class Wavenet {
 public:
  explicit Wavenet(const ModelOptions& options)
      : batch_(options.batch.value_or(8)),
        stacks_(options.stacks.value_or(2)),
        layers_(options.layers.value_or(18)),
        hidden_(options.hidden.value_or(512)),
        sequence_(options.sequence.value_or(6144)),
        builder_("wavenet", 13, {options.seed, options.draw_weights}) {
    if (layers_ % stacks_ != 0) {
      throw InvalidInput(fmt::format("stacks: {} layers do not split into {} equal stacks", layers_, stacks_));
    }
    if (layers_ / stacks_ > kMostDilations) {
      throw InvalidInput(fmt::format("layers: a stack has at most {} of them", kMostDilations));
    }
    if (hidden_ % 2 != 0) throw InvalidInput(fmt::format("hidden: {} features are not even", hidden_));
  }

  Model Make() {
    builder_.BeginStage(0, "input");
    const int audio = builder_.Input("audio", DataType::kFloat32, {batch_, 1, 1, sequence_});
    int x = Causal(audio, hidden_, 1, kLinearGain);
    int skip = -1;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      builder_.BeginStage(static_cast<int>(layer), fmt::format("layer{}", layer + 1));
      const std::int64_t dilation = std::int64_t{1} << (layer % (layers_ / stacks_));
      const int gated = Gate(Causal(x, 2 * hidden_, dilation, kReluGain));
      const int skipped = Point(gated, hidden_ / 2, kReluGain);
      skip = skip < 0 ? skipped : builder_.Add(skip, skipped);
      if (layer + 1 < layers_) x = builder_.Add(x, Point(gated, hidden_, kReluGain));
    }
    builder_.BeginStage(static_cast<int>(layers_) - 1, "output");
    x = builder_.Relu(Point(builder_.Relu(skip), hidden_ / 2, kReluGain));
    builder_.Output(Point(x, kLevels, kLinearGain), "logits");
    return builder_.Finish();
  }

 private:
  int Causal(int x, std::int64_t channels, std::int64_t dilation, double gain) {
    Convolution convolution;
    convolution.channels = channels;
    convolution.kernel = {1, 2};
    convolution.dilation = {1, dilation};
    convolution.pad = {0, dilation};
    convolution.pad_end = std::array<std::int64_t, 2>{0, 0};
    convolution.gain = gain;
    return builder_.Conv(x, convolution);
  }

  int Point(int x, std::int64_t channels, double gain) {
    Convolution convolution;
    convolution.channels = channels;
    convolution.gain = gain;
    return builder_.Conv(x, convolution);
  }

  int Gate(int x) {
    const std::vector<int> halves = builder_.Split(x, 1, 2);
    const int gate = builder_.Elementwise("Sigmoid", halves[1]);
    const int signal = builder_.Elementwise("Tanh", halves[0]);
    return builder_.Elementwise("Mul", signal, gate);
  }

  std::int64_t batch_, stacks_, layers_, hidden_, sequence_;
  ModelBuilder builder_;
};

}  // namespace

Model MakeWavenet(const ModelOptions& options) { return Wavenet(options).Make(); }

}  // namespace millrace
