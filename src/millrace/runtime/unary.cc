// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#include "millrace/runtime/elementwise_step.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/vector/vector_loops.h"
#include "millrace/vector/vector_math.h"

namespace millrace {
namespace {

using Parameters = std::array<float, 2>;

// The float32 functions: F::Of(x, a, b), a and b the op's attributes.
#define MILLRACE_FUNCTION(name, expression)                                                        \
  struct name {                                                                                    \
    static MILLRACE_INLINE float Of(float x, [[maybe_unused]] float a, [[maybe_unused]] float b) { \
      return expression;                                                                           \
    }                                                                                              \
  }

MILLRACE_FUNCTION(Relu, x > 0.0f ? x : 0.0f);
MILLRACE_FUNCTION(LeakyRelu, x < 0.0f ? a * x : x);
MILLRACE_FUNCTION(ThresholdedRelu, x > a ? x : 0.0f);
MILLRACE_FUNCTION(Logistic, vector_math::Logistic(x));
MILLRACE_FUNCTION(Tanh, vector_math::Tanh(x));
MILLRACE_FUNCTION(Elu, x < 0.0f ? a * (vector_math::Exp(x) - 1.0f) : x);
MILLRACE_FUNCTION(Celu, x < 0.0f ? a * (vector_math::Exp(x / a) - 1.0f) : x);
MILLRACE_FUNCTION(Selu, b*(x > 0.0f ? x : a * vector_math::Exp(x) - a));
MILLRACE_FUNCTION(Softplus, (x > 0.0f ? x : 0.0f) + std::log1p(vector_math::Exp(-std::fabs(x))));
MILLRACE_FUNCTION(Softsign, x / (1.0f + std::fabs(x)));
MILLRACE_FUNCTION(HardSigmoid, (a * x + b) < 0.0f ? 0.0f : ((a * x + b) > 1.0f ? 1.0f : a * x + b));
MILLRACE_FUNCTION(HardSwish, x*((x + 3.0f) < 0.0f ? 0.0f : ((x + 3.0f) > 6.0f ? 6.0f : x + 3.0f)) * (1.0f / 6.0f));
MILLRACE_FUNCTION(Gelu, 0.5f * x * (1.0f + vector_math::Erf(x * 0.707106781f)));
// The approximation that the attribute `approximate` = tanh asks for.
MILLRACE_FUNCTION(TanhGelu, 0.5f * x * (1.0f + vector_math::Tanh(0.797884561f * (x + 0.044715f * x * x * x))));
MILLRACE_FUNCTION(Mish, x* vector_math::Tanh((x > 0.0f ? x : 0.0f) + std::log1p(vector_math::Exp(-std::fabs(x)))));
MILLRACE_FUNCTION(Shrink, x < -a ? x + b : (x > a ? x - b : 0.0f));
MILLRACE_FUNCTION(Abs, std::fabs(x));
MILLRACE_FUNCTION(Negative, -x);
MILLRACE_FUNCTION(Exp, vector_math::Exp(x));
MILLRACE_FUNCTION(Log, std::log(x));
MILLRACE_FUNCTION(Sqrt, std::sqrt(x));
MILLRACE_FUNCTION(Reciprocal, 1.0f / x);
MILLRACE_FUNCTION(Floor, std::floor(x));
MILLRACE_FUNCTION(Ceil, std::ceil(x));
MILLRACE_FUNCTION(Round, std::nearbyint(x));
MILLRACE_FUNCTION(Sign, static_cast<float>(x > 0.0f) - static_cast<float>(x < 0.0f));
MILLRACE_FUNCTION(Erf, vector_math::Erf(x));
MILLRACE_FUNCTION(Sin, std::sin(x));
MILLRACE_FUNCTION(Cos, std::cos(x));
MILLRACE_FUNCTION(Tan, std::tan(x));
MILLRACE_FUNCTION(Asin, std::asin(x));
MILLRACE_FUNCTION(Acos, std::acos(x));
MILLRACE_FUNCTION(Atan, std::atan(x));
MILLRACE_FUNCTION(Sinh, std::sinh(x));
MILLRACE_FUNCTION(Cosh, std::cosh(x));
MILLRACE_FUNCTION(Asinh, std::asinh(x));
MILLRACE_FUNCTION(Acosh, std::acosh(x));
MILLRACE_FUNCTION(Atanh, std::atanh(x));
#undef MILLRACE_FUNCTION

using FloatLoop = void (*)(const float* in, float* out, std::int64_t count, float a, float b);

template <typename Function>
MILLRACE_INLINE void FloatBody(const float* __restrict in, float* __restrict out, std::int64_t count, float a,
                               float b) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = Function::Of(in[i], a, b);
}

template <typename Function>
FloatLoop LoopOf() {
  return Versions<&FloatBody<Function>>::Best();
}

struct FloatFunction {
  FloatLoop (*loop)();
  bool keeps_zero;
  const char* first = nullptr;  // the attributes a and b, and what they are where left out
  float first_default = 0.0f;
  const char* second = nullptr;
  float second_default = 0.0f;
};

const std::map<std::string, FloatFunction>& FloatFunctions() {
  static const std::map<std::string, FloatFunction> functions = {
      {"Relu", {&LoopOf<Relu>, true}},
      {"LeakyRelu", {&LoopOf<LeakyRelu>, true, "alpha", 0.01f}},
      {"ThresholdedRelu", {&LoopOf<ThresholdedRelu>, false, "alpha", 1.0f}},
      {"Sigmoid", {&LoopOf<Logistic>, false}},
      {"Tanh", {&LoopOf<Tanh>, true}},
      {"Elu", {&LoopOf<Elu>, true, "alpha", 1.0f}},
      {"Celu", {&LoopOf<Celu>, true, "alpha", 1.0f}},
      {"Selu", {&LoopOf<Selu>, true, "alpha", 1.67326324f, "gamma", 1.05070102f}},
      {"Softplus", {&LoopOf<Softplus>, false}},
      {"Softsign", {&LoopOf<Softsign>, true}},
      {"HardSigmoid", {&LoopOf<HardSigmoid>, false, "alpha", 0.2f, "beta", 0.5f}},
      {"HardSwish", {&LoopOf<HardSwish>, true}},
      {"Gelu", {&LoopOf<Gelu>, true}},
      {"Gelu tanh", {&LoopOf<TanhGelu>, true}},
      {"Mish", {&LoopOf<Mish>, true}},
      {"Shrink", {&LoopOf<Shrink>, false, "lambd", 0.5f, "bias", 0.0f}},
      {"Abs", {&LoopOf<Abs>, true}},
      {"Neg", {&LoopOf<Negative>, true}},
      {"Exp", {&LoopOf<Exp>, false}},
      {"Log", {&LoopOf<Log>, false}},
      {"Sqrt", {&LoopOf<Sqrt>, true}},
      {"Reciprocal", {&LoopOf<Reciprocal>, false}},
      {"Floor", {&LoopOf<Floor>, true}},
      {"Ceil", {&LoopOf<Ceil>, true}},
      {"Round", {&LoopOf<Round>, true}},
      {"Sign", {&LoopOf<Sign>, true}},
      {"Erf", {&LoopOf<Erf>, true}},
      {"Sin", {&LoopOf<Sin>, true}},
      {"Cos", {&LoopOf<Cos>, false}},
      {"Tan", {&LoopOf<Tan>, true}},
      {"Asin", {&LoopOf<Asin>, true}},
      {"Acos", {&LoopOf<Acos>, false}},
      {"Atan", {&LoopOf<Atan>, true}},
      {"Sinh", {&LoopOf<Sinh>, true}},
      {"Cosh", {&LoopOf<Cosh>, false}},
      {"Asinh", {&LoopOf<Asinh>, true}},
      {"Acosh", {&LoopOf<Acosh>, false}},
      {"Atanh", {&LoopOf<Atanh>, true}},
  };
  return functions;
}

class FloatStep : public ElementwiseStep {
 public:
  FloatStep(FloatLoop loop, float a, float b, bool keeps_zero) : loop_(loop), a_(a), b_(b), keeps_zero_(keeps_zero) {}
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t, std::int64_t count) const override {
    loop_(reinterpret_cast<const float*>(operands[0]), reinterpret_cast<float*>(out), count, a_, b_);
  }
  bool keeps_zero() const override { return keeps_zero_; }

