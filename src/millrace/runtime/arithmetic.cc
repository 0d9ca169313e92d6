// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "millrace/runtime/binary_loops.h"
#include "millrace/runtime/element_types.h"
#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"

namespace millrace {
namespace {

// Integers wrap around, as they do on every processor.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

struct Add {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Subtract {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Multiply {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};
// Division of integers by zero has no defined result in ONNX; it must not kill the process here.
struct Divide {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == T{}) return T{};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return Subtract::Of(T{}, a);
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};
struct Minimum {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return a < b ? b : a;
  }
};
// The remainder with the sign of the dividend (fmod) or of the divisor, as Python has it.
struct Remainder {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == T{}) return T{};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return T{};
      }
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};
struct Modulus {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    const T remainder = Remainder::Of(a, b);
    if constexpr (std::is_signed_v<T>) {
      if (remainder != T{} && (remainder < T{}) != (b < T{})) return Add::Of(remainder, b);
    }
    return remainder;
  }
};
struct ParametricRelu {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return a < T{} ? Multiply::Of(a, b) : a;
  }
};
template <typename Exponent>
struct Power {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, Exponent b) {
    if constexpr (std::is_same_v<T, float> && sizeof(Exponent) <= 4) {
      return std::pow(a, static_cast<float>(b));
    } else {
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    }
  }
};
struct ShiftLeft {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return b >= sizeof(T) * 8 ? T{} : static_cast<T>(static_cast<std::uint64_t>(a) << b);
  }
};
struct ShiftRight {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return b >= sizeof(T) * 8 ? T{} : static_cast<T>(static_cast<std::uint64_t>(a) >> b);
  }
};

struct BitwiseAnd {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOr {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXor {
  template <typename T>
  static MILLRACE_INLINE T Of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

struct Square {
  static MILLRACE_INLINE float Of(float a, float) { return a * a; }
};
struct SquareRoot {
  static MILLRACE_INLINE float Of(float a, float) { return std::sqrt(a); }
};
struct Cube {
  static MILLRACE_INLINE float Of(float a, float) { return a * a * a; }
};

BinaryLoops PowerLoops(DataType base, DataType exponent) {
  BinaryLoops loops;
  ForSignedOrFloat(base, [&](auto a) {
    using Base = typename decltype(a)::type;
    ForNumber(exponent, [&](auto b) {
      using Exponent = typename decltype(b)::type;
      loops = LoopsOf<Power<Exponent>, Base, Exponent, Base>();
    });
  });
  return loops;
}

// Powers with a constant exponent that needs no general power.
BinaryLoops SimplePowerLoops(const Model& model, const Node& node) {
  const Value* base = InputOf(model, node, 0);
  const Value* exponent = InputOf(model, node, 1);
  if (base->type != DataType::kFloat32 || !exponent->constant || ElementsOf(exponent->shape) != 1) return {};
  const float power = exponent->constant->AsFloats()[0];
  if (exponent->type != DataType::kFloat32) return {};
  if (power == 2.0f) return LoopsOf<Square, float, float, float>();
  if (power == 0.5f) return LoopsOf<SquareRoot, float, float, float>();
  if (power == 3.0f) return LoopsOf<Cube, float, float, float>();
  return {};
}

template <typename Function>
BinaryLoops NumberLoops(DataType type) {
  BinaryLoops loops;
  ForNumber(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    loops = LoopsOf<Function, T, T, T>();
  });
  return loops;
}

template <typename Function>
BinaryLoops IntegerLoops(DataType type) {
  BinaryLoops loops;
  ForNumber(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) loops = LoopsOf<Function, T, T, T>();
  });
  return loops;
}

template <typename Function>
BinaryLoops UnsignedLoops(DataType type) {
  BinaryLoops loops;
  ForNumber(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_unsigned_v<T>) loops = LoopsOf<Function, T, T, T>();
  });
  return loops;
}

