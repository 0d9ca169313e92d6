// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "millrace/runtime/kernel.h"

// Ops whose output follows from shapes and a few numbers: Shape, Size, ConstantOfShape, EyeLike, Range; Trilu; Dropout
// with its mask at inference; and Concat of any type.
namespace millrace {

std::unique_ptr<Kernel> MakeGenerator(const KernelRequest& request);
std::string GeneratorUnsupported(const Model& model, int node);

std::unique_ptr<Kernel> MakeTrilu(const KernelRequest& request);
std::string TriluUnsupported(const Model& model, int node);

std::unique_ptr<Kernel> MakeMaskedDropout(const KernelRequest& request);
std::string MaskedDropoutUnsupported(const Model& model, int node);

std::unique_ptr<Kernel> MakeAnyConcat(const KernelRequest& request);
std::string AnyConcatUnsupported(const Model& model, int node);

}  // namespace millrace
