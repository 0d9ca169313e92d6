// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/quantized_product.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "millrace/runtime/aligned_memory.h"
#include "millrace/runtime/integer_products.h"
#include "millrace/runtime/matrix_shapes.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/quantization.h"
#include "millrace/runtime/value_readers.h"
#include "millrace/runtime/work_share.h"

namespace millrace {
namespace {

constexpr std::int64_t kRowsWorthSharing = 8;
constexpr std::int64_t kColumnGrain = 64;

// Which inputs of the node are what.
struct ProductPlaces {
  std::size_t left_zero, right, right_zero;
  std::optional<std::size_t> left_scale, right_scale, addend, result_scale;  // those of results in 8 bits
};

ProductPlaces ProductPlacesOf(const Node& node) {
  if (node.op_type == "MatMulInteger") return {2, 1, 3, {}, {}, {}, {}};
  if (node.op_type == "QGemm") return {2, 3, 5, 1, 4, 6, 7};
  return {2, 3, 5, 1, 4, {}, 6};
}

struct ProductNumbers {
  std::int32_t left_zero = 0;
  int computed_zero = -1;                // the value that has the left side's, where it is computed
  std::vector<std::int32_t> right_zero;  // one, or by column
  bool scales = false;                   // the result is no sum of int32 but in 8 bits, or numbers
  std::vector<float> factor;             // by column: of the sums
  std::vector<std::int32_t> addend;      // by column; empty: none
  std::int32_t result_zero = 0;
};

const Value& InputAt(const Model& model, const Node& node, std::size_t input) {
  return model.values[static_cast<std::size_t>(node.inputs[input])];
}

std::optional<ProductNumbers> ProductNumbersOf(const Model& model, int node_id, std::string* why) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const ProductPlaces places = ProductPlacesOf(node);
  const auto refuse = [&](const std::string& what) {
    *why = node.op_type + " " + what;
    return std::nullopt;
  };
  for (const std::size_t side : {std::size_t{0}, places.right}) {
    const Value& value = InputAt(model, node, side);
    if (value.type != DataType::kInt8 && value.type != DataType::kUint8)
      return refuse(std::string("on ") + NameOf(value.type));
    if (ElementsOf(value.shape) == 0 || value.shape.empty()) return refuse("on a tensor without elements");
  }
  if (InputAt(model, node, 0).constant != nullptr) return refuse("of a constant");
  if (Model::IntOf(node, "transA", 0) != 0) return refuse("of a transposed left side");
  const MatrixShapes shapes = MatrixShapesOf(model, node_id, places.right);
  const auto columns = static_cast<std::size_t>(shapes.columns);
  const auto fits = [columns](std::size_t count) { return count == 1 || count == columns; };
  ProductNumbers numbers;
  const auto right_zero = ZeroPointsAt(model, node, places.right_zero);
  if (!right_zero || !fits(right_zero->size())) return refuse("with computed zero points");
  numbers.right_zero = *right_zero;
  const auto left_zero = ZeroPointsAt(model, node, places.left_zero);
  if (left_zero && left_zero->size() == 1) {
    numbers.left_zero = left_zero->front();
  } else {
    if (left_zero || ElementsOf(InputAt(model, node, places.left_zero).shape) != 1)
      return refuse("with several zero points on the left");
    numbers.computed_zero = node.inputs[places.left_zero];
  }
  if (!places.result_scale) return numbers;
  numbers.scales = true;
  const bool stores = *places.result_scale < node.inputs.size() && node.inputs[*places.result_scale] >= 0;
  const DataType made = model.values[static_cast<std::size_t>(node.outputs[0])].type;
  if (stores != (StoredRangeOf(made) && BytesOf(made) == 1) || (!stores && made != DataType::kFloat32))
    return refuse(std::string("that makes ") + NameOf(made));
  const auto left = QuantizationAt(model, node, *places.left_scale),
             right = QuantizationAt(model, node, *places.right_scale),
             result = stores ? QuantizationAt(model, node, *places.result_scale)
                             : std::optional<Quantization>({.scale = {1}, .zero_point = {0}});
  if (!left || !right || !result || !left->whole() || !result->whole() || !fits(right->scale.size()))
    return refuse("whose scales are computed or of another form");
  numbers.result_zero = result->zero_point.front();
  for (std::size_t c = 0; c < columns; ++c) {
    numbers.factor.push_back(shapes.alpha * left->scale.front() * right->scale[right->whole() ? 0 : c] /
                             result->scale.front());
  }
  if (places.addend && *places.addend < node.inputs.size() && node.inputs[*places.addend] >= 0) {
    const ConstantData* addend = ConstantOf(model, node.inputs[*places.addend]);
    if (addend == nullptr || addend->type() != DataType::kInt32 || ElementsOf(addend->shape()) != shapes.columns ||
        shapes.alpha != 1)
      return refuse("with an addend that is no constant of int32 by column");
    for (const std::int64_t wide : addend->AsInt64s()) numbers.addend.push_back(static_cast<std::int32_t>(wide));
  }
  return numbers;
}

// sums[i] += left x right[i].
MILLRACE_INLINE void AddRow(std::int32_t* sums, const std::int16_t* right, std::int32_t left, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += left * right[i];
}

template <typename Stored>
MILLRACE_INLINE void NarrowProducts(const std::int32_t* sums, const float* factor, std::byte* out, std::int64_t count,
                                    float zero, float low, float high) {
  auto* to = reinterpret_cast<Stored*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    const float number = static_cast<float>(sums[i]) * factor[i];
    to[i] = static_cast<Stored>(static_cast<std::int32_t>(RoundedWithin(number, low - zero, high - zero) + zero));
  }
}

