// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/convolution.h"

#include <algorithm>
#include <map>

#include "millrace/errors/errors.h"
#include "millrace/runtime/blocked_tensor.h"
#include "millrace/runtime/convolution_layout.h"
#include "millrace/runtime/epilogue.h"
#include "millrace/runtime/folded_weights.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/window.h"
#include "millrace/runtime/winograd_convolution.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

// The result of the part of it that is made while a residual copied there is still in the second-level cache.
constexpr std::int64_t kResidualTileBytes = std::int64_t{512} * 1024;

// Multiplications by the definition, below which the transforms of Winograd's way cost more than they save.
constexpr std::int64_t kWinogradProducts = 500'000;
constexpr std::int64_t kSmallestBatch = 4, kLargestBatch = 31;  // of its tiles

// A part of the result: some images, some output channels (whole groups where there are several), some rows (all,
// unless channels lie innermost).
struct Part {
  Share images;
  Share channels;
  Share rows;
};

class ConvolutionKernel : public PrimitiveKernel {
 public:
  ConvolutionKernel(const KernelRequest& request, const Epilogue& epilogue)
      : PrimitiveKernel(request), model_(*request.model), epilogue_(epilogue) {
    const Node& node = model_.nodes[static_cast<std::size_t>(epilogue.nodes.front())];
    source_ = node.inputs[0];
    source_shape_ = model_.values[static_cast<std::size_t>(source_)].shape;
    output_shape_ = model_.values[static_cast<std::size_t>(epilogue.output)].shape;
    weights_shape_ = model_.values[static_cast<std::size_t>(node.inputs[1])].shape;
    groups_ = Model::IntOf(node, "group", 1);
    window_ = WindowOf(node, Shape(source_shape_.begin() + 2, source_shape_.end()),
                       Shape(weights_shape_.begin() + 2, weights_shape_.end()));
    FoldWeights(node);
    ChooseLayouts(request);
    input_specs_[InputIndex(source_)].layout = source_layout_;
    if (epilogue_.residual >= 0) input_specs_[InputIndex(epilogue_.residual)].layout = output_layout_;
    output_specs_.front().layout = output_layout_;
    for (int worker = 0; worker < workers(); ++worker) {
      for (const Part& part : PartsOf(worker)) AddPart(request, worker, part);
    }
    plain_weights_.clear();
    plain_weights_.shrink_to_fit();
  }

 private:
  std::int64_t channels_per_group() const { return weights_shape_[0] / groups_; }

  // Weights and bias with scale and shift in them, plain; or the inputs that hold them.
  void FoldWeights(const Node& node) {
    FoldedWeights folded = FoldedWeightsOf(model_, node, epilogue_);
    weights_are_computed_ = folded.weights.empty();
    if (weights_are_computed_) computed_weights_ = Operand::Input(InputIndex(node.inputs[1]));
    plain_weights_ = std::move(folded.weights);
    bias_ = folded.bias.empty() ? Operand::Input(InputIndex(node.inputs[2])) : KeepFloats(folded.bias);
  }

  std::int64_t WeightBytes() const {
    return ElementsFrom(weights_shape_, 0) * static_cast<std::int64_t>(sizeof(float));
  }

  // The first pair of layouts that oneDNN has a fast implementation for.
  void ChooseLayouts(const KernelRequest& request) {
    struct Pair {
      Layout source, output;
    };
    std::vector<Pair> pairs;
    if (source_shape_.size() == 4 && !weights_are_computed_) {
      if (TakesChannelsLast(request)) pairs.push_back({Layout::kChannelsLast, Layout::kChannelsLast});
      const bool few_channels = groups_ == 1 && source_shape_[1] < ChannelBlock();
      pairs.push_back({few_channels ? Layout::kPlain : Layout::kBlocked, Layout::kBlocked});
      if (epilogue_.residual == source_ && few_channels) pairs.pop_back();
    }
    pairs.push_back({Layout::kPlain, Layout::kPlain});
    for (const Pair& pair : pairs) {
      source_layout_ = pair.source;
      output_layout_ = pair.output;
      const bool plain = pair.source == Layout::kPlain && pair.output == Layout::kPlain;
      const std::vector<Part> parts = PartsOf(0);
      if (parts.empty()) continue;
      const std::string implementation = Describe(parts.front()).impl_info_str();
      // It applies post-ops element by element, up to fifteen times slower than passes of their own.
      const bool by_gemm = implementation.find("gemm") != std::string::npos;
      if (plain) post_ops_apart_ = by_gemm;
      const bool slow = IsReference(implementation.c_str()) || (pair.source == Layout::kChannelsLast && by_gemm);
      if (!slow) return;
    }
  }

