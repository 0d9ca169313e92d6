// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/einsum.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "millrace/formats/onnx_einsum.h"
#include "millrace/runtime/element_types.h"
#include "millrace/runtime/one_node_kernel.h"
#include "millrace/runtime/primitive_kernel.h"
#include "millrace/runtime/table_copy.h"

namespace millrace {
namespace {

constexpr std::size_t kMostInputs = 8;
constexpr std::int64_t kElementGrain = 64;

using Labels = std::vector<int>;

std::vector<Shape> InputShapes(const Model& model, const Node& node) {
  std::vector<Shape> shapes;
  for (const int id : node.inputs) {
    if (id < 0) return {};
    shapes.push_back(model.values[static_cast<std::size_t>(id)].shape);
  }
  return shapes;
}

std::optional<EinsumLabels> LabelsOf(const Model& model, const Node& node) {
  return LabelsOfEinsum(Model::StringOf(node, "equation", ""), InputShapes(model, node));
}

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// How far one step along each label moves in this tensor; a label that occurs twice moves along its diagonal.
std::vector<std::int64_t> StridesByLabel(const Labels& labels, const Shape& shape, std::size_t count) {
  std::vector<std::int64_t> strides(count, 0);
  const std::vector<std::int64_t> own = StridesOf(shape);
  for (std::size_t d = 0; d < labels.size(); ++d) {
    if (shape[d] != 1) strides[static_cast<std::size_t>(labels[d])] += own[d];
  }
  return strides;
}

// What the labels of a product of two matrices do, in the order in which the matrices have them.
struct Roles {
  Labels batch, rows, columns, summed;
};

Labels Joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

std::int64_t ExtentOf(const EinsumLabels& einsum, const Labels& labels) {
  std::int64_t extent = 1;
  for (const int label : labels) extent *= einsum.extents[static_cast<std::size_t>(label)];
  return extent;
}

// Nothing where it is no product of matrices: a label that only one factor has is summed over, or one spreads.
std::optional<Roles> RolesOf(const EinsumLabels& einsum, const std::vector<Shape>& shapes) {
  if (shapes.size() != 2) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      if (shapes[i][d] != einsum.extents[static_cast<std::size_t>(einsum.inputs[i][d])]) return std::nullopt;
    }
  }
  Roles roles;
  for (int label = 0; label < static_cast<int>(einsum.extents.size()); ++label) {
    const bool left = Has(einsum.inputs[0], label), right = Has(einsum.inputs[1], label);
    if (!Has(einsum.output, label)) {
      if (!left || !right) return std::nullopt;
      roles.summed.push_back(label);
    }
  }
  for (const int label : einsum.output) {
    const bool left = Has(einsum.inputs[0], label), right = Has(einsum.inputs[1], label);
    (left && right ? roles.batch : left ? roles.rows : roles.columns).push_back(label);
  }
  return roles;
}

class EinsumProduct : public PrimitiveKernel {
 public:
  explicit EinsumProduct(const KernelRequest& request) : PrimitiveKernel(request) {
    const Model& model = *request.model;
    const Node& node = model.nodes[static_cast<std::size_t>(request.nodes.front())];
    const EinsumLabels einsum = *LabelsOf(model, node);
    const std::vector<Shape> shapes = InputShapes(model, node);
    const Roles roles = *RolesOf(einsum, shapes);
    const std::size_t labels = einsum.extents.size();
    const Operand left =
        Ordered(OperandOf(model, node.inputs[0]), einsum, einsum.inputs[0],
                StridesByLabel(einsum.inputs[0], shapes[0], labels), Joined(roles.batch, roles.rows, roles.summed), 0);
    const Operand right = Ordered(OperandOf(model, node.inputs[1]), einsum, einsum.inputs[1],
                                  StridesByLabel(einsum.inputs[1], shapes[1], labels),
                                  Joined(roles.batch, roles.summed, roles.columns), 0);
    const Labels made = Joined(roles.batch, roles.rows, roles.columns);
    const Shape& out = output_specs_.front().shape;
    Operand product = Operand::Output(0);
    if (made != einsum.output) product = Scratch(ElementsOf(out));
    AddProducts(left, right, product,
                {ExtentOf(einsum, roles.batch), ExtentOf(einsum, roles.rows), ExtentOf(einsum, roles.summed),
                 ExtentOf(einsum, roles.columns)});
    if (made == einsum.output) return;
    Shape made_shape;
    made_shape.reserve(made.size());
    for (const int label : made) made_shape.push_back(einsum.extents[static_cast<std::size_t>(label)]);
    AddOrdering(product, Operand::Output(0), einsum, StridesByLabel(made, made_shape, labels), einsum.output, 2);
  }

