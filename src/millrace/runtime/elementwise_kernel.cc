// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/elementwise_kernel.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "millrace/errors/errors.h"
#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/group_values.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/reorder.h"

namespace millrace {
namespace {

constexpr std::int64_t kBlockElements = 2048;  // of a group of several nodes: its intermediates fit in the first cache
constexpr std::size_t kMaximalInputs = 32;

const Value& ValueOf(const Model& model, int id) { return model.values[static_cast<std::size_t>(id)]; }

// Strides of a row-major tensor read along the output's dimensions; false where the shapes do not broadcast.
bool BroadcastStrides(const Shape& shape, const Shape& to, std::vector<std::int64_t>& strides) {
  if (shape.size() > to.size()) return false;
  strides.assign(to.size(), 0);
  const std::vector<std::int64_t> own = StridesOf(shape);
  const std::size_t lead = to.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == to[lead + d]) {
      strides[lead + d] = shape[d] == 1 ? 0 : own[d];
    } else if (shape[d] != 1) {
      return false;
    }
  }
  return true;
}

std::int64_t ChannelBlocks(std::int64_t channels) { return (channels + ChannelBlock() - 1) / ChannelBlock(); }

// A blocked tensor as a row-major one of five dimensions.
Shape BlockedShape(const Shape& shape) {
  return {shape[0], ChannelBlocks(shape[1]), shape[2], shape[3], ChannelBlock()};
}

// A tensor with the channels innermost as a row-major one.
Shape ChannelsBehind(Shape of) {
  if (of.size() > 2) std::rotate(of.begin() + 1, of.begin() + 2, of.end());
  return of;
}

// Strides of a blocked tensor of four dimensions along those of the output.
std::vector<std::int64_t> BlockedStrides(const Shape& shape, const Shape& to) {
  std::vector<std::int64_t> strides;
  BroadcastStrides(BlockedShape(shape), BlockedShape(to), strides);
  if (shape[1] == 1 && to[1] != 1) strides[1] = strides[4] = 0;
  return strides;
}

// Blocks apply where the output has four dimensions, one full-shaped input at least comes in blocks, and every other
// input that is no constant does too or is one element. Constants of any broadcasting shape are laid out anew.
bool RunsOnBlocks(const KernelRequest& request, const Shape& shape) {
  const Model& model = *request.model;
  bool any = false;
  for (const int node : request.nodes) {
    for (const int output : model.nodes[static_cast<std::size_t>(node)].outputs) {
      if (output >= 0 && !CanBeBlocked(ValueOf(model, output).type, ValueOf(model, output).shape)) return false;
    }
    for (const int input : model.nodes[static_cast<std::size_t>(node)].inputs) {
      if (input >= 0 && ValueOf(model, input).type != DataType::kFloat32) return false;
    }
  }
  for (const int input : GroupInputs(model, request.nodes)) {
    const Value& value = ValueOf(model, input);
    const bool blocked = static_cast<std::size_t>(input) < request.available.size() &&
                         request.available[static_cast<std::size_t>(input)] == Layout::kBlocked &&
                         CanBeBlocked(value.type, value.shape);
    if (!blocked && ElementsOf(value.shape) != 1) return false;
    any = any || (blocked && value.shape == shape);
  }
  return any;
}

// What else the node is given is constant, or says only what type to make.
bool ReadsOnlyItsFirst(const Node& node) {
  const std::string& op = node.op_type;
  return op == "Dropout" || op == "CastLike" || op == "QuantizeLinear" || op == "DequantizeLinear";
}

// Channels stay innermost where an input of the output's shape has them so at hand and all others can: bytes of that
// shape, or floats of four dimensions. Constants of floats may have any broadcasting shape.
bool RunsOnChannelsLast(const KernelRequest& request, const Shape& shape) {
  const Model& model = *request.model;
  bool any = false;
  for (const int input : GroupInputs(model, request.nodes)) {
    const Value& value = ValueOf(model, input);
    const bool is_float = value.type == DataType::kFloat32;
    if (is_float && ElementsOf(value.shape) == 1) continue;
    if (!CanHaveChannelsLast(value.type, value.shape) || (!is_float && value.shape != shape)) return false;
    any = any || (value.shape == shape && static_cast<std::size_t>(input) < request.available.size() &&
                  request.available[static_cast<std::size_t>(input)] == Layout::kChannelsLast);
  }
  for (const int node_id : request.nodes) {
    const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
    const Value* made = OutputOf(model, node, 0);
    const bool is_float = made->type == DataType::kFloat32 && !ReadsOnlyItsFirst(node);
    if (!CanHaveChannelsLast(made->type, made->shape)) return false;
    for (const int input : node.inputs) {
      const bool constant = input >= 0 && ValueOf(model, input).constant != nullptr;
      if (constant && !is_float && ElementsOf(ValueOf(model, input).shape) != 1) return false;
    }
  }
  return any;
}

