// SPDX-License-Identifier: Apache-2.0
#pragma once

// The generated ONNX messages, for the source files of this room that speak protobuf, and nobody else.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop
