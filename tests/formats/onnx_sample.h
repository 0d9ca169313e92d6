// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "millrace/formats/model.h"
#include "millrace/formats/onnx_proto.h"
#include "millrace/formats/onnx_read.h"
#include "millrace/random/random.h"

// Models for the tests of ONNX reading and writing.
namespace millrace::testing {

// Assembles a message by names, with no checking at all: good for bad models.
class MessageBuilder {
 public:
  MessageBuilder();

  onnx::ValueInfoProto* Input(const std::string& name, const Shape& shape);
  onnx::TensorProto* Floats(const std::string& name, const Shape& shape);  // zeros, as raw data
  onnx::TensorProto* Int64s(const std::string& name, const std::vector<std::int64_t>& values);
  onnx::NodeProto* Op(const std::string& op_type, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs);
  onnx::ValueInfoProto* Output(const std::string& name);  // of type float, without a shape

  onnx::ModelProto message;
};

void SetInts(onnx::NodeProto* node, const std::string& name, const std::vector<std::int64_t>& values);
void SetInt(onnx::NodeProto* node, const std::string& name, std::int64_t value);

// Convolution, relu, flatten, fully connected: small, valid, touching most of the importer.
MessageBuilder SmallNetwork();

Model Import(const onnx::ModelProto& message, const OnnxReadOptions& options = {},
             std::vector<std::string>* warnings = nullptr);

// The complaint that importing the message meets; empty where it is taken.
std::string Complaint(const onnx::ModelProto& message, const OnnxReadOptions& options = {});

// What the model is once written and read again, its shapes inferred anew; expects no warnings.
Model Reread(const Model& model);

// The value of this name; throws InvalidInput where there is none.
const Value& ValueNamed(const Model& model, const std::string& name);

// Of the nodes, in order.
std::vector<std::string> OpTypes(const Model& model);

// A clean model of `nodes` nodes on 4x4 matrices: branches, joins, splits, dense and filled constants.
Model RandomModel(Random& random, int nodes);

}  // namespace millrace::testing