// Before opset 7 the second operand was laid along the first from the dimension `axis` on, a PRelu's slopes along the
// channels.
Shape Aligned(const Node& node, Shape own, const Shape& shape) {
  const bool slopes = node.op_type == "PRelu" && own.size() == 1 && own[0] != 1;
  const bool placed = Model::IntOf(node, "broadcast", 0) != 0 && node.attributes.contains("axis");
  if (!slopes && !placed) return own;
  const std::int64_t axis = slopes ? 1 : PositiveAxis(node, Model::IntOf(node, "axis", 0), shape.size());
  if (static_cast<std::size_t>(axis) + own.size() <= shape.size())
    own.resize(shape.size() - static_cast<std::size_t>(axis), 1);
  return own;
}

// The shape that input `i` of the node broadcasts from.
Shape ShapeOfInput(const Model& model, const Node& node, std::size_t i, const Shape& shape) {
  const Shape& own = ValueOf(model, node.inputs[i]).shape;
  return i == 1 && model.opset < 7 ? Aligned(node, own, shape) : own;
}

// The step's shape in the layout the kernel works in; false where an input does not broadcast to the output.
bool ShapeOfStep(const Model& model, const Node& node, const Shape& shape, Layout layout, StepShape& step) {
  const bool blocked = layout == Layout::kBlocked, innermost = layout == Layout::kChannelsLast;
  step.dims = blocked ? BlockedShape(shape) : innermost ? ChannelsBehind(shape) : shape;
  step.strides.assign(node.inputs.size(), std::vector<std::int64_t>(step.dims.size(), 0));
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] < 0) continue;
    std::vector<std::int64_t> plain;
    if (i > 0 && ReadsOnlyItsFirst(node)) continue;
    Shape own = ShapeOfInput(model, node, i, shape);
    if (!BroadcastStrides(own, shape, plain)) return false;
    if (innermost) {
      own.insert(own.begin(), shape.size() - own.size(), 1);
      BroadcastStrides(ChannelsBehind(own), step.dims, step.strides[i]);
    } else if (!blocked) {
      step.strides[i] = plain;
    } else if (ElementsOf(own) != 1) {
      own.insert(own.begin(), shape.size() - own.size(), 1);
      step.strides[i] = BlockedStrides(own, shape);
    }
  }
  return true;
}

class ElementwiseKernel : public Kernel {
 public:
  ElementwiseKernel(const KernelRequest& request, const Shape& shape) : workers_(request.workers) {
    const Model& model = *request.model;
    const bool blocked = RunsOnBlocks(request, shape);
    const Layout layout = blocked                              ? Layout::kBlocked
                          : RunsOnChannelsLast(request, shape) ? Layout::kChannelsLast
                                                               : Layout::kPlain;
    inputs_ = GroupInputs(model, request.nodes);
    outputs_ = GroupOutputs(model, request.nodes);
    for (const int value : inputs_) {
      const bool one_element = ElementsOf(ValueOf(model, value).shape) == 1;
      input_specs_.push_back(SpecOf(model, value, one_element ? Layout::kPlain : layout));
    }
    for (const int value : outputs_) output_specs_.push_back(SpecOf(model, value, layout));
    elements_ = ElementsOf(blocked ? BlockedShape(shape) : shape);
    if (blocked && shape[1] % ChannelBlock() != 0) {
      padding_from_ = shape[1] % ChannelBlock();
      channel_blocks_ = ChannelBlocks(shape[1]);
      plane_ = shape[2] * shape[3] * ChannelBlock();
    }
    bool padding_kept = true;
    std::map<int, std::size_t> intermediate_at;
    for (const int node_id : request.nodes) {
      const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
      StepShape step_shape;
      ShapeOfStep(model, node, shape, layout, step_shape);
      Member member;
      member.step = MakeStep(model, node, step_shape);
      member.first_operand = operands_.size();
      padding_kept = padding_kept && member.step->keeps_zero();
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        AddOperand(request, node, step_shape, i, layout, shape, intermediate_at);
      const int made = node.outputs[0];
      member.out_bytes = BytesOf(ValueOf(model, made).type);
      const auto leaving = std::find(outputs_.begin(), outputs_.end(), made);
      if (leaving != outputs_.end()) {
        member.output = static_cast<int>(leaving - outputs_.begin());
      } else {
        member.scratch = worker_scratch_;
        worker_scratch_ += kBlockElements * 8;
      }
      intermediate_at[made] = members_.size();
      members_.push_back(std::move(member));
    }
    if (padding_kept) padding_from_ = 0;
    scratch_bytes_ = worker_scratch_ * static_cast<std::size_t>(workers_);
    block_ = members_.size() == 1 ? elements_ : kBlockElements;
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    constexpr std::int64_t kGrain = 64;
    const Share share = ShareOf(elements_, workers_, worker, kGrain);
    for (std::int64_t begin = share.begin; begin < share.end; begin += block_)
      RunBlock(buffers, worker, begin, std::min(block_, share.end - begin));
  }