MILLRACE_INLINE void ScaleProducts(const std::int32_t* sums, const float* factor, float* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(sums[i]) * factor[i];
}

std::int32_t ByteAt(const std::byte* bytes, std::int64_t at, DataType type) {
  return type == DataType::kInt8 ? reinterpret_cast<const std::int8_t*>(bytes)[at]
                                 : reinterpret_cast<const std::uint8_t*>(bytes)[at];
}

class QuantizedProduct : public PrimitiveKernel {
 public:
  QuantizedProduct(const KernelRequest& request, ProductNumbers numbers)
      : PrimitiveKernel(request), numbers_(std::move(numbers)) {
    const Model& model = *request.model;
    const int id = request.nodes.front();
    const Node& node = model.nodes[static_cast<std::size_t>(id)];
    const ProductPlaces places = ProductPlacesOf(node);
    product_ = MatrixShapesOf(model, id, places.right);
    left_type_ = InputAt(model, node, 0).type;
    right_type_ = InputAt(model, node, places.right).type;
    result_type_ = model.values[static_cast<std::size_t>(node.outputs.front())].type;
    if (numbers_.computed_zero >= 0) computed_zero_ = Operand::Input(InputIndex(numbers_.computed_zero));
    const ConstantData* right = ConstantOf(model, node.inputs[places.right]);
    if (right == nullptr) {
      right_input_ = InputIndex(node.inputs[places.right]);
    } else {
      KeepRight(right->AsInt64s());
    }
    const std::int64_t all_rows = product_.rows * ElementsOf(product_.batch);
    const bool one_right = right != nullptr && right->shape().size() <= 2;
    if (one_right && TakeBytes(request, all_rows)) return;
    if (one_right) {
      product_.rows = all_rows;
      product_.batch.clear();
      product_.left_offsets = product_.right_offsets = {0};
    }
    AddLoops();
  }

 private:
  // Less the zero points, [inner, column], for each matrix one after another.
  void KeepRight(const std::vector<std::int64_t>& stored) {
    right_.resize(stored.size());
    const auto inner = static_cast<std::size_t>(product_.inner), columns = static_cast<std::size_t>(product_.columns);
    for (std::size_t matrix = 0; matrix < stored.size(); matrix += inner * columns) {
      for (std::size_t k = 0; k < inner; ++k) {
        for (std::size_t c = 0; c < columns; ++c) {
          const std::size_t from = product_.right_transposed ? c * inner + k : k * columns + c;
          right_[matrix + k * columns + c] = static_cast<std::int16_t>(stored[matrix + from] - RightZero(c));
        }
      }
    }
  }