  // Convolutions in groups multiply too little for their tensors to be turned over. Some rows of a result may read
  // nothing of the source where windows lie in padding alone.
  bool TakesChannelsLast(const KernelRequest& request) const {
    const bool at_hand = request.available[static_cast<std::size_t>(source_)] == Layout::kChannelsLast;
    if ((groups_ > 1 && !at_hand) || MayBePadding(window_)) return false;
    return ConvolutionLayout(request, source_, WeightBytes(), output_shape_) == Layout::kChannelsLast;
  }

  // Channels that a part's border must be a multiple of.
  std::int64_t Grain() const {
    const std::int64_t block = output_layout_ == Layout::kBlocked ? ChannelBlock() : 1;
    if (groups_ == 1) return ChannelBlock();
    const std::int64_t per_group = channels_per_group();
    return per_group >= block ? per_group : per_group * block;
  }

  std::vector<Part> PartsOf(int worker) const {
    if (output_layout_ == Layout::kChannelsLast) return RowsOf(worker);
    const std::int64_t images = output_shape_[0];
    const std::int64_t channels = output_shape_[1];
    const std::int64_t grain = Grain();
    const std::int64_t grains = (channels + grain - 1) / grain;
    std::vector<Part> parts;
    const bool by_images = AreImagesShared(output_shape_, workers()) || grains == 1;
    const Share rows = RowsOfImage();
    const Share own_images = by_images ? ShareOf(images, workers(), worker) : Share{0, images};
    const Share own_channels = by_images ? Share{0, channels} : ShareOf(channels, workers(), worker, grain);
    if (own_images.size() == 0 || own_channels.size() == 0) return parts;
    const std::int64_t channel_bytes = ElementsFrom(output_shape_, 2) * static_cast<std::int64_t>(sizeof(float));
    if (epilogue_.residual >= 0 || !by_images) {
      std::int64_t most = own_channels.size();
      if (epilogue_.residual >= 0 && groups_ == 1)
        most = std::max<std::int64_t>(kResidualTileBytes / channel_bytes / 64 * 64, 64);
      for (std::int64_t image = own_images.begin; image < own_images.end; ++image) {
        for (std::int64_t at = own_channels.begin; at < own_channels.end; at += most)
          parts.push_back({{image, image + 1}, {at, std::min(at + most, own_channels.end)}, rows});
      }
    } else {
      parts.push_back({own_images, own_channels, rows});
    }
    return parts;
  }

  Share RowsOfImage() const { return {0, output_shape_[2]}; }

  // A worker's parts where channels lie innermost: images, or rows of them, in as many as it takes to find a residual
  // that is copied in still in the cache.
  std::vector<Part> RowsOf(int worker) const {
    const std::int64_t images = output_shape_[0];
    const Share channels{0, output_shape_[1]};
    std::vector<Part> parts;
    const bool by_images = AreImagesShared(output_shape_, workers());
    if (by_images && epilogue_.residual < 0) {
      const Share own = ShareOf(images, workers(), worker);
      if (own.size() > 0) parts.push_back({own, channels, RowsOfImage()});
      return parts;
    }
    const std::int64_t row_bytes = channels.size() * output_shape_[3] * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t most =
        epilogue_.residual < 0 ? output_shape_[2] : std::max<std::int64_t>(kResidualTileBytes / row_bytes, 1);
    const auto add = [&](std::int64_t image, Share rows) {
      for (std::int64_t row = rows.begin; row < rows.end; row += most)
        parts.push_back({{image, image + 1}, channels, {row, std::min(row + most, rows.end)}});
    };
    if (by_images) {
      const Share own = ShareOf(images, workers(), worker);
      for (std::int64_t image = own.begin; image < own.end; ++image) add(image, RowsOfImage());
    } else {
      ForOwnRows(images, output_shape_[2], workers(), worker, add);
    }
    return parts;
  }

  RowBand BandOf(const Part& part) const { return RowBandOf(window_, part.rows, source_shape_[2]); }

  std::int64_t GroupsOf(const Part& part) const {
    return groups_ == 1 ? 1 : part.channels.size() / channels_per_group();
  }

  Share SourceChannelsOf(const Part& part) const {
    if (groups_ == 1) return {0, source_shape_[1]};
    const std::int64_t first = part.channels.begin / channels_per_group() * weights_shape_[1];
    return {first, first + GroupsOf(part) * weights_shape_[1]};
  }

  // Weights of the part, row-major.
  dnnl::memory::desc PlainWeights(const Part& part) const {
    Shape shape = weights_shape_;
    shape[0] = part.channels.size();
    if (groups_ > 1) {
      shape[0] = channels_per_group();
      shape.insert(shape.begin(), GroupsOf(part));
    }
    return PlainDescription(shape);
  }