 private:
  struct Operand {
    enum class Kind { kNone, kInput, kConstant, kMember } kind = Kind::kNone;
    std::size_t index = 0;       // of the input or member
    std::size_t full_bytes = 0;  // of an element where the operand advances with the output, else 0
    std::shared_ptr<const std::byte> constant;
  };

  struct Member {
    std::unique_ptr<ElementwiseStep> step;
    std::size_t first_operand = 0;
    std::size_t out_bytes = 0;
    int output = -1;  // -1: kept in the scratch
    std::size_t scratch = 0;
  };

  void AddOperand(const KernelRequest& request, const Node& node, const StepShape& shape, std::size_t i, Layout layout,
                  const Shape& output, const std::map<int, std::size_t>& members) {
    Operand operand;
    const int value = node.inputs[i];
    if (value >= 0) {
      const Value& described = ValueOf(*request.model, value);
      const auto made = members.find(value);
      const auto given = std::find(inputs_.begin(), inputs_.end(), value);
      if (shape.full(i)) operand.full_bytes = BytesOf(described.type);
      if (made != members.end()) {
        operand.kind = Operand::Kind::kMember;
        operand.index = made->second;
      } else if (given != inputs_.end()) {
        operand.kind = Operand::Kind::kInput;
        operand.index = static_cast<std::size_t>(given - inputs_.begin());
      } else {
        operand.kind = Operand::Kind::kConstant;
        operand.constant =
            layout == Layout::kPlain || described.constant->bytes() == BytesOf(described.type)
                ? HoldConstant(request, value)
                : ConstantIn(layout, request, value, output.size(), ShapeOfInput(*request.model, node, i, output));
      }
    }
    operands_.push_back(std::move(operand));
  }

  static std::shared_ptr<const std::byte> ConstantIn(Layout layout, const KernelRequest& request, int value,
                                                     std::size_t rank, const Shape& broadcasts_from) {
    const std::shared_ptr<const std::byte> plain = HoldConstant(request, value);
    TensorSpec spec = SpecOf(*request.model, value);
    spec.shape = broadcasts_from;
    if (spec.shape.size() < rank) spec.shape.insert(spec.shape.begin(), rank - spec.shape.size(), 1);
    TensorSpec wanted = spec;
    wanted.layout = layout;
    const std::shared_ptr<std::byte> made = AllocateAligned(wanted.bytes());
    Reorder(spec, plain.get(), layout, made.get(), 1, 0);
    return made;
  }

  std::byte* MadeBy(const KernelBuffers& buffers, int worker, const Member& member, std::int64_t begin) const {
    if (member.output >= 0) return buffers.outputs[member.output] + static_cast<std::size_t>(begin) * member.out_bytes;
    return buffers.scratch + worker_scratch_ * static_cast<std::size_t>(worker) + member.scratch;
  }

  void RunBlock(const KernelBuffers& buffers, int worker, std::int64_t begin, std::int64_t count) const {
    const std::byte* pointers[kMaximalInputs];
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const Member& member = members_[m];
      const std::size_t last = m + 1 < members_.size() ? members_[m + 1].first_operand : operands_.size();
      for (std::size_t i = member.first_operand; i < last; ++i) {
        const Operand& operand = operands_[i];
        const std::size_t offset = static_cast<std::size_t>(begin) * operand.full_bytes;
        const std::byte*& pointer = pointers[i - member.first_operand];
        switch (operand.kind) {
          case Operand::Kind::kNone:
            pointer = nullptr;
            break;
          case Operand::Kind::kInput:
            pointer = buffers.inputs[operand.index] + offset;
            break;
          case Operand::Kind::kConstant:
            pointer = operand.constant.get() + offset;
            break;
          case Operand::Kind::kMember:
            pointer = MadeBy(buffers, worker, members_[operand.index], begin);
            break;
        }
      }
      std::byte* out = MadeBy(buffers, worker, member, begin);
      member.step->Apply(pointers, out, begin, count);
      if (padding_from_ > 0 && member.output >= 0) ZeroPadding(reinterpret_cast<float*>(out), begin, count);
    }
  }

  // The last channel block of every image has lanes beyond the channels.
  void ZeroPadding(float* out, std::int64_t begin, std::int64_t count) const {
    for (std::int64_t at = begin; at < begin + count;) {
      const std::int64_t plane = at / plane_;
      const std::int64_t end = std::min((plane + 1) * plane_, begin + count);
      if (plane % channel_blocks_ == channel_blocks_ - 1) {
        for (std::int64_t lane = at; lane < end; lane += ChannelBlock())
          std::fill(out + (lane - begin) + padding_from_, out + (lane - begin) + ChannelBlock(), 0.0f);
      }
      at = end;
    }
  }

  int workers_;
  std::int64_t elements_ = 0;
  std::int64_t block_ = 0;
  std::int64_t padding_from_ = 0;  // first lane of padding in the last channel block; 0: none to be zeroed
  std::int64_t channel_blocks_ = 1;
  std::int64_t plane_ = 1;
  std::size_t worker_scratch_ = 0;
  std::vector<Member> members_;
  std::vector<Operand> operands_;
};

