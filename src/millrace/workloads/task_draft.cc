// SPDX-License-Identifier: Apache-2.0
#include "millrace/workloads/task_draft.h"

#include <cstddef>
#include <utility>

namespace millrace {

OpId TaskDraft::Add(std::string_view type, int layer, double work, double size) {
  const auto id = static_cast<OpId>(ops_.size());
  Op& op = ops_.emplace_back();
  op.name = std::string(type) + std::to_string(id);
  op.type = type;
  op.layer = layer;
  work_.push_back(work);
  Tensor& result = results_.emplace_back();
  result.producer = id;
  result.bytes = size;
  return id;
}

void TaskDraft::Link(OpId from, OpId to) { results_[static_cast<std::size_t>(from)].consumers.push_back(to); }

void TaskDraft::Send(OpId from, OpId to, double size) {
  Tensor& tensor = sent_.emplace_back();
  tensor.producer = from;
  tensor.consumers = {to};
  tensor.bytes = size;
}

GraphData TaskDraft::Finish() {
  std::vector<char> sends(ops_.size(), 0);
  for (const Tensor& tensor : sent_) sends[static_cast<std::size_t>(tensor.producer)] = 1;
  GraphData data;
  data.ops = std::move(ops_);
  for (Tensor& result : results_) {
    result.output = result.consumers.empty();
    if (result.output && sends[static_cast<std::size_t>(result.producer)] != 0) continue;
    data.tensors.push_back(std::move(result));
  }
  for (Tensor& tensor : sent_) data.tensors.push_back(std::move(tensor));
  for (std::size_t i = 0; i < data.tensors.size(); ++i) data.tensors[i].name = "t" + std::to_string(i);
  return data;
}

}  // namespace millrace
