// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/matrix_shapes.h"

#include <algorithm>

namespace millrace {
namespace {

// Where each batch of the broadcast `batch` lies in an operand with these batch dimensions and matrices of `elements`.
std::vector<std::int64_t> OffsetsOf(const Shape& own_batch, const Shape& batch, std::int64_t elements) {
  Shape strides(batch.size(), 0);
  std::int64_t stride = elements;
  for (std::size_t i = own_batch.size(); i-- > 0;) {
    if (own_batch[i] != 1) strides[i + batch.size() - own_batch.size()] = stride;
    stride *= own_batch[i];
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(ElementsOf(batch)), 0);
  for (std::size_t item = 0; item < offsets.size(); ++item) {
    auto rest = static_cast<std::int64_t>(item);
    for (std::size_t axis = batch.size(); axis-- > 0;) {
      offsets[item] += rest % batch[axis] * strides[axis];
      rest /= batch[axis];
    }
  }
  return offsets;
}

}  // namespace

MatrixShapes MatrixShapesOf(const Model& model, int node, std::size_t right_side) {
  const Node& of = model.nodes[static_cast<std::size_t>(node)];
  Shape left = model.values[static_cast<std::size_t>(of.inputs[0])].shape;
  Shape right = model.values[static_cast<std::size_t>(of.inputs[right_side])].shape;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  MatrixShapes shapes;
  if (of.op_type == "Gemm" || of.op_type == "QGemm") {
    shapes.left_transposed = Model::IntOf(of, "transA", 0) != 0;
    shapes.right_transposed = Model::IntOf(of, "transB", 0) != 0;
    shapes.alpha = Model::FloatOf(of, "alpha", 1);
    shapes.beta = Model::FloatOf(of, "beta", 1);
  }
  shapes.rows = left[left.size() - (shapes.left_transposed ? 1 : 2)];
  shapes.inner = left[left.size() - (shapes.left_transposed ? 2 : 1)];
  shapes.columns = right[right.size() - (shapes.right_transposed ? 2 : 1)];
  const Shape left_batch(left.begin(), left.end() - 2);
  const Shape right_batch(right.begin(), right.end() - 2);
  shapes.batch.assign(std::max(left_batch.size(), right_batch.size()), 1);
  for (const Shape* own : {&left_batch, &right_batch}) {
    const std::size_t missing = shapes.batch.size() - own->size();
    for (std::size_t i = 0; i < own->size(); ++i) {
      if ((*own)[i] != 1) shapes.batch[i + missing] = (*own)[i];
    }
  }
  shapes.left_offsets = OffsetsOf(left_batch, shapes.batch, shapes.rows * shapes.inner);
  shapes.right_offsets = OffsetsOf(right_batch, shapes.batch, shapes.inner * shapes.columns);
  return shapes;
}

}  // namespace millrace
