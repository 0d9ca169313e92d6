// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// NonMaxSuppression: of the boxes of every image and class the best by score, without those that overlap a better one.
// How many there are depends on the data, while a program's shapes do not: the model states the number of rows, and a
// run that selects another number of boxes is a fault of that run.
//
// In the first phase workers share out images and classes, in the second the selected boxes are written one after the
// other. Source of the sequence and of what counts as an overlap: the operator's definition in ONNX, opset 11.
namespace millrace {

std::unique_ptr<Kernel> MakeBoxSelection(const KernelRequest& request);
std::string BoxSelectionUnsupported(const Model& model, int node);

}  // namespace millrace
