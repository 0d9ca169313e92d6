// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/torch/quiet_torch.h"

#include <torch/torch.h>

#include <string>

namespace millrace {

#if TORCH_VERSION_MAJOR >= 2
namespace torch_warnings = c10::WarningUtils;
#else
namespace torch_warnings = c10::Warning;
#endif

struct QuietTorch::State {
  class Silence : public c10::WarningHandler {
#if TORCH_VERSION_MAJOR >= 2
    void process(const c10::Warning&) override {}
#else
    void process(const c10::SourceLocation&, const std::string&, const bool) override {}
#endif
  };

  Silence silence;
  torch_warnings::WarningHandlerGuard guard{&silence};
};

QuietTorch::QuietTorch() : state_(std::make_unique<State>()) {}
QuietTorch::~QuietTorch() = default;

}  // namespace millrace