// Loops read all operands as one type, but for a Where's condition, a Pow's exponent, scales, and inputs that are not
// read.
bool OperandTypesAgree(const Model& model, const Node& node) {
  const std::string& op = node.op_type;
  if (op == "Pow" || op == "QLinearAdd" || ReadsOnlyItsFirst(node)) return true;
  const int first = op == "Where" ? 1 : 0;
  for (int i = first; i < static_cast<int>(node.inputs.size()); ++i) {
    const Value* value = InputOf(model, node, i);
    if (value != nullptr && value->type != InputOf(model, node, first)->type) return false;
  }
  return true;
}

const Value* OnlyOutput(const Model& model, const Node& node) {
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] >= 0) return nullptr;
  return OutputOf(model, node, 0);
}

}  // namespace

std::unique_ptr<ElementwiseStep> MakeStep(const Model& model, const Node& node, const StepShape& shape) {
  for (const StepMaker maker : {&MakeUnaryStep, &MakeArithmeticStep, &MakeCompareStep, &MakeCastStep, &MakeSelectStep,
                                &MakeQuantizeStep, &MakeQuantizedSumStep}) {
    if (std::unique_ptr<ElementwiseStep> step = maker(model, node, shape)) return step;
  }
  return nullptr;
}

std::vector<int> ElementwiseChain(const Model& model, std::span<const int> nodes) {
  std::vector<int> chain;
  for (const int node : nodes) {
    const Value* made = OnlyOutput(model, model.nodes[static_cast<std::size_t>(node)]);
    if (made == nullptr || !ElementwiseUnsupported(model, node).empty()) break;
    if (!chain.empty() && made->shape != OnlyOutput(model, model.nodes[static_cast<std::size_t>(chain[0])])->shape)
      break;
    chain.push_back(node);
  }
  return chain;
}

std::unique_ptr<Kernel> MakeElementwiseKernel(const KernelRequest& request) {
  const Model& model = *request.model;
  if (ElementwiseChain(model, request.nodes).size() != request.nodes.size()) return nullptr;
  const Node& first = model.nodes[static_cast<std::size_t>(request.nodes[0])];
  return std::make_unique<ElementwiseKernel>(request, OutputOf(model, first, 0)->shape);
}

std::string ElementwiseUnsupported(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* first = InputOf(model, node, 0);
  const Value* made = OnlyOutput(model, node);
  if (node.op_type == "Dropout" && InputOf(model, node, 2) != nullptr) return "Dropout while training";
  if (made == nullptr) return node.op_type + " with several outputs";
  if (node.inputs.size() > kMaximalInputs) return node.op_type + " of more than 32 inputs";
  if (first == nullptr) return node.op_type + " without inputs";
  if (InputOf(model, node, 1) == nullptr && node.op_type == "Where") return "Where without its inputs";
  if (!OperandTypesAgree(model, node)) return node.op_type + " on operands of several types";
  StepShape shape;
  if (!ShapeOfStep(model, node, made->shape, Layout::kPlain, shape)) {
    return node.op_type + " whose inputs do not broadcast to its output";
  }
  if (MakeStep(model, node, shape) != nullptr) return "";
  if (node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear")
    return node.op_type + " of this form (scales and zero points are constants here, one for all or one a channel)";
  if (node.op_type == "QLinearAdd")
    return node.op_type + " of this form (8 bits of one type and shape; scales and zero points are constants here)";
  const bool casts = node.op_type == "Cast" || node.op_type == "CastLike";
  return node.op_type + (casts ? std::string(" from ") : " on ") + NameOf(first->type) +
         (casts ? std::string(" to ") + NameOf(made->type) : "");
}

}  // namespace millrace
