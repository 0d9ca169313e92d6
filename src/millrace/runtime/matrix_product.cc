// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/matrix_product.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "millrace/runtime/epilogue.h"
#include "millrace/runtime/matrix_shapes.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/refusal.h"
#include "millrace/runtime/reorder.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

// A worker's part must have so many rows for the packed product to be shared out by rows.
constexpr std::int64_t kRowsWorthSharing = 32;
constexpr std::int64_t kColumnGrain = 64;
constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));

// Writes the addend of a Gemm, times its factor, where the product is to be added to it.
struct Prefill {
  Operand addend;
  std::int64_t row_stride = 0;     // 0: the same for every row
  std::int64_t column_stride = 0;  // 0: the same for every column
  float factor = 1;

  void Write(const KernelBuffers& buffers, float* output, std::int64_t output_stride, Share rows, Share columns) const {
    const auto* from = reinterpret_cast<const float*>(addend.Read(buffers));
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t column = columns.begin; column < columns.end; ++column)
        output[row * output_stride + column] = factor * from[row * row_stride + column * column_stride];
    }
  }
};

Prefill PrefillOf(const Shape& shape, const Operand& addend, float factor) {
  Prefill prefill{addend, 0, 0, factor};
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const std::int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  prefill.column_stride = columns == 1 ? 0 : 1;
  prefill.row_stride = rows == 1 ? 0 : columns;
  return prefill;
}

