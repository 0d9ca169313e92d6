// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>

#include "millrace/errors/errors.h"
#include "millrace/formats/model_graph.h"
#include "millrace/formats/onnx_child.h"
#include "millrace/formats/onnx_import.h"
#include "tests/formats/onnx_sample.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct BadModel {
  std::string name;
  std::string complaint;  // a part of it
  std::function<void(onnx::ModelProto&)> spoil;
};

void PrintTo(const BadModel& model, std::ostream* out) { *out << model.name; }

onnx::GraphProto& Graph(onnx::ModelProto& message) { return *message.mutable_graph(); }
onnx::NodeProto* Conv(onnx::ModelProto& message) { return Graph(message).mutable_node(0); }
onnx::TensorProto* Weights(onnx::ModelProto& message) { return Graph(message).mutable_initializer(0); }

std::function<void(onnx::ModelProto&)> ConvInts(const std::string& name, const std::vector<std::int64_t>& values) {
  return [=](onnx::ModelProto& message) {
    if (name == "pads") Conv(message)->clear_attribute();
    SetInts(Conv(message), name, values);
  };
}

std::vector<BadModel> BadModels() {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  return {
      {"ZeroStrides", "'strides' is 0", ConvInts("strides", {0, 0})},
      {"NegativeStrides", "'strides' is -1", ConvInts("strides", {-1, 1})},
      {"ZeroKernel", "'kernel_shape' is 0", ConvInts("kernel_shape", {0, 3})},
      {"ZeroDilations", "'dilations' is 0", ConvInts("dilations", {0, 1})},
      {"HugeDilations", "'dilations' is 4611686018427387904", ConvInts("dilations", {kHuge, 1})},
      {"NegativePads", "'pads' is -1", ConvInts("pads", {-1, 1, 1, 1})},
      {"HugePads", "'pads' is", ConvInts("pads", {kHuge, kHuge, 1, 1})},
      {"ZeroGroup", "'group' is 0", [](auto& m) { SetInt(Conv(m), "group", 0); }},
      {"TooFewStrides", "ONNX shape inference", ConvInts("strides", {2})},
      {"WrongKernel", "",
       [](auto& m) {
         SetInts(Conv(m), "kernel_shape", {300, 300});
       }},
      {"AttributeTwice", "given twice",
       [](auto& m) {
         SetInts(Conv(m), "pads", {1, 1, 1, 1});
       }},
      {"AttributeWithoutType", "has no type",
       [](auto& m) { Conv(m)->mutable_attribute(0)->set_type(onnx::AttributeProto::UNDEFINED); }},
      {"AttributeWithoutName", "without a name", [](auto& m) { Conv(m)->mutable_attribute(0)->set_name(""); }},
      {"AttributeOfAnotherType", "ONNX shape inference",
       [](auto& m) {
         Conv(m)->clear_attribute();
         SetInt(Conv(m), "pads", 1);
       }},
      {"UnknownAttribute", "nonsense", [](auto& m) { SetInt(Conv(m), "nonsense", 1); }},
      {"TensorAttributeWithoutTensor", "holds none",
       [](auto& m) { Conv(m)->mutable_attribute(0)->set_type(onnx::AttributeProto::TENSOR); }},
      {"GraphAttributeWithoutGraph", "holds none",
       [](auto& m) { Conv(m)->mutable_attribute(0)->set_type(onnx::AttributeProto::GRAPH); }},
      {"ReferenceOutsideFunctions", "outside of any function",
       [](auto& m) { Conv(m)->mutable_attribute(0)->set_ref_attr_name("p"); }},
      {"NegativeWeightDimension", "negative dimension, -4", [](auto& m) { Weights(m)->set_dims(0, -4); }},
      {"OverflowingWeights", "2^40",
       [](auto& m) {
         Weights(m)->set_dims(0, kHuge);
         Weights(m)->set_dims(1, kHuge);
       }},
      {"OverflowHiddenByAZero", "2^40",
       [](auto& m) {
         Weights(m)->set_dims(0, 0);
         Weights(m)->set_dims(1, kHuge);
         Weights(m)->set_dims(2, kHuge);
       }},
      {"TooManyDimensions", "dimensions, more than",
       [](auto& m) {
         for (int i = 0; i < 100; ++i) Weights(m)->add_dims(1);
       }},
      {"TooFewBytes", "stores 12 bytes where its dimensions ask for 432",
       [](auto& m) { Weights(m)->mutable_raw_data()->resize(12); }},
      {"TwoKindsOfData", "more than one way", [](auto& m) { Weights(m)->add_float_data(1); }},
      {"DataOfAnotherType", "more than one way",
       [](auto& m) {
         Weights(m)->clear_raw_data();
         Weights(m)->add_int64_data(1);
       }},
      {"TooFewFloats", "stores 1 elements where its dimensions ask for 108",
       [](auto& m) {
         Weights(m)->clear_raw_data();
         Weights(m)->add_float_data(1);
       }},
      {"ComplexWeights", "complex64", [](auto& m) { Weights(m)->set_data_type(onnx::TensorProto::COMPLEX64); }},
      {"UnknownType", "number 99", [](auto& m) { Weights(m)->set_data_type(99); }},
      {"StringWeights", "strings",
       [](auto& m) {
         Weights(m)->clear_raw_data();
         Weights(m)->set_data_type(onnx::TensorProto::STRING);
         for (int i = 0; i < 108; ++i) Weights(m)->add_string_data("a");
       }},
      {"SegmentedWeights", "segments", [](auto& m) { Weights(m)->mutable_segment()->set_begin(1); }},
      {"SparseWeights", "sparse", [](auto& m) { Graph(m).add_sparse_initializer()->mutable_values()->set_name("s"); }},
      {"NamelessWeights", "no name", [](auto& m) { Weights(m)->set_name(""); }},
      {"WeightsTwice", "defined twice", [](auto& m) { *Graph(m).add_initializer() = Graph(m).initializer(0); }},
      {"NegativeInput", "negative dimension",
       [](auto& m) {
         Graph(m)
             .mutable_input(0)
             ->mutable_type()
             ->mutable_tensor_type()
             ->mutable_shape()
             ->mutable_dim(0)
             ->set_dim_value(-1);
       }},
      {"HugeInput", "2^40",
       [](auto& m) {
         Graph(m)
             .mutable_input(0)
             ->mutable_type()
             ->mutable_tensor_type()
             ->mutable_shape()
             ->mutable_dim(0)
             ->set_dim_value(kHuge);
       }},
      {"InputWithoutShape", "how many dimensions",
       [](auto& m) { Graph(m).mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape(); }},
      {"InputWithoutType", "element type", [](auto& m) { Graph(m).mutable_input(0)->clear_type(); }},
      {"InputTwice", "defined twice", [](auto& m) { *Graph(m).add_input() = Graph(m).input(0); }},
      {"SequenceInput", "is a sequence",
       [](auto& m) { Graph(m).mutable_input(0)->mutable_type()->mutable_sequence_type(); }},
      {"MapInput", "is a map", [](auto& m) { Graph(m).mutable_input(0)->mutable_type()->mutable_map_type(); }},
      {"OptionalInput", "optional",
       [](auto& m) { Graph(m).mutable_input(0)->mutable_type()->mutable_optional_type(); }},
      {"SparseInput", "sparse",
       [](auto& m) { Graph(m).mutable_input(0)->mutable_type()->mutable_sparse_tensor_type(); }},
      {"MissingValue", "reads 'nowhere', which nothing", [](auto& m) { Conv(m)->set_input(0, "nowhere"); }},
      {"MissingOutput", "reads 'nowhere', which nothing",
       [](auto& m) { Graph(m).mutable_output(0)->set_name("nowhere"); }},
      {"NoOutputs", "no outputs", [](auto& m) { Graph(m).clear_output(); }},
      {"ValueMadeTwice", "'r' is defined twice", [](auto& m) { Conv(m)->set_output(0, "r"); }},
      {"ValueMadeOverInput", "'x' is defined twice", [](auto& m) { Conv(m)->set_output(0, "x"); }},
      {"NodeWithoutOutputs", "has no outputs", [](auto& m) { Conv(m)->clear_output(); }},
      {"SelfEdge", "on a cycle", [](auto& m) { Conv(m)->set_input(0, "c"); }},
      {"Cycle", "on a cycle", [](auto& m) { Conv(m)->set_input(0, "f"); }},
      {"NoOperator", "no operator", [](auto& m) { Conv(m)->set_op_type(""); }},
      {"UnknownOperator", "Frobnicate", [](auto& m) { Conv(m)->set_op_type("Frobnicate"); }},
      {"UnknownDomain", "does not import its domain 'acme'", [](auto& m) { Conv(m)->set_domain("acme"); }},
      {"TooManyInputs", "ONNX shape inference",
       [](auto& m) {
         for (int i = 0; i < 5; ++i) Conv(m)->add_input("b");
       }},
      {"ChannelsThatDoNotFit", "ONNX shape inference", [](auto& m) { Graph(m).mutable_node(3)->set_input(1, "w"); }},
      {"NoGraph", "no graph", [](auto& m) { m.clear_graph(); }},
      {"NoIrVersion", "IR version 0", [](auto& m) { m.clear_ir_version(); }},
      {"FutureIrVersion", "IR version 1000", [](auto& m) { m.set_ir_version(1000); }},
      {"FutureOpset", "opset 1000", [](auto& m) { m.mutable_opset_import(0)->set_version(1000); }},
      {"NoOpset", "which opset", [](auto& m) { m.clear_opset_import(); }},
      {"OpsetZero", "no version", [](auto& m) { m.mutable_opset_import(0)->set_version(0); }},
      {"TwoOpsets", "two versions", [](auto& m) { *m.add_opset_import() = m.opset_import(0); }},
      {"ExternalWithoutFolder", "another file",
       [](auto& m) { Weights(m)->set_data_location(onnx::TensorProto::EXTERNAL); }},
  };
}

