// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/formats/model.h"

// Well-known networks as real, runnable ONNX models with seeded random weights, scaled so that activations keep about
// the size of the input through all layers and outputs depend on every weight.
//
//   inception_v3   Szegedy et al. 2016, without the auxiliary head; 299 x 299
//   resnet50       He et al. 2016, stride in the 3 x 3 convolution (v1.5); --layers 50, 101 or 152; 224 x 224
//   squeezenet     Iandola et al. 2016, version 1.1; 224 x 224
//   mobilenet_v2   Sandler et al. 2018; 224 x 224
//   bert_base      Devlin et al. 2019, with pooler, every token attended to; inputs are int64 ids of tokens and
//                  segments
//   lstm_lm        the medium language model of Zaremba et al. 2014; input int64 ids, sequence x batch
//   towers         eight towers of four small Gemm + Relu on one input, concatenated
//
// More of that kind, where branches are thin and many; --towers says how many:
//
//   ensemble       eight small convolutional networks on one image, their answers averaged
//   detector       three feature maps with two heads of convolutions on each
//   recommender    embeddings of eight features with a tower of dense layers each, a dense tower, a joint top; inputs
//                  float32 and, for each feature, int64 ids
//   mixture_of_experts  blocks of eight experts that a gate weights
//   lstm_stacks    four stacks of LSTM layers on one sequence
//
// The families of the GO paper beside inception_v3, unrolled into primitive ops (sizes: go_workloads.h):
//
//   rnnlm          LSTM language model; input int64 ids, all samples of a step, then those of the next
//   gnmt           translation with attention, Wu et al. 2016; inputs as rnnlm's, source and target
//   transformer_xl Dai et al. 2019, over several segments; inputs int64 ids, batch x segment, positions, mask, memory
//   amoebanet      AmoebaNet-A, Real et al. 2019; --layers normal cells between reductions, --hidden channels of the
//   first wavenet        van den Oord et al. 2016; input float32, batch x 1 x 1 x samples
//
// The convolutional ones take float32 images, batch x 3 x image x image, and give batch x 1000 logits.
namespace millrace {

inline constexpr std::int64_t kLargestModelSize = 1 << 20;

// A size left out is the network's own; one that a network does not have is refused.
struct ModelOptions {
  std::uint64_t seed = 0;
  bool draw_weights = true;           // false: each weight is one number, repeated; enough for its graph, and quick
  std::optional<std::int64_t> batch;  // 1; 16 or 32 where dense layers are all there is
  std::optional<std::int64_t> image;  // height and width
  std::optional<double> width;  // factor on the channels of convolutions, which are then rounded to multiples of 8
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> heads;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> vocabulary;
  std::optional<std::int64_t> towers;      // members of an ensemble, features, experts, stacks
  std::optional<std::int64_t> chunks;      // pieces of the sequence: lstm_lm's LSTM nodes, transformer_xl's segments
  std::optional<std::int64_t> stacks;      // wavenet: its layers are split into so many
  bool keep_batch_normalization = false;   // as nodes of their own, not folded into the convolutions before
  bool split_layer_normalization = false;  // into nine nodes of opset 13, not one of opset 17
};

const std::vector<std::string>& ModelNames();

// Those whose usual sizes are for inference on one processor: without the GO paper's that are made to be trained on
// several accelerators.
const std::vector<std::string>& InferenceModelNames();

// Throws InvalidInput for an unknown name, and for sizes that the network does not have or that do not fit together.
Model MakeModel(std::string_view name, const ModelOptions& options);

}  // namespace millrace
