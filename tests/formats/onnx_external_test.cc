// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "millrace/errors/errors.h"
#include "tests/formats/onnx_sample.h"
#include "tests/reference/temporary_folder.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

// y = x + w, with w outside the model.
onnx::ModelProto WithExternal(const std::map<std::string, std::string>& entries) {
  MessageBuilder builder;
  builder.Input("x", {4});
  onnx::TensorProto* weights = builder.Floats("w", {4});
  weights->clear_raw_data();
  weights->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    onnx::StringStringEntryProto* entry = weights->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  builder.Op("Add", {"x", "w"}, {"y"});
  builder.Output("y");
  return builder.message;
}

std::string FourFloats() {
  const std::vector<float> values{1, 2, 3, 4};
  return std::string(reinterpret_cast<const char*>(values.data()), 16);
}

std::string ComplaintIn(const TemporaryFolder& folder, const std::map<std::string, std::string>& entries) {
  folder.Write("model.onnx", WithExternal(entries).SerializeAsString());
  try {
    ReadOnnx(folder.Path("model.onnx"));
    return "";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(OnnxExternalData, IsReadFromBesideTheModel) {
  const TemporaryFolder folder;
  folder.Write("weights.bin", "four" + FourFloats());
  folder.Write("model.onnx",
               WithExternal({{"location", "weights.bin"}, {"offset", "4"}, {"length", "16"}}).SerializeAsString());
  const Model model = ReadOnnx(folder.Path("model.onnx"));
  ASSERT_EQ(model.nodes.size(), 1u);
  const auto& weights = model.values[static_cast<std::size_t>(model.nodes[0].inputs[1])].constant;
  ASSERT_NE(weights, nullptr);
  EXPECT_THAT(weights->AsFloats(), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST(OnnxExternalData, NeedsNoLengthAndNoOffset) {
  const TemporaryFolder folder;
  folder.Write("weights.bin", FourFloats());
  EXPECT_EQ(ComplaintIn(folder, {{"location", "weights.bin"}}), "");
}

TEST(OnnxExternalData, IsRefusedWhereTheFileIsMissingOrShort) {
  const TemporaryFolder folder;
  EXPECT_THAT(ComplaintIn(folder, {{"location", "weights.bin"}}), HasSubstr("weights.bin' is missing"));
  folder.Write("weights.bin", "short");
  EXPECT_THAT(ComplaintIn(folder, {{"location", "weights.bin"}}), HasSubstr("too short"));
  EXPECT_THAT(ComplaintIn(folder, {{"location", "weights.bin"}, {"offset", "18446744073709551615"}}),
              HasSubstr("too short"));
  EXPECT_THAT(ComplaintIn(folder, {{"location", "weights.bin"}, {"offset", "-1"}}), HasSubstr("no number"));
  EXPECT_THAT(ComplaintIn(folder, {{"location", "weights.bin"}, {"length", "8"}}), HasSubstr("ask for 16"));
}

TEST(OnnxExternalData, NeverLeavesTheModelsFolder) {
  const TemporaryFolder outside;
  outside.Write("secret", FourFloats());
  const TemporaryFolder folder;
  std::filesystem::create_symlink(outside.Path("secret"), folder.Path("link"));
  std::filesystem::create_directory(folder.Path("inner"));
  for (const std::string& location : {outside.Path("secret"), std::string("../x"), std::string("inner/../../x"),
                                      std::string("link"), std::string(), std::string("inner/../..")}) {
    EXPECT_THAT(ComplaintIn(folder, {{"location", location}}), HasSubstr("not in the model's own folder")) << location;
  }
  EXPECT_THAT(ComplaintIn(folder, {{"location", "inner"}}), HasSubstr("missing"));
}

}  // namespace
}  // namespace millrace::testing