  dnnl::convolution_forward::primitive_desc Describe(const Part& part) const {
    Shape source = source_shape_, output = output_shape_, before = window_.pads_begin, behind = window_.pads_end;
    source[0] = output[0] = part.images.size();
    source[1] = SourceChannelsOf(part).size();
    output[1] = part.channels.size();
    if (output_layout_ == Layout::kChannelsLast && part.rows.size() < output_shape_[2]) {
      const RowBand band = BandOf(part);
      source[2] = band.source.size();
      output[2] = part.rows.size();
      before[0] = band.before;
      behind[0] = band.behind;
    }
    const dnnl::memory::desc plain = PlainWeights(part);
    const dnnl::memory::desc weights =
        weights_are_computed_
            ? plain
            : dnnl::memory::desc(plain.dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
    Shape dilations = window_.dilations;
    for (std::int64_t& dilation : dilations) --dilation;
    dnnl::primitive_attr attributes = PrimitiveAttributes();
    dnnl::post_ops post_ops;
    if (!post_ops_apart_) {
      if (epilogue_.residual >= 0) post_ops.append_sum(1.0f);
      Append(epilogue_.activation, post_ops);
    }
    attributes.set_post_ops(post_ops);
    const auto describe = [&](dnnl::algorithm algorithm, bool or_empty) {
      return dnnl::convolution_forward::primitive_desc(
          {dnnl::prop_kind::forward_inference, algorithm, DescriptionOf(source, source_layout_), weights,
           PlainDescription({part.channels.size()}), DescriptionOf(output, output_layout_), window_.strides, dilations,
           before, behind},
          attributes, CpuEngine(), or_empty);
    };
    if (TakesWinograd(part)) {
      // Twice as fast where oneDNN has it: 3x3 in steps of one, on processors with AVX-512. Its rounding errors are up
      // to three times those of sums of products: 6e-7 of the results' root mean square.
      if (auto winograd = describe(dnnl::algorithm::convolution_winograd, true)) return winograd;
    }
    return describe(dnnl::algorithm::convolution_direct, false);
  }

  bool TakesWinograd(const Part& part) const {
    if (output_layout_ != Layout::kBlocked || source_layout_ != Layout::kBlocked || groups_ > 1) return false;
    if (output_shape_.size() != 4) return false;
    const std::int64_t results = part.images.size() * part.channels.size() * ElementsFrom(output_shape_, 2);
    if (results * ElementsFrom(weights_shape_, 1) < kWinogradProducts) return false;
    // oneDNN takes tiles of four by four in batches that divide their number. Where none does, as with 37 x 37 tiles,
    // it is slower than sums of products.
    const auto tiles_along = [this](std::size_t axis) { return (output_shape_[axis] + 3) / 4; };
    const std::int64_t tiles = part.images.size() * tiles_along(2) * tiles_along(3);
    for (std::int64_t batch = kLargestBatch; batch >= kSmallestBatch; --batch) {
      if (tiles % batch == 0) return true;
    }
    return tiles < kSmallestBatch;
  }

  void AddPart(const KernelRequest& request, int worker, const Part& part) {
    const RowBand band = BandOf(part);
    const bool innermost = output_layout_ == Layout::kChannelsLast;
    // Of parts that differ in nothing else, one primitive does.
    const std::vector<std::int64_t> key = {part.images.size(), part.channels.size(), part.rows.size(),
                                           innermost ? band.before : 0, innermost ? band.behind : 0};
    auto found = described_.find(key);
    if (found == described_.end()) {
      const auto description = Describe(part);
      found = described_.emplace(key, Described{description, dnnl::convolution_forward(description)}).first;
    }
    const dnnl::convolution_forward::primitive_desc& description = found->second.description;
    const Operand output =
        Operand::Output(0, innermost ? RowBytes(output_shape_, part.images.begin, part.rows.begin)
                                     : OffsetOf(output_shape_, output_layout_, part.images.begin, part.channels.begin));
    if (epilogue_.residual >= 0 && !post_ops_apart_) {
      const Operand residual = Operand::Input(InputIndex(epilogue_.residual), output.offset);
      AddCopy(0, worker, residual, output, description.dst_desc().get_size());
    }
    const Operand source = Operand::Input(
        InputIndex(source_),
        innermost ? RowBytes(source_shape_, part.images.begin, band.source.begin)
                  : OffsetOf(source_shape_, source_layout_, part.images.begin, SourceChannelsOf(part).begin));
    AddPrimitive(0, worker, found->second.primitive, description.scratchpad_desc(),
                 {{DNNL_ARG_SRC, description.src_desc(), source},
                  {DNNL_ARG_WEIGHTS, description.weights_desc(), WeightsOf(request, part, description.weights_desc())},
                  {DNNL_ARG_BIAS, description.bias_desc(),
                   bias_.Plus(static_cast<std::size_t>(part.channels.begin) * sizeof(float))},
                  {DNNL_ARG_DST, description.dst_desc(), output}});
    if (post_ops_apart_) AddPostOps(worker, output, description.dst_desc().get_size());
  }

  static std::size_t RowBytes(const Shape& shape, std::int64_t image, std::int64_t row) {
    return RowOffset(shape, image, row) * sizeof(float);
  }

  // The residual and the activation, in passes over a part just made.
  void AddPostOps(int worker, const Operand& output, std::size_t bytes) {
    const std::size_t floats = bytes / sizeof(float);
    if (epilogue_.residual >= 0) {
      const Operand residual = Operand::Input(InputIndex(epilogue_.residual), output.offset);
      AddTask(0, worker, [residual, output, floats](const KernelBuffers& buffers) {
        const auto* from = reinterpret_cast<const float*>(residual.Read(buffers));
        auto* to = reinterpret_cast<float*>(output.Write(buffers));
        for (std::size_t i = 0; i < floats; ++i) to[i] += from[i];
      });
    }
    const dnnl::memory::desc flat = PlainDescription({static_cast<std::int64_t>(floats)});
    for (const ActivationStep& step : epilogue_.activation) {
      const dnnl::eltwise_forward::primitive_desc description(
          {dnnl::prop_kind::forward_inference, step.algorithm, flat, step.alpha, step.beta}, PrimitiveAttributes(),
          CpuEngine());
      AddPrimitive(0, worker, dnnl::eltwise_forward(description), description.scratchpad_desc(),
                   {{DNNL_ARG_SRC, flat, output}, {DNNL_ARG_DST, flat, output}});
    }
  }

  Operand WeightsOf(const KernelRequest& request, const Part& part, const dnnl::memory::desc& wanted) {
    const auto per_channel = static_cast<std::size_t>(ElementsFrom(weights_shape_, 1));
    const std::size_t first = static_cast<std::size_t>(part.channels.begin) * per_channel;
    if (weights_are_computed_) return computed_weights_.Plus(first * sizeof(float));
    for (const Kept& kept : kept_weights_) {
      if (kept.begin == part.channels.begin && kept.description == wanted) return kept.operand;
    }
    const std::string key = "channels " + std::to_string(part.channels.begin);
    kept_weights_.push_back({part.channels.begin, wanted,
                             KeepWeights(request, key, PlainWeights(part), plain_weights_.data() + first, wanted)});
    return kept_weights_.back().operand;
  }

  struct Described {
    dnnl::convolution_forward::primitive_desc description;
    dnnl::convolution_forward primitive;
  };

  struct Kept {
    std::int64_t begin;
    dnnl::memory::desc description;
    Operand operand;
  };

  const Model& model_;
  Epilogue epilogue_;
  int source_ = -1;
  Shape source_shape_, output_shape_, weights_shape_;
  std::int64_t groups_ = 1;
  SlidingWindow window_;
  Layout source_layout_ = Layout::kPlain;
  Layout output_layout_ = Layout::kPlain;
  bool post_ops_apart_ = false;
  std::vector<float> plain_weights_;
  bool weights_are_computed_ = false;
  Operand computed_weights_, bias_;
  std::map<std::vector<std::int64_t>, Described> described_;
  std::vector<Kept> kept_weights_;
};

std::string UnsupportedConvolution(const Model& model, int node) {
  if (std::string reason = RefuseTypes(model, node); !reason.empty()) return reason;
  if (std::string reason = RefuseConstant(model, node); !reason.empty()) return reason;
  const std::size_t rank =
      model.values[static_cast<std::size_t>(model.nodes[static_cast<std::size_t>(node)].inputs[0])].shape.size();
  if (rank < 3 || rank > 5) return "Conv with " + std::to_string(static_cast<int>(rank) - 2) + " spatial dimensions";
  return "";
}

}  // namespace

std::unique_ptr<Kernel> MakeConvolution(const KernelRequest& request) {
  const Epilogue epilogue = EpilogueOf(*request.model, request.nodes, request.nodes.front(), 1);
  if (WinogradPays(request, epilogue)) return MakeWinogradConvolution(request, epilogue);
  return std::make_unique<ConvolutionKernel>(request, epilogue);
}

std::vector<KernelEntry> ConvolutionKernels() { return {{"Conv", MakeConvolution, UnsupportedConvolution}}; }

}  // namespace millrace