 private:
  FloatLoop loop_;
  float a_, b_;
  bool keeps_zero_;
};

// Other types: a loop over elements that holds no parameters.
using AnyLoop = void (*)(const std::byte* in, std::byte* out, std::int64_t count);

class AnyStep : public ElementwiseStep {
 public:
  explicit AnyStep(AnyLoop loop) : loop_(loop) {}
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t, std::int64_t count) const override {
    loop_(operands[0], out, count);
  }
  bool keeps_zero() const override { return true; }  // blocked tensors reach it through Identity alone

 private:
  AnyLoop loop_;
};

template <typename In, typename Out, Out (*Function)(In)>
void AnyBody(const std::byte* in, std::byte* out, std::int64_t count) {
  const In* from = reinterpret_cast<const In*>(in);
  Out* to = reinterpret_cast<Out*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = Function(from[i]);
}

template <std::size_t kBytes>
void CopyBody(const std::byte* in, std::byte* out, std::int64_t count) {
  std::memcpy(out, in, static_cast<std::size_t>(count) * kBytes);
}

template <typename T>
T AbsOf(T x) {
  return x < T{} ? static_cast<T>(T{} - x) : x;
}
template <typename T>
T NegativeOf(T x) {
  return static_cast<T>(T{} - x);
}
template <typename T>
T SignOf(T x) {
  return static_cast<T>((x > T{}) - (x < T{}));
}
template <typename T>
T ReluOf(T x) {
  return x > T{} ? x : T{};
}
template <typename T>
T ComplementOf(T x) {
  return static_cast<T>(~x);
}
std::uint8_t NotOf(std::uint8_t x) { return x == 0; }
std::uint8_t IsNanOf(float x) { return std::isnan(x); }

