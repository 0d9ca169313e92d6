// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "millrace/runtime/binary_loops.h"
#include "millrace/runtime/element_types.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"

namespace millrace {
namespace {

#define MILLRACE_COMPARISON(name, expression)          \
  struct name {                                        \
    template <typename T>                              \
    static MILLRACE_INLINE std::uint8_t Of(T a, T b) { \
      return static_cast<std::uint8_t>(expression);    \
    }                                                  \
  }

MILLRACE_COMPARISON(Equal, a == b);
MILLRACE_COMPARISON(Greater, a > b);
MILLRACE_COMPARISON(GreaterOrEqual, a >= b);
MILLRACE_COMPARISON(Less, a < b);
MILLRACE_COMPARISON(LessOrEqual, a <= b);
MILLRACE_COMPARISON(And, (a != T{}) && (b != T{}));
MILLRACE_COMPARISON(Or, (a != T{}) || (b != T{}));
MILLRACE_COMPARISON(Xor, (a != T{}) != (b != T{}));
#undef MILLRACE_COMPARISON

template <typename Function>
BinaryLoops NumberLoops(DataType type) {
  BinaryLoops loops;
  ForNumber(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    loops = LoopsOf<Function, T, T, std::uint8_t>();
  });
  return loops;
}

template <typename Function>
BinaryLoops BoolLoops() {
  return LoopsOf<Function, std::uint8_t, std::uint8_t, std::uint8_t>();
}

BinaryLoops LoopsFor(const std::string& op, DataType type) {
  if (type == DataType::kBool) {
    if (op == "And") return BoolLoops<And>();
    if (op == "Or") return BoolLoops<Or>();
    if (op == "Xor") return BoolLoops<Xor>();
    if (op == "Equal") return BoolLoops<Equal>();
    return {};
  }
  if (op == "Equal") return NumberLoops<Equal>(type);
  if (op == "Greater") return NumberLoops<Greater>(type);
  if (op == "GreaterOrEqual") return NumberLoops<GreaterOrEqual>(type);
  if (op == "Less") return NumberLoops<Less>(type);
  if (op == "LessOrEqual") return NumberLoops<LessOrEqual>(type);
  return {};
}

}  // namespace

std::unique_ptr<ElementwiseStep> MakeCompareStep(const Model& model, const Node& node, const StepShape& shape) {
  const Value* left = InputOf(model, node, 0);
  const Value* right = InputOf(model, node, 1);
  if (left == nullptr || right == nullptr || left->type != right->type) return nullptr;
  const BinaryLoops loops = LoopsFor(node.op_type, left->type);
  if (!loops) return nullptr;
  const std::size_t bytes = BytesOf(left->type);
  return std::make_unique<BinaryStep>(loops, shape, bytes, bytes, 1);
}

}  // namespace millrace