class PackedProduct : public PrimitiveKernel {
 public:
  PackedProduct(const KernelRequest& request, const Epilogue& epilogue)
      : PrimitiveKernel(request),
        epilogue_(epilogue),
        product_(MatrixShapesOf(*request.model, epilogue.nodes.front())) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(epilogue.nodes.front())];
    rows_ = product_.rows * ElementsOf(product_.batch);
    source_ = Operand::Input(InputIndex(node.inputs[0]));
    weights_ = ConstantOf(model, node.inputs[1])->AsFloats();
    PrepareBias(model, node);
    ScaleWeights();
    // Shared out by rows every worker reads all weights, by columns every worker reads all rows: the smaller of the two
    // is what should be read twice.
    const bool by_rows = rows_ >= kRowsWorthSharing * workers() && rows_ >= product_.columns;
    for (int worker = 0; worker < workers(); ++worker) {
      const Share rows = by_rows ? ShareOf(rows_, workers(), worker) : Share{0, rows_};
      const Share columns =
          by_rows ? Share{0, product_.columns} : ShareOf(product_.columns, workers(), worker, kColumnGrain);
      if (rows.size() > 0 && columns.size() > 0) AddPart(request, worker, rows, columns);
    }
    weights_.clear();
    weights_.shrink_to_fit();
  }

 private:
  void PrepareBias(const Model& model, const Node& node) {
    bias_.assign(static_cast<std::size_t>(product_.columns), 0.0f);
    if (node.op_type != "Gemm" || node.inputs.size() < 3 || node.inputs[2] < 0 || product_.beta == 0) return;
    const ConstantData& addend = *ConstantOf(model, node.inputs[2]);
    const std::vector<float> columns = PerChannel(addend, {product_.rows, product_.columns}, 1);
    for (std::size_t i = 0; i < bias_.size(); ++i) bias_[i] = product_.beta * columns[i];
  }

  // Weights and bias with Gemm's alpha and the epilogue's scale and shift in them.
  void ScaleWeights() {
    const auto columns = static_cast<std::size_t>(product_.columns);
    std::vector<float> scale(columns, product_.alpha);
    if (!epilogue_.scale.empty()) {
      for (std::size_t i = 0; i < columns; ++i) {
        scale[i] *= epilogue_.scale[i];
        bias_[i] = bias_[i] * epilogue_.scale[i] + epilogue_.shift[i];
      }
    }
    if (std::all_of(scale.begin(), scale.end(), [](float value) { return value == 1; })) return;
    const auto inner = static_cast<std::size_t>(product_.inner);
    for (std::size_t row = 0; row < inner; ++row) {
      for (std::size_t column = 0; column < columns; ++column)
        weights_[product_.right_transposed ? column * inner + row : row * columns + column] *= scale[column];
    }
  }

  dnnl::memory::desc Strided(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                             std::int64_t column_stride) const {
    return {{rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::dims{row_stride, column_stride}};
  }

  // Of some rows and columns, as a primitive.
  struct Described {
    dnnl::primitive primitive;
    dnnl::memory::desc scratchpad, source, plain_weights, weights, bias, output;
    bool dense = false;  // rows of its results follow each other, no other columns between them
  };

  Described Describe(Share rows, Share columns) const {
    dnnl::primitive_attr attributes = PrimitiveAttributes();
    dnnl::post_ops post_ops;
    if (epilogue_.residual >= 0) post_ops.append_sum(1.0f);
    Append(epilogue_.activation, post_ops);
    attributes.set_post_ops(post_ops);
    const bool transposed = product_.left_transposed;
    const dnnl::memory::desc source = transposed ? Strided(rows.size(), product_.inner, 1, rows_)
                                                 : Strided(rows.size(), product_.inner, product_.inner, 1);
    const dnnl::memory::desc output = Strided(rows.size(), columns.size(), product_.columns, 1);
    const dnnl::memory::desc bias = Strided(1, columns.size(), columns.size(), 1);
    const dnnl::memory::desc any({product_.inner, columns.size()}, dnnl::memory::data_type::f32,
                                 dnnl::memory::format_tag::any);
    const dnnl::matmul::primitive_desc product({source, any, bias, output}, attributes, CpuEngine());
    // Without AVX-512 oneDNN multiplies matrices whose sides it packs anew in every run, at a third of the speed where
    // rows lie a multiple of 4 KiB apart. Its convolutions with windows of one position keep weights packed.
    if (std::string_view(product.impl_info_str()).starts_with("gemm") && !transposed) {
      if (auto convolution = DescribeConvolution(rows.size(), columns.size(), attributes)) return *convolution;
    }
    const dnnl::memory::desc plain = product_.right_transposed
                                         ? Strided(product_.inner, columns.size(), 1, product_.inner)
                                         : Strided(product_.inner, columns.size(), product_.columns, 1);
    return {
        dnnl::matmul(product), product.scratchpad_desc(), source, plain, product.weights_desc(), bias, output, false};
  }

  // Rows as the positions of one image, inner numbers as its channels. Nothing where oneDNN has no fast one.
  std::optional<Described> DescribeConvolution(std::int64_t rows, std::int64_t columns,
                                               const dnnl::primitive_attr& attributes) const {
    using Description = dnnl::memory::desc;
    constexpr auto kType = dnnl::memory::data_type::f32;
    const Description source({1, product_.inner, 1, rows}, kType, dnnl::memory::format_tag::nhwc);
    const Description output({1, columns, 1, rows}, kType, dnnl::memory::format_tag::nhwc);
    const Description any({columns, product_.inner, 1, 1}, kType, dnnl::memory::format_tag::any);
    const dnnl::convolution_forward::primitive_desc found({dnnl::prop_kind::forward_inference,
                                                           dnnl::algorithm::convolution_direct,
                                                           source,
                                                           any,
                                                           PlainDescription({columns}),
                                                           output,
                                                           {1, 1},
                                                           {0, 0},
                                                           {0, 0}},
                                                          attributes, CpuEngine(), true);
    if (!found || !std::string_view(found.impl_info_str()).starts_with("jit_1x1")) return std::nullopt;
    const dnnl::memory::dims strides = product_.right_transposed ? dnnl::memory::dims{product_.inner, 1, 1, 1}
                                                                 : dnnl::memory::dims{1, product_.columns, 1, 1};
    return Described{dnnl::convolution_forward(found),
                     found.scratchpad_desc(),
                     source,
                     Description({columns, product_.inner, 1, 1}, kType, strides),
                     found.weights_desc(),
                     found.bias_desc(),
                     output,
                     true};
  }

  void AddPart(const KernelRequest& request, int worker, Share rows, Share columns) {
    const Described product = Describe(rows, columns);
    const std::int64_t at = rows.begin * product_.columns + columns.begin;
    const Rows result{Operand::Output(0, static_cast<std::size_t>(at * kFloat)), product_.columns};
    // Where other columns lie between them, results that must be dense are made elsewhere and copied.
    const bool elsewhere = product.dense && rows.size() > 1 && columns.size() < product_.columns;
    const Rows made =
        elsewhere ? Rows{TakeScratch(static_cast<std::size_t>(rows.size() * columns.size() * kFloat)), columns.size()}
                  : result;
    if (epilogue_.residual >= 0) {
      const Operand residual = Operand::Input(InputIndex(epilogue_.residual), result.first.offset);
      AddRowCopy(worker, {residual, product_.columns}, made, rows.size(), columns.size());
    }
    const std::int64_t source_at = rows.begin * (product_.left_transposed ? 1 : product_.inner);
    AddPrimitive(
        0, worker, product.primitive, product.scratchpad,
        {{DNNL_ARG_SRC, product.source, source_.Plus(static_cast<std::size_t>(source_at * kFloat))},
         {DNNL_ARG_WEIGHTS, product.weights, WeightsOf(request, columns, product)},
         {DNNL_ARG_BIAS, product.bias, KeepFloats({bias_.begin() + columns.begin, bias_.begin() + columns.end})},
         {DNNL_ARG_DST, product.output, made.first}});
    if (elsewhere) AddRowCopy(worker, made, result, rows.size(), columns.size());
  }

  // Where some rows of floats begin, and how many floats apart they are.
  struct Rows {
    Operand first;
    std::int64_t stride = 0;
  };

  void AddRowCopy(int worker, const Rows& from, const Rows& to, std::int64_t rows, std::int64_t columns) {
    AddTask(0, worker, [from, to, rows, columns](const KernelBuffers& buffers) {
      const auto* read = reinterpret_cast<const float*>(from.first.Read(buffers));
      auto* written = reinterpret_cast<float*>(to.first.Write(buffers));
      for (std::int64_t row = 0; row < rows; ++row) {
        std::memcpy(written + row * to.stride, read + row * from.stride, static_cast<std::size_t>(columns * kFloat));
      }
    });
  }

  Operand WeightsOf(const KernelRequest& request, Share columns, const Described& product) {
    for (const Kept& kept : kept_weights_) {
      if (kept.begin == columns.begin && kept.description == product.weights) return kept.operand;
    }
    const std::int64_t at = columns.begin * (product_.right_transposed ? product_.inner : 1);
    const std::string key = "columns " + std::to_string(columns.begin);
    kept_weights_.push_back({columns.begin, product.weights,
                             KeepWeights(request, key, product.plain_weights, weights_.data() + at, product.weights)});
    return kept_weights_.back().operand;
  }

  struct Kept {
    std::int64_t begin;
    dnnl::memory::desc description;
    Operand operand;
  };

  Epilogue epilogue_;
  MatrixShapes product_;
  std::int64_t rows_ = 0;  // of all batches together
  Operand source_;
  std::vector<float> weights_, bias_;
  std::vector<Kept> kept_weights_;
};

