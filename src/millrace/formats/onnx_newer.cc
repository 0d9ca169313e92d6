// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/onnx_newer.h"

#include <algorithm>
#include <array>
#include <string>

namespace millrace {
namespace {

constexpr int kAll = -1;

// An operator of a newer opset and the older one that is shaped like it.
struct Likeness {
  std::string_view op_type;
  std::int64_t since;           // the opset from which on it is needed
  std::string_view as;          // the older operator
  int inputs = kAll;            // how many of the inputs the older one gets
  std::string_view drops = {};  // attributes that it does not have, each between blanks; "*": all
};

constexpr std::array kLikenesses = {
    Likeness{"AveragePool", 19, "MaxPool", kAll, " count_include_pad "},
    Likeness{"BitwiseAnd", 18, "Add"},
    Likeness{"BitwiseNot", 18, "Identity"},
    Likeness{"BitwiseOr", 18, "Add"},
    Likeness{"BitwiseXor", 18, "Add"},
    Likeness{"Cast", 19, "Cast", kAll, " saturate "},
    Likeness{"CastLike", 19, "CastLike", kAll, " saturate "},
    Likeness{"DeformConv", 19, "Conv", 2, " offset_group "},
    Likeness{"DequantizeLinear", 19, "DequantizeLinear", kAll, " block_size "},
    Likeness{"Gelu", 20, "Identity", 1, "*"},
    Likeness{"GroupNormalization", 18, "Identity", 1, "*"},
    Likeness{"LpPool", 18, "MaxPool", kAll, " p "},
    Likeness{"Mish", 18, "Identity"},
    Likeness{"OptionalGetElement", 18, "Identity"},
    Likeness{"QuantizeLinear", 19, "QuantizeLinear", kAll, " block_size saturate "},
    Likeness{"ReduceL1", 18, "ReduceSum"},
    Likeness{"ReduceL2", 18, "ReduceSum"},
    Likeness{"ReduceLogSum", 18, "ReduceSum"},
    Likeness{"ReduceLogSumExp", 18, "ReduceSum"},
    Likeness{"ReduceMax", 18, "ReduceSum"},
    Likeness{"ReduceMean", 18, "ReduceSum"},
    Likeness{"ReduceMin", 18, "ReduceSum"},
    Likeness{"ReduceProd", 18, "ReduceSum"},
    Likeness{"ReduceSumSquare", 18, "ReduceSum"},
};

// Operators that have no likeness, or bodies, from which opset on, and the attribute or input that makes the difference
// where an older form of them does as it is.
struct Unseen {
  std::string_view op_type;
  std::int64_t since;
  std::string_view attribute = {};
  std::size_t input = 0;
};

constexpr std::array kUnseen = {
    Unseen{"AffineGrid", 20},
    Unseen{"AveragePool", 1, "ceil_mode"},
    Unseen{"CenterCropPad", 18},
    Unseen{"Col2Im", 18},
    Unseen{"DFT", 20},
    Unseen{"GridSample", 20},
    Unseen{"If", 1},
    Unseen{"ImageDecoder", 20},
    Unseen{"Loop", 1},
    Unseen{"LpPool", 18, "ceil_mode"},
    Unseen{"MaxPool", 1, "ceil_mode"},
    Unseen{"Pad", 18, {}, 3},
    Unseen{"OptionalHasElement", 18},
    Unseen{"Resize", 18},
    Unseen{"QuantizeLinear", 21, "output_dtype"},
    Unseen{"RegexFullMatch", 20},
    Unseen{"Scan", 9},
    Unseen{"StringConcat", 20},
    Unseen{"Split", 18, "num_outputs"},
    Unseen{"StringSplit", 20},
};

bool Drops(std::string_view drops, const std::string& attribute) {
  return drops == "*" || drops.find(" " + attribute + " ") != std::string_view::npos;
}

}  // namespace

bool IsUnseen(const Node& node, std::int64_t opset) {
  if (!node.domain.empty()) return false;
  return std::any_of(kUnseen.begin(), kUnseen.end(), [&](const Unseen& unseen) {
    if (unseen.op_type != node.op_type || opset < unseen.since) return false;
    if (!unseen.attribute.empty()) return node.attributes.contains(std::string(unseen.attribute));
    return unseen.input == 0 || unseen.input < node.inputs.size();
  });
}

void PutForLibonnx(const Node& node, std::int64_t opset, onnx::NodeProto* message) {
  if (!node.domain.empty()) return;
  if (IsUnseen(node, opset)) {
    message->set_domain(std::string(kUnseenDomain));
    message->clear_attribute();
    return;
  }
  for (const Likeness& likeness : kLikenesses) {
    if (likeness.op_type != node.op_type || opset < likeness.since) continue;
    message->set_op_type(std::string(likeness.as));
    while (likeness.inputs != kAll && message->input_size() > likeness.inputs) message->mutable_input()->RemoveLast();
    for (int i = message->attribute_size(); i-- > 0;) {
      if (Drops(likeness.drops, message->attribute(i).name())) message->mutable_attribute()->DeleteSubrange(i, 1);
    }
  }
}

}  // namespace millrace