 private:
  struct Sizes {
    std::int64_t batch, rows, summed, columns;
  };

  Operand Scratch(std::int64_t elements) { return TakeScratch(static_cast<std::size_t>(elements) * sizeof(float)); }

  // The operand itself where its dimensions are in the order of `wanted`, else a copy that is.
  Operand Ordered(const Operand& operand, const EinsumLabels& einsum, const Labels& has,
                  const std::vector<std::int64_t>& strides, const Labels& wanted, int phase) {
    if (has == wanted) return operand;
    const Operand copy = Scratch(ExtentOf(einsum, wanted));
    AddOrdering(operand, copy, einsum, strides, wanted, phase);
    return copy;
  }

  void AddOrdering(const Operand& from, const Operand& to, const EinsumLabels& einsum,
                   const std::vector<std::int64_t>& strides, const Labels& wanted, int phase) {
    std::vector<TableCopy::Table> tables;
    for (const int label : wanted) {
      const auto at = static_cast<std::size_t>(label);
      tables.push_back(EvenTable(einsum.extents[at], 0, strides[at]));
    }
    const auto copy = std::make_shared<const TableCopy>(std::move(tables), sizeof(float));
    for (int worker = 0; worker < workers(); ++worker) {
      const Share share = ShareOf(copy->elements(), workers(), worker, kElementGrain);
      AddTask(phase, worker, [copy, from, to, share](const KernelBuffers& buffers) {
        copy->Copy(from.Read(buffers), to.Write(buffers), nullptr, share.begin, share.end);
      });
    }
  }

  // In the phase after the copies: whole products or, where there are fewer of them than workers, some of their rows.
  void AddProducts(const Operand& left, const Operand& right, const Operand& product, const Sizes& sizes) {
    const bool by_batch = sizes.batch >= workers();
    for (int worker = 0; worker < workers(); ++worker) {
      const Share batch = by_batch ? ShareOf(sizes.batch, workers(), worker) : Share{0, sizes.batch};
      const Share rows = by_batch ? Share{0, sizes.rows} : ShareOf(sizes.rows, workers(), worker);
      if (batch.size() == 0 || rows.size() == 0) continue;
      const auto part = [&](std::int64_t count, std::int64_t height, std::int64_t width, std::int64_t whole_height) {
        return dnnl::memory::desc({count, height, width}, dnnl::memory::data_type::f32,
                                  dnnl::memory::dims{whole_height * width, width, 1});
      };
      const auto a = part(batch.size(), rows.size(), sizes.summed, sizes.rows);
      const auto b = part(batch.size(), sizes.summed, sizes.columns, sizes.summed);
      const auto c = part(batch.size(), rows.size(), sizes.columns, sizes.rows);
      const dnnl::matmul::primitive_desc description({a, b, c}, PrimitiveAttributes(), CpuEngine());
      const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
      AddPrimitive(1, worker, dnnl::matmul(description), description.scratchpad_desc(),
                   {{DNNL_ARG_SRC, a, left.Plus(bytes((batch.begin * sizes.rows + rows.begin) * sizes.summed))},
                    {DNNL_ARG_WEIGHTS, b, right.Plus(bytes(batch.begin * sizes.summed * sizes.columns))},
                    {DNNL_ARG_DST, c, product.Plus(bytes((batch.begin * sizes.rows + rows.begin) * sizes.columns))}});
    }
  }
};

