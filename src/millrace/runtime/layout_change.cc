// SPDX-License-Identifier: Apache-2.0
#include "millrace/runtime/layout_change.h"

#include "millrace/runtime/reorder.h"

namespace millrace {
namespace {

class LayoutChange : public Kernel {
 public:
  LayoutChange(int value, const TensorSpec& from, Layout to, int workers) : workers_(workers) {
    inputs_ = {value};
    outputs_ = {value};
    input_specs_ = {from};
    output_specs_ = {from};
    output_specs_.front().layout = to;
  }

  void Run(const KernelBuffers& buffers, int /*phase*/, int worker) const override {
    Reorder(input_specs_.front(), buffers.inputs[0], output_specs_.front().layout, buffers.outputs[0], workers_,
            worker);
  }

 private:
  int workers_;
};

}  // namespace

std::unique_ptr<Kernel> MakeLayoutChange(int value, const TensorSpec& from, Layout to, int workers) {
  return std::make_unique<LayoutChange>(value, from, to, workers);
}

}  // namespace millrace