template <typename T>
AnyLoop IntegerLoop(const std::string& op) {
  if constexpr (std::is_integral_v<T>) {
    if (op == "BitwiseNot") return &AnyBody<T, T, &ComplementOf<T>>;
  }
  if (op == "Abs") return &AnyBody<T, T, &AbsOf<T>>;
  if (op == "Neg") return &AnyBody<T, T, &NegativeOf<T>>;
  if (op == "Sign") return &AnyBody<T, T, &SignOf<T>>;
  if (op == "Relu") return &AnyBody<T, T, &ReluOf<T>>;
  return nullptr;
}

AnyLoop DoubleLoop(const std::string& op) {
  if (AnyLoop shared = IntegerLoop<double>(op)) return shared;
  if (op == "Exp") return &AnyBody<double, double, &std::exp>;
  if (op == "Log") return &AnyBody<double, double, &std::log>;
  if (op == "Sqrt") return &AnyBody<double, double, &std::sqrt>;
  if (op == "Floor") return &AnyBody<double, double, &std::floor>;
  if (op == "Ceil") return &AnyBody<double, double, &std::ceil>;
  if (op == "Round") return &AnyBody<double, double, &std::nearbyint>;
  if (op == "Tanh") return &AnyBody<double, double, &std::tanh>;
  if (op == "Erf") return &AnyBody<double, double, &std::erf>;
  return nullptr;
}

AnyLoop CopyLoop(DataType type) {
  switch (BytesOf(type)) {
    case 1:
      return &CopyBody<1>;
    case 2:
      return &CopyBody<2>;
    case 4:
      return &CopyBody<4>;
    case 8:
      return &CopyBody<8>;
    default:
      return nullptr;
  }
}

AnyLoop TypedLoop(const std::string& op, DataType type) {
  if (op == "Identity" || op == "Dropout") return CopyLoop(type);
  switch (type) {
    case DataType::kBool:
      return op == "Not" ? &AnyBody<std::uint8_t, std::uint8_t, &NotOf> : nullptr;
    case DataType::kFloat32:
      return op == "IsNaN" ? &AnyBody<float, std::uint8_t, &IsNanOf> : nullptr;
    case DataType::kFloat64:
      return DoubleLoop(op);
    case DataType::kInt8:
      return IntegerLoop<std::int8_t>(op);
    case DataType::kInt16:
      return IntegerLoop<std::int16_t>(op);
    case DataType::kInt32:
      return IntegerLoop<std::int32_t>(op);
    case DataType::kInt64:
      return IntegerLoop<std::int64_t>(op);
    case DataType::kUint8:
      return IntegerLoop<std::uint8_t>(op);
    case DataType::kUint16:
      return IntegerLoop<std::uint16_t>(op);
    case DataType::kUint32:
      return IntegerLoop<std::uint32_t>(op);
    case DataType::kUint64:
      return IntegerLoop<std::uint64_t>(op);
    default:
      return nullptr;
  }
}

class IsInfinityStep : public ElementwiseStep {
 public:
  IsInfinityStep(bool negative, bool positive) : negative_(negative), positive_(positive) {}
  void Apply(const std::byte* const* operands, std::byte* out, std::int64_t, std::int64_t count) const override {
    const float* in = reinterpret_cast<const float*>(operands[0]);
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = std::byte{std::isinf(in[i]) && (in[i] < 0.0f ? negative_ : positive_)};
  }

 private:
  bool negative_, positive_;
};

}  // namespace

std::unique_ptr<ElementwiseStep> MakeUnaryStep(const Model& model, const Node& node, const StepShape& shape) {
  const Value* input = InputOf(model, node, 0);
  if (input == nullptr || !shape.full(0)) return nullptr;
  // In training mode a dropout is no longer the identity, and its mask is another kernel's.
  if (node.op_type == "Dropout" && (InputOf(model, node, 2) != nullptr || node.outputs.size() > 1)) return nullptr;
  if (node.op_type == "IsInf" && input->type == DataType::kFloat32) {
    return std::make_unique<IsInfinityStep>(Model::IntOf(node, "detect_negative", 1) != 0,
                                            Model::IntOf(node, "detect_positive", 1) != 0);
  }
  if (input->type == DataType::kFloat32) {
    const bool approximate = node.op_type == "Gelu" && Model::StringOf(node, "approximate", "none") != "none";
    const auto found = FloatFunctions().find(approximate ? "Gelu tanh" : node.op_type);
    if (found != FloatFunctions().end()) {
      const FloatFunction& function = found->second;
      const float a = function.first ? Model::FloatOf(node, function.first, function.first_default) : 0.0f;
      const float b = function.second ? Model::FloatOf(node, function.second, function.second_default) : 0.0f;
      const bool keeps_zero = function.keeps_zero || (node.op_type == "ThresholdedRelu" && a >= 0.0f);
      return std::make_unique<FloatStep>(function.loop(), a, b, keeps_zero);
    }
  }
  const AnyLoop loop = TypedLoop(node.op_type, input->type);
  return loop == nullptr ? nullptr : std::make_unique<AnyStep>(loop);
}

}  // namespace millrace