class EinsumLoops : public OneNodeKernel {
 public:
  explicit EinsumLoops(const KernelRequest& request) : OneNodeKernel(request) {
    const EinsumLabels einsum = *LabelsOf(model_, node_);
    inputs_read_ = node_.inputs.size();
    type_ = OutputValue(0).type;
    out_ = einsum.OutputShape();
    elements_ = ElementsOf(out_);
    Labels summed;
    for (int label = 0; label < static_cast<int>(einsum.extents.size()); ++label) {
      if (Has(einsum.output, label)) continue;
      summed.push_back(label);
      summed_.push_back(einsum.extents[static_cast<std::size_t>(label)]);
    }
    terms_ = ElementsOf(summed_);
    for (std::size_t i = 0; i < inputs_read_; ++i) {
      ReadInput(static_cast<int>(i));
      const auto strides =
          StridesByLabel(einsum.inputs[i], InputValue(static_cast<int>(i)).shape, einsum.extents.size());
      for (const int label : einsum.output) out_strides_[i].push_back(strides[static_cast<std::size_t>(label)]);
      for (const int label : summed) summed_strides_[i].push_back(strides[static_cast<std::size_t>(label)]);
    }
  }

  void Run(const KernelBuffers& buffers, int, int worker) const override {
    const Share share = ShareOf(elements_, workers_, worker, kElementGrain);
    ForSignedOrFloat(type_, [&](auto tag) { Fill<typename decltype(tag)::type>(buffers, share); });
  }

 private:
  static std::int64_t Offset(std::int64_t index, const Shape& shape, const std::vector<std::int64_t>& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += index % shape[d] * strides[d];
      index /= shape[d];
    }
    return offset;
  }

  template <typename T>
  void Fill(const KernelBuffers& buffers, const Share& share) const {
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      std::array<const T*, kMostInputs> from{};
      for (std::size_t input = 0; input < inputs_read_; ++input) {
        from[input] =
            reinterpret_cast<const T*>(In(buffers, static_cast<int>(input))) + Offset(i, out_, out_strides_[input]);
      }
      T sum{};
      for (std::int64_t term = 0; term < terms_; ++term) {
        T product{1};
        for (std::size_t input = 0; input < inputs_read_; ++input)
          product = static_cast<T>(product * from[input][Offset(term, summed_, summed_strides_[input])]);
        sum = static_cast<T>(sum + product);
      }
      reinterpret_cast<T*>(Out(buffers, 0))[i] = sum;
    }
  }

  std::size_t inputs_read_ = 0;
  DataType type_ = DataType::kFloat32;
  Shape out_, summed_;
  std::int64_t elements_ = 0, terms_ = 1;
  std::array<std::vector<std::int64_t>, kMostInputs> out_strides_, summed_strides_;  // by input
};

std::unique_ptr<Kernel> MakeProduct(const KernelRequest& request) { return std::make_unique<EinsumProduct>(request); }
std::unique_ptr<Kernel> MakeLoops(const KernelRequest& request) { return std::make_unique<EinsumLoops>(request); }

std::string UnsupportedLoops(const Model& model, int node_id) {
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const Value* out = OutputOf(model, node, 0);
  if (out == nullptr || node.inputs.empty() || node.inputs.size() > kMostInputs) return "Einsum of such inputs";
  const std::optional<EinsumLabels> labels = LabelsOf(model, node);
  if (!labels || labels->OutputShape() != out->shape)
    return "Einsum with the equation '" + Model::StringOf(node, "equation", "") + "'";
  for (const int id : node.inputs) {
    if (model.values[static_cast<std::size_t>(id)].type != out->type) return "Einsum on operands of several types";
  }
  bool known = false;
  ForSignedOrFloat(out->type, [&](auto) { known = true; });
  return known ? "" : std::string("Einsum on ") + NameOf(out->type);
}

std::string UnsupportedProduct(const Model& model, int node_id) {
  if (std::string reason = UnsupportedLoops(model, node_id); !reason.empty()) return reason;
  const Node& node = model.nodes[static_cast<std::size_t>(node_id)];
  const std::vector<Shape> shapes = InputShapes(model, node);
  const bool empty =
      std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) { return ElementsOf(shape) == 0; });
  if (empty || OutputOf(model, node, 0)->type != DataType::kFloat32 || !RolesOf(*LabelsOf(model, node), shapes))
    return "Einsum that is no product of matrices";
  return "";
}

}  // namespace

std::vector<KernelEntry> EinsumKernels() {
  return {{"Einsum", MakeProduct, UnsupportedProduct}, {"Einsum", MakeLoops, UnsupportedLoops}};
}

}  // namespace millrace