class HostileOnnx : public ::testing::TestWithParam<BadModel> {};

TEST_P(HostileOnnx, IsRefusedInOneClearLine) {
  MessageBuilder builder = SmallNetwork();
  ASSERT_EQ(Complaint(builder.message), "") << "the sound model must be taken";
  GetParam().spoil(builder.message);
  const std::string complaint = Complaint(builder.message);
  EXPECT_NE(complaint, "");
  EXPECT_THAT(complaint, HasSubstr(GetParam().complaint));
  EXPECT_THAT(complaint, Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(Models, HostileOnnx, ::testing::ValuesIn(BadModels()),
                         [](const auto& parameter) { return parameter.param.name; });

std::string ComplaintOfBytes(std::string_view bytes, ShapeSource shapes) {
  std::vector<std::string> warnings;
  try {
    GraphOfModel(ImportOnnx(bytes, nullptr, {}, shapes, warnings));
    return "";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(OnnxRead, RefusesOrTakesAModelCutOffAtAnyLength) {
  const std::string whole = SmallNetwork().message.SerializeAsString();
  EXPECT_THAT(ComplaintOfBytes("", ShapeSource::kInference), HasSubstr("empty"));
  int refused = 0;
  // Every length with the stages of ours, and near the interesting end with libonnx too.
  for (std::size_t length = 0; length < whole.size(); ++length) {
    refused += ComplaintOfBytes(std::string_view(whole).substr(0, length), ShapeSource::kFile).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) - 20);
  for (std::size_t length = whole.size() - 60; length < whole.size(); ++length) {
    ComplaintOfBytes(std::string_view(whole).substr(0, length), ShapeSource::kInference);
  }
}

TEST(OnnxRead, SurvivesRandomBytes) {
  Random random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes(1 + random.Below(200), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Below(256));
    EXPECT_NE(ComplaintOfBytes(bytes, ShapeSource::kFile), "");
  }
}

TEST(OnnxRead, SurvivesDamagedModels) {
  MessageBuilder builder = SmallNetwork();
  for (onnx::TensorProto& tensor : *builder.message.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == "m") tensor.set_dims(0, 0), tensor.clear_raw_data();
  }
  const std::string whole = builder.message.SerializeAsString();
  Random random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string damaged = whole;
    for (std::uint64_t i = 0; i <= random.Below(4); ++i) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
    }
    EXPECT_THAT(ComplaintOfBytes(damaged, trial % 20 == 0 ? ShapeSource::kInference : ShapeSource::kFile),
                Not(HasSubstr("\n")));
  }
}