// Both sides computed, or batches on both: sgemm per batch and share of rows.
class LooseProduct : public PrimitiveKernel {
 public:
  explicit LooseProduct(const KernelRequest& request)
      : PrimitiveKernel(request), product_(MatrixShapesOf(*request.model, request.nodes.front())) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    left_ = OperandOf(model, node.inputs[0]);
    right_ = OperandOf(model, node.inputs[1]);
    if (node.op_type == "Gemm" && node.inputs.size() > 2 && node.inputs[2] >= 0 && product_.beta != 0) {
      prefill_ = PrefillOf(model.values[static_cast<std::size_t>(node.inputs[2])].shape,
                           OperandOf(model, node.inputs[2]), product_.beta);
      adds_ = true;
    }
    const std::int64_t batches = ElementsOf(product_.batch);
    const std::int64_t pieces = batches % workers() == 0 ? 1 : workers();
    for (int worker = 0; worker < workers(); ++worker) {
      const Share share = ShareOf(batches * pieces, workers(), worker);
      AddTask(0, worker, [this, share, pieces](const KernelBuffers& buffers) {
        for (std::int64_t item = share.begin; item < share.end; ++item) {
          const Share rows = ShareOf(product_.rows, static_cast<int>(pieces), static_cast<int>(item % pieces), 8);
          if (rows.size() > 0) Multiply(buffers, item / pieces, rows);
        }
      });
    }
  }

 private:
  void Multiply(const KernelBuffers& buffers, std::int64_t batch, Share rows) const {
    const auto at = static_cast<std::size_t>(batch);
    const auto* left = reinterpret_cast<const float*>(left_.Read(buffers)) + product_.left_offsets[at];
    const auto* right = reinterpret_cast<const float*>(right_.Read(buffers)) + product_.right_offsets[at];
    float* output = reinterpret_cast<float*>(buffers.outputs[0]) + batch * product_.rows * product_.columns;
    if (adds_) prefill_.Write(buffers, output, product_.columns, rows, {0, product_.columns});
    const std::int64_t left_stride = product_.left_transposed ? product_.rows : product_.inner;
    const std::int64_t right_stride = product_.right_transposed ? product_.inner : product_.columns;
    left += rows.begin * (product_.left_transposed ? 1 : product_.inner);
    dnnl_sgemm(product_.left_transposed ? 'T' : 'N', product_.right_transposed ? 'T' : 'N', rows.size(),
               product_.columns, product_.inner, product_.alpha, left, left_stride, right, right_stride,
               adds_ ? 1.0f : 0.0f, output + rows.begin * product_.columns, product_.columns);
  }

  MatrixShapes product_;
  Operand left_, right_;
  Prefill prefill_;
  bool adds_ = false;
};