BinaryLoops ArithmeticLoops(const Model& model, const Node& node, DataType type) {
  const std::string& op = node.op_type;
  if (op == "Add" || op == "Sum" || op == "Mean") return NumberLoops<Add>(type);
  if (op == "Sub") return NumberLoops<Subtract>(type);
  if (op == "Mul") return NumberLoops<Multiply>(type);
  if (op == "Div") return NumberLoops<Divide>(type);
  if (op == "Min") return NumberLoops<Minimum>(type);
  if (op == "Max") return NumberLoops<Maximum>(type);
  if (op == "PRelu") return NumberLoops<ParametricRelu>(type);
  if (op == "BitwiseAnd") return IntegerLoops<BitwiseAnd>(type);
  if (op == "BitwiseOr") return IntegerLoops<BitwiseOr>(type);
  if (op == "BitwiseXor") return IntegerLoops<BitwiseXor>(type);
  if (op == "Mod")
    return Model::IntOf(node, "fmod", 0) != 0 ? NumberLoops<Remainder>(type) : NumberLoops<Modulus>(type);
  if (op == "BitShift") {
    return Model::StringOf(node, "direction", "") == "LEFT" ? UnsignedLoops<ShiftLeft>(type)
                                                            : UnsignedLoops<ShiftRight>(type);
  }
  if (op == "Pow" && InputOf(model, node, 1) != nullptr) {
    const BinaryLoops simple = SimplePowerLoops(model, node);
    return simple ? simple : PowerLoops(type, InputOf(model, node, 1)->type);
  }
  return {};
}

bool IsVariadic(const std::string& op) { return op == "Sum" || op == "Mean" || op == "Min" || op == "Max"; }

// Several operands, two at a time over short stretches; each pass writes to the one of the output and a buffer that
// the pass before did not, and the last to the output.
class VariadicStep : public ElementwiseStep {
 public:
  VariadicStep(const BinaryLoops& loops, const StepShape& shape, DataType type, bool mean) : bytes_(BytesOf(type)) {
    const std::size_t count = shape.strides.size();
    for (std::size_t i = 0; i < count; ++i) full_.push_back(shape.full(i));
    for (std::size_t i = 1; i < count; ++i) {
      StepShape pair = shape;
      pair.strides = {shape.strides[i == 1 ? 0 : 1], shape.strides[i]};
      if (i > 1) pair.strides[0] = StridesOf(shape.dims);
      passes_.emplace_back(loops, pair, bytes_, bytes_, bytes_);
    }
    if (mean) divisor_ = static_cast<float>(count);
  }

  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t begin, std::int64_t count) const override {
    constexpr std::int64_t kStretch = 512;
    alignas(64) std::byte buffer[kStretch * 8];
    for (std::int64_t done = 0; done < count; done += kStretch) {
      const std::int64_t length = std::min(kStretch, count - done);
      const auto at = [&](std::size_t i) {
        return full_[i] ? operands[i] + static_cast<std::size_t>(done) * bytes_ : operands[i];
      };
      std::byte* target = out + static_cast<std::size_t>(done) * bytes_;
      const std::byte* first = at(0);
      for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
        const std::byte* pair[2] = {first, at(pass + 1)};
        std::byte* to = (passes_.size() - pass) % 2 == 1 ? target : buffer;
        passes_[pass].Apply(pair, to, begin + done, length);
        first = to;
      }
      if (divisor_ != 1.0f) {
        float* values = reinterpret_cast<float*>(target);
        for (std::int64_t i = 0; i < length; ++i) values[i] /= divisor_;
      }
    }
  }
  bool keeps_zero() const override { return std::find(full_.begin(), full_.end(), false) == full_.end(); }

 private:
  std::size_t bytes_;
  float divisor_ = 1.0f;
  std::vector<bool> full_;
  std::vector<BinaryStep> passes_;
};

}  // namespace

std::unique_ptr<ElementwiseStep> MakeArithmeticStep(const Model& model, const Node& node, const StepShape& shape) {
  const Value* first = InputOf(model, node, 0);
  if (first == nullptr) return nullptr;
  const BinaryLoops loops = ArithmeticLoops(model, node, first->type);
  if (!loops) return nullptr;
  const std::size_t operands = node.inputs.size();
  if (IsVariadic(node.op_type)) {
    const bool mean = node.op_type == "Mean";
    if (mean && first->type != DataType::kFloat32) return nullptr;
    if (operands == 1) {
      Node copy = node;
      copy.op_type = "Identity";
      return MakeUnaryStep(model, copy, shape);
    }
    if (mean || operands > 2) return std::make_unique<VariadicStep>(loops, shape, first->type, mean);
  }
  if (operands != 2 || InputOf(model, node, 1) == nullptr) return nullptr;
  const std::size_t bytes = BytesOf(first->type);
  return std::make_unique<BinaryStep>(loops, shape, bytes, BytesOf(InputOf(model, node, 1)->type), bytes);
}

}  // namespace millrace
