// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/light_kernels.h"
#include "millrace/runtime/box_selection.h"

#include "millrace/runtime/dynamic_quantize.h"
#include "millrace/runtime/elementwise_kernel.h"
#include "millrace/runtime/gather.h"
#include "millrace/runtime/generate.h"
#include "millrace/runtime/grid_sample.h"
#include "millrace/runtime/interpolate.h"
#include "millrace/runtime/line_kernels.h"
#include "millrace/runtime/losses.h"
#include "millrace/runtime/movement.h"
#include "millrace/runtime/recurrent.h"
#include "millrace/runtime/reduce.h"

namespace millrace {
namespace {

constexpr const char* kElementwiseOps[] = {"Abs",
                                           "Acos",
                                           "Acosh",
                                           "Add",
                                           "And",
                                           "Asin",
                                           "Asinh",
                                           "Atan",
                                           "Atanh",
                                           "BitShift",
                                           "BitwiseAnd",
                                           "BitwiseNot",
                                           "BitwiseOr",
                                           "BitwiseXor",
                                           "Cast",
                                           "CastLike",
                                           "Ceil",
                                           "Celu",
                                           "Clip",
                                           "Cos",
                                           "Cosh",
                                           "DequantizeLinear",
                                           "Div",
                                           "Dropout",
                                           "Elu",
                                           "Equal",
                                           "Erf",
                                           "Exp",
                                           "Floor",
                                           "Gelu",
                                           "Greater",
                                           "GreaterOrEqual",
                                           "HardSigmoid",
                                           "HardSwish",
                                           "Identity",
                                           "IsInf",
                                           "IsNaN",
                                           "LeakyRelu",
                                           "Less",
                                           "LessOrEqual",
                                           "Log",
                                           "Max",
                                           "Mean",
                                           "Min",
                                           "Mish",
                                           "Mod",
                                           "Mul",
                                           "Neg",
                                           "Not",
                                           "Or",
                                           "PRelu",
                                           "Pow",
                                           "QuantizeLinear",
                                           "Reciprocal",
                                           "Relu",
                                           "Round",
                                           "Selu",
                                           "Shrink",
                                           "Sigmoid",
                                           "Sign",
                                           "Sin",
                                           "Sinh",
                                           "Softplus",
                                           "Softsign",
                                           "Sqrt",
                                           "Sub",
                                           "Sum",
                                           "Tan",
                                           "Tanh",
                                           "ThresholdedRelu",
                                           "Where",
                                           "Xor",
                                           "com.microsoft.QLinearAdd"};

struct Family {
  KernelFactory make;
  UnsupportedQuestion unsupported;
  std::vector<const char*> ops;
};

const std::vector<Family>& OtherFamilies() {
  static const std::vector<Family> families = {
      {&MakeReduce,
       &ReduceUnsupported,
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
        "ReduceSum", "ReduceSumSquare"}},
      {&MakeLineKernel, &LineKernelUnsupported, {"ArgMax", "ArgMin", "CumSum", "Hardmax", "TopK"}},
      {&MakeCopy, &CopyUnsupported, {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}},
      {&MakeMovement,
       &MovementUnsupported,
       {"CenterCropPad", "DepthToSpace", "Expand", "Pad", "Resize", "Slice", "SpaceToDepth", "Split", "Tile",
        "Transpose", "Upsample"}},
      {&MakeInterpolation, &InterpolationUnsupported, {"Resize", "Upsample"}},
      {&MakeGather,
       &GatherUnsupported,
       {"Gather", "GatherElements", "GatherND", "OneHot", "ReverseSequence", "Scatter", "ScatterElements",
        "ScatterND"}},
      {&MakeGenerator, &GeneratorUnsupported, {"ConstantOfShape", "EyeLike", "Range", "Shape", "Size"}},
      {&MakeGridSample, &GridSampleUnsupported, {"GridSample"}},
      {&MakeBoxSelection, &BoxSelectionUnsupported, {"NonMaxSuppression"}},
      {&MakeTrilu, &TriluUnsupported, {"Trilu"}},
      {&MakeDynamicQuantize, &DynamicQuantizeUnsupported, {"DynamicQuantizeLinear"}},
      {&MakeMaskedDropout, &MaskedDropoutUnsupported, {"Dropout"}},
      {&MakeAnyConcat, &AnyConcatUnsupported, {"Concat"}},
      {&MakeLoss, &LossUnsupported, {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}},
      {&MakeRecurrent, &RecurrentUnsupported, {"GRU", "LSTM", "RNN"}},
  };
  return families;
}

}  // namespace

std::vector<KernelEntry> LightKernels() {
  std::vector<KernelEntry> entries;
  for (const char* op : kElementwiseOps) entries.push_back({op, &MakeElementwiseKernel, &ElementwiseUnsupported});
  for (const Family& family : OtherFamilies()) {
    for (const char* op : family.ops) entries.push_back({op, family.make, family.unsupported});
  }
  return entries;
}

}  // namespace millrace