std::unique_ptr<Kernel> MakeMatrixProduct(const KernelRequest& request) {
  const int node = request.nodes.front();
  if (!TakesEpilogue(*request.model, node)) return std::make_unique<LooseProduct>(request);
  const Node& of = request.model->nodes[static_cast<std::size_t>(node)];
  const std::size_t rank = request.model->values[static_cast<std::size_t>(of.outputs.front())].shape.size();
  return std::make_unique<PackedProduct>(request, EpilogueOf(*request.model, request.nodes, node, rank - 1));
}

}  // namespace

bool TakesEpilogue(const Model& model, int node) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  if (of.op_type != "Gemm" && of.op_type != "MatMul") return false;
  const ConstantData* right = ConstantOf(model, of.inputs[1]);
  if (right == nullptr || right->shape().size() != 2 || ConstantOf(model, of.inputs[0]) != nullptr) return false;
  if (model.values[static_cast<std::size_t>(of.inputs[0])].shape.size() < 2) return false;
  if (of.op_type == "MatMul" || of.inputs.size() < 3 || of.inputs[2] < 0) return true;
  const ConstantData* addend = ConstantOf(model, of.inputs[2]);
  // A scale behind the product would have to reach an addend that is not in the bias.
  return addend != nullptr &&
         !PerChannel(*addend, model.values[static_cast<std::size_t>(of.outputs.front())].shape, 1).empty();
}

std::vector<KernelEntry> MatrixProductKernels() {
  return {{"Gemm", MakeMatrixProduct, RefuseTypes}, {"MatMul", MakeMatrixProduct, RefuseTypes}};
}

}  // namespace millrace