  std::int32_t RightZero(std::size_t column) const {
    return numbers_.right_zero[numbers_.right_zero.size() == 1 ? 0 : column];
  }

  // Part of the columns of several rows is no dense matrix, for which oneDNN's fast kernels are made.
  bool by_rows(std::int64_t rows) const { return rows >= kRowsWorthSharing * workers(); }

  // oneDNN's products, where they are exact: true.
  bool TakeBytes(const KernelRequest& request, std::int64_t rows) {
    const auto inner = static_cast<std::size_t>(product_.inner), columns = static_cast<std::size_t>(product_.columns);
    std::vector<float> by_column(right_.size());
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t c = 0; c < columns; ++c) by_column[c * inner + k] = right_[k * columns + c];
    }
    const auto [least, most] = std::minmax_element(right_.begin(), right_.end());
    if (*least < -128 || *most > 127 || !SumsAreExact(by_column, inner, left_type_)) return false;
    for (int worker = 0; worker < workers(); ++worker) {
      const bool rowwise = by_rows(rows);
      const Share own_rows = rowwise ? ShareOf(rows, workers(), worker) : Share{0, rows};
      const Share own_columns =
          rowwise ? Share{0, product_.columns} : ShareOf(product_.columns, workers(), worker, kColumnGrain);
      if (own_rows.size() == 0 || own_columns.size() == 0) continue;
      const dnnl::matmul::primitive_desc description = Describe(own_rows, own_columns);
      if (!description || IsReference(description.impl_info_str())) return false;
      AddBytes(request, worker, description, own_rows, own_columns, by_column);
    }
    right_.clear();
    right_.shrink_to_fit();
    return true;
  }

  dnnl::matmul::primitive_desc Describe(Share rows, Share columns) const {
    const auto type = !numbers_.scales                     ? dnnl::memory::data_type::s32
                      : result_type_ == DataType::kFloat32 ? dnnl::memory::data_type::f32
                                                           : ByteTypeOf(result_type_);
    const dnnl::memory::desc left = PlainOf({rows.size(), product_.inner}, ByteTypeOf(left_type_));
    const dnnl::memory::desc right({product_.inner, columns.size()}, dnnl::memory::data_type::s8,
                                   dnnl::memory::format_tag::any);
    const std::int64_t row_stride = rows.size() == 1 ? columns.size() : product_.columns;
    const dnnl::memory::desc result({rows.size(), columns.size()}, type, dnnl::memory::dims{row_stride, 1});
    const dnnl::memory::desc addend = PlainOf({1, columns.size()}, dnnl::memory::data_type::s32);
    dnnl::primitive_attr attributes = PrimitiveAttributes();
    if (numbers_.scales) {
      const std::vector<float> factor(numbers_.factor.begin() + columns.begin, numbers_.factor.begin() + columns.end);
      attributes.set_output_scales(1 << 1, factor);
      if (numbers_.result_zero != 0) attributes.set_zero_points(DNNL_ARG_DST, 0, {numbers_.result_zero});
    }
    if (numbers_.left_zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {numbers_.left_zero});
    if (numbers_.addend.empty()) return {{left, right, result}, attributes, CpuEngine(), true};
    return {{left, right, addend, result}, attributes, CpuEngine(), true};
  }

  void AddBytes(const KernelRequest& request, int worker, const dnnl::matmul::primitive_desc& description, Share rows,
                Share columns, const std::vector<float>& by_column) {
    const std::size_t element = BytesOf(result_type_);
    const Operand to =
        Operand::Output(0, static_cast<std::size_t>(rows.begin * product_.columns + columns.begin) * element);
    const dnnl::memory::desc plain({product_.inner, columns.size()}, dnnl::memory::data_type::f32,
                                   dnnl::memory::dims{1, product_.inner});
    const Operand weights = KeepWeights(request, "integers from column " + std::to_string(columns.begin), plain,
                                        by_column.data() + columns.begin * product_.inner, description.weights_desc());
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, description.src_desc(),
                                        Operand::Input(0, static_cast<std::size_t>(rows.begin * product_.inner))},
                                       {DNNL_ARG_WEIGHTS, description.weights_desc(), weights},
                                       {DNNL_ARG_DST, description.dst_desc(), to}};
    if (!numbers_.addend.empty()) {
      const auto count = static_cast<std::size_t>(columns.size());
      arguments.push_back({DNNL_ARG_BIAS, description.bias_desc(),
                           KeepBytes(numbers_.addend.data() + columns.begin, count * sizeof(std::int32_t))});
    }
    AddPrimitive(0, worker, dnnl::matmul(description), description.scratchpad_desc(), arguments);
    if (computed_zero_) AddCorrection(worker, rows, columns, to);
  }

  // What the left side's zero point, known only now, adds to every column's sum is taken off again.
  void AddCorrection(int worker, Share rows, Share columns, const Operand& to) {
    std::vector<std::int32_t> column_sums(static_cast<std::size_t>(columns.size()), 0);
    for (std::int64_t k = 0; k < product_.inner; ++k) {
      for (std::int64_t c = columns.begin; c < columns.end; ++c)
        column_sums[static_cast<std::size_t>(c - columns.begin)] +=
            right_[static_cast<std::size_t>(k * product_.columns + c)];
    }
    AddTask(0, worker, [this, rows, to, sums = std::move(column_sums)](const KernelBuffers& buffers) {
      const std::int32_t zero = LeftZero(buffers);
      auto* at = reinterpret_cast<std::int32_t*>(to.Write(buffers));
      for (std::int64_t row = 0; row < rows.size(); ++row, at += product_.columns) {
        for (std::size_t c = 0; c < sums.size(); ++c) at[c] -= zero * sums[c];
      }
    });
  }

  std::int32_t LeftZero(const KernelBuffers& buffers) const {
    return computed_zero_ ? ByteAt(computed_zero_->Read(buffers), 0, left_type_) : numbers_.left_zero;
  }

  void AddLoops() {
    const std::int64_t batches = ElementsOf(product_.batch);
    const std::int64_t matrix = product_.inner * product_.columns;
    const std::int64_t pieces = batches % workers() == 0 ? 1 : workers();
    for (int worker = 0; worker < workers(); ++worker) {
      const std::size_t sums = AlignedSize(static_cast<std::size_t>(product_.columns) * sizeof(std::int32_t));
      const std::size_t widened = right_input_ ? static_cast<std::size_t>(matrix) * sizeof(std::int16_t) : 0;
      const Operand scratch = TakeScratch(sums + widened);
      const Share share = ShareOf(batches * pieces, workers(), worker);
      AddTask(0, worker, [this, share, pieces, scratch](const KernelBuffers& buffers) {
        for (std::int64_t item = share.begin; item < share.end; ++item) {
          const Share rows = ShareOf(product_.rows, static_cast<int>(pieces), static_cast<int>(item % pieces));
          if (rows.size() > 0) Multiply(buffers, item / pieces, rows, scratch);
        }
      });
    }
  }

  // The right side of a batch less its zero points.
  const std::int16_t* RightOf(const KernelBuffers& buffers, std::int64_t batch, std::byte* room) const {
    const std::int64_t offset = product_.right_offsets[static_cast<std::size_t>(batch)];
    if (!right_input_) return right_.data() + offset;
    auto* widened = reinterpret_cast<std::int16_t*>(room);
    const std::byte* from = buffers.inputs[*right_input_] + offset;
    for (std::int64_t k = 0; k < product_.inner; ++k) {
      for (std::int64_t c = 0; c < product_.columns; ++c) {
        const std::int64_t at = product_.right_transposed ? c * product_.inner + k : k * product_.columns + c;
        widened[k * product_.columns + c] =
            static_cast<std::int16_t>(ByteAt(from, at, right_type_) - RightZero(static_cast<std::size_t>(c)));
      }
    }
    return widened;
  }

  void Multiply(const KernelBuffers& buffers, std::int64_t batch, Share rows, const Operand& scratch) const {
    const std::int64_t columns = product_.columns;
    auto* sums = reinterpret_cast<std::int32_t*>(scratch.Write(buffers));
    std::byte* room = scratch.Write(buffers) + AlignedSize(static_cast<std::size_t>(columns) * sizeof(std::int32_t));
    const std::int16_t* right = RightOf(buffers, batch, room);
    const std::byte* left = buffers.inputs[0] + product_.left_offsets[static_cast<std::size_t>(batch)];
    const std::int32_t zero = LeftZero(buffers);
    const StoredRange range = StoredRangeOf(result_type_).value_or(StoredRange{});
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      if (numbers_.addend.empty()) {
        std::fill(sums, sums + columns, 0);
      } else {
        std::copy(numbers_.addend.begin(), numbers_.addend.end(), sums);
      }
      for (std::int64_t k = 0; k < product_.inner; ++k)
        add_row_(sums, right + k * columns, ByteAt(left, row * product_.inner + k, left_type_) - zero, columns);
      const std::int64_t at = (batch * product_.rows + row) * columns;
      if (!numbers_.scales) {
        std::copy(sums, sums + columns, reinterpret_cast<std::int32_t*>(buffers.outputs[0]) + at);
        continue;
      }
      if (result_type_ == DataType::kFloat32) {
        scale_(sums, numbers_.factor.data(), reinterpret_cast<float*>(buffers.outputs[0]) + at, columns);
        continue;
      }
      const auto narrow = result_type_ == DataType::kInt8 ? narrow_signed_ : narrow_unsigned_;
      narrow(sums, numbers_.factor.data(), buffers.outputs[0] + at, columns, static_cast<float>(numbers_.result_zero),
             static_cast<float>(range.low), static_cast<float>(range.high));
    }
  }

  ProductNumbers numbers_;
  MatrixShapes product_;
  DataType left_type_ = DataType::kUint8, right_type_ = DataType::kUint8, result_type_ = DataType::kUint8;
  std::optional<Operand> computed_zero_;
  std::optional<std::size_t> right_input_;  // where the right side is computed
  std::vector<std::int16_t> right_;         // where it is constant and the loops multiply
  decltype(Versions<&AddRow>::Best()) add_row_ = Versions<&AddRow>::Best();
  decltype(Versions<&ScaleProducts>::Best()) scale_ = Versions<&ScaleProducts>::Best();
  decltype(Versions<&NarrowProducts<std::int8_t>>::Best()) narrow_signed_ =
      Versions<&NarrowProducts<std::int8_t>>::Best();
  decltype(Versions<&NarrowProducts<std::uint8_t>>::Best()) narrow_unsigned_ =
      Versions<&NarrowProducts<std::uint8_t>>::Best();
};

std::string UnsupportedProduct(const Model& model, int node) {
  std::string why;
  ProductNumbersOf(model, node, &why);
  return why;
}

std::unique_ptr<Kernel> MakeQuantizedProduct(const KernelRequest& request) {
  std::string why;
  return std::make_unique<QuantizedProduct>(request, *ProductNumbersOf(*request.model, request.nodes.front(), &why));
}

}  // namespace

std::vector<KernelEntry> QuantizedProductKernels() {
  return {{"QLinearMatMul", MakeQuantizedProduct, UnsupportedProduct},
          {"MatMulInteger", MakeQuantizedProduct, UnsupportedProduct},
          {"com.microsoft.QGemm", MakeQuantizedProduct, UnsupportedProduct}};
}

}  // namespace millrace
