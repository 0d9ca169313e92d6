// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "millrace/runtime/kernel.h"

// The step a program puts between two groups that want one value in different layouts.
namespace millrace {

// Reads value `value`, which lies as `from` says, and writes it in layout `to`, split over `workers`. One phase.
std::unique_ptr<Kernel> MakeLayoutChange(int value, const TensorSpec& from, Layout to, int workers);

}  // namespace millrace