std::string ComplaintOfChild(const ForkLimits& limits, const std::function<std::string()>& work) {
  try {
    return "answer: " + RunInChild("the work", limits, work);
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(OnnxChild, HandsBackWhatTheWorkReturns) {
  EXPECT_EQ(ComplaintOfChild({}, [] { return std::string(1000000, 'a'); }), "answer: " + std::string(1000000, 'a'));
  EXPECT_EQ(ComplaintOfChild({}, [] { return std::string(); }), "answer: ");
}

TEST(OnnxChild, TurnsDeathAndHangingIntoOneLine) {
  EXPECT_THAT(ComplaintOfChild({}, []() -> std::string { throw InvalidInput("two\n  lines"); }),
              ::testing::StrEq("the work: two lines"));
  EXPECT_THAT(ComplaintOfChild({}, []() -> std::string { std::_Exit(3); }), HasSubstr("without an answer"));
  EXPECT_THAT(ComplaintOfChild({},
                               []() -> std::string {
                                 raise(SIGKILL);
                                 return "";
                               }),
              HasSubstr("crashed (Killed)"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)  // under sanitizers memory is not limited
  ForkLimits lean;
  lean.most_bytes = std::size_t{256} << 20;
  const auto swell = [] { return std::string(std::size_t{1} << 30, 'a'); };
  EXPECT_THAT(ComplaintOfChild(lean, swell), HasSubstr("more memory than it may take"));
#endif
  ForkLimits quick;
  quick.most_seconds = 0.3;
  const auto hang = []() -> std::string {
    for (;;) pause();
  };
  EXPECT_THAT(ComplaintOfChild(quick, hang), HasSubstr("took more than 0.3 s"));
}

}  // namespace
}  // namespace millrace::testing
