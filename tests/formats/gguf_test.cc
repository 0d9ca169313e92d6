// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/gguf.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "millrace/formats/language_model.h"
#include "millrace/formats/load.h"
#include "tests/formats/gguf_sample.h"
#include "tests/formats/refusal.h"

namespace millrace {
namespace {

using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::RefusalOf;
using testing::SmallLlama;

GgufFile Parsed(const std::string& bytes) {
  std::istringstream in(bytes);
  return ParseGguf(in, bytes.size());
}

std::string Refused(const std::string& bytes) {
  return RefusalOf([&bytes] { Parsed(bytes); });
}

TEST(Gguf, ReadsMetadataAndTensors) {
  const GgufFile file =
      Parsed(SmallLlama(3).Real("llama.rope.freq_base", 500000.0F).Numbers("list", {7, 8, 9}).Bytes());
  EXPECT_EQ(file.Text("general.architecture"), "llama");
  EXPECT_EQ(file.Number("llama.block_count", 0), 3);
  EXPECT_EQ(file.Number("llama.rope.freq_base", 0), 500000);
  EXPECT_EQ(file.Number("missing", 17), 17);
  ASSERT_NE(file.Find("list"), nullptr);
  EXPECT_EQ(file.Find("list")->numbers, (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(file.Find("tokenizer.ggml.tokens")->length, 3U);
  ASSERT_EQ(file.tensors.size(), 3U + 3 * 8);
  EXPECT_EQ(file.tensors[0].name, "token_embd.weight");
  EXPECT_EQ(file.tensors[0].shape, (std::vector<std::uint64_t>{64, 256}));
  EXPECT_EQ(file.tensors[0].type, "F16");
  EXPECT_EQ(file.tensors[0].bytes, 64U * 256 * 2);
}

TEST(Gguf, CountsBlocksOfQuantisedWeights) {
  const GgufFile file = Parsed(SmallLlama(1, GgufBuilder::kQ8).Bytes());
  EXPECT_EQ(file.tensors[0].type, "Q8_0");
  EXPECT_EQ(file.tensors[0].bytes, 64U * 256 / 32 * 34);
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {33, 2}, GgufBuilder::kQ8).Bytes()),
              HasSubstr("no whole blocks of 32"));
}

TEST(Gguf, ReadsTensorsOfOneToFourDimensionsAndNoOthers) {
  for (const std::vector<std::uint64_t>& shape :
       std::vector<std::vector<std::uint64_t>>{{8}, {8, 2}, {8, 2, 3}, {8, 2, 3, 4}}) {
    const GgufFile file = Parsed(GgufBuilder().Tensor("t", shape, GgufBuilder::kF32).Bytes());
    EXPECT_EQ(file.tensors.at(0).shape, shape);
    EXPECT_EQ(file.tensors.at(0).bytes, file.tensors.at(0).elements * 4);
  }
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {}, GgufBuilder::kF32).Bytes()), HasSubstr("0 dimensions"));
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {2, 2, 2, 2, 2}, GgufBuilder::kF32).Bytes()),
              HasSubstr("5 dimensions"));
}

TEST(Gguf, RefusesEveryFileCutShort) {
  const std::string bytes = SmallLlama(1).Bytes();
  for (std::size_t length = 0; length < bytes.size(); length += length < 3000 ? 1 : 4096)
    EXPECT_NE(Refused(bytes.substr(0, length)), "") << length;
}

TEST(Gguf, RefusesSizesBeyondTheFileBeforeBelievingThem) {
  const auto head = [](std::uint64_t tensors, std::uint64_t entries) {
    return "GGUF" + GgufBuilder::Little(std::uint32_t{3}) + GgufBuilder::Little(tensors) + GgufBuilder::Little(entries);
  };
  EXPECT_THAT(Refused(head(std::uint64_t{1} << 60, 0)), HasSubstr("do not fit into the file"));
  EXPECT_THAT(Refused(head(0, ~std::uint64_t{0})), HasSubstr("do not fit into the file"));
  EXPECT_THAT(Refused(head(0, 1) + GgufBuilder::Little(~std::uint64_t{0}) + std::string(64, 'x')),
              HasSubstr("runs past the end"));
  const std::string list = GgufBuilder::Little(std::uint32_t{10}) + GgufBuilder::Little(std::uint64_t{1} << 61);
  EXPECT_THAT(Refused(GgufBuilder().Entry("k", 9, list).Bytes()), HasSubstr("a list of 2305843009213693952 values"));
  EXPECT_THAT(
      Refused(GgufBuilder().Tensor("t", {std::uint64_t{1} << 40, 1 << 20}, GgufBuilder::kF16).Bytes().substr(0, 200)),
      HasSubstr("which no tensor has"));
}

TEST(Gguf, RefusesWhatNoModelHas) {
  EXPECT_THAT(Refused("PK\x03\x04 something else entirely"), HasSubstr("is no GGUF file"));
  EXPECT_THAT(Refused("GGUF" + GgufBuilder::Little(std::uint32_t{1}) + std::string(32, '\0')), HasSubstr("version 1"));
  EXPECT_THAT(Refused("GGUF" + GgufBuilder::Little(std::uint32_t{0x03000000}) + std::string(32, '\0')),
              HasSubstr("big-endian"));
  EXPECT_THAT(Refused(GgufBuilder().Number("k", 1).Number("k", 2).Bytes()), HasSubstr("'k': is there twice"));
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {32}, 0).Tensor("t", {32}, 0).Bytes()), HasSubstr("is there twice"));
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {32}, 999).Bytes()), HasSubstr("of type 999"));
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {}, 0).Bytes()), HasSubstr("has 0 dimensions"));
  EXPECT_THAT(Refused(GgufBuilder().Tensor("t", {32, 0}, 0).Bytes()), HasSubstr("dimension 1 is 0"));
  EXPECT_THAT(Refused(GgufBuilder().Number("general.alignment", 33).Bytes()), HasSubstr("power of two"));
  EXPECT_THAT(Refused(GgufBuilder().Entry("k", 77, "aaaaaaaa").Bytes()), HasSubstr("of kind 77"));
  EXPECT_THAT(Refused(GgufBuilder().Entry("k", 9, GgufBuilder::Little(std::uint32_t{9}) + "aaaaaaaaaaaa").Bytes()),
              HasSubstr("a list of values of kind 9"));
}

TEST(LanguageModel, WeighsEveryLayerByItsTensors) {
  const LanguageModel model = LanguageModelOf(Parsed(SmallLlama(5).Bytes()));
  ASSERT_EQ(model.layers(), 5);
  const double matrices = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 128;
  for (int layer = 0; layer < 5; ++layer) {
    const ModelPart& part = model.parts[static_cast<std::size_t>(layer)];
    EXPECT_EQ(part.name, "blk." + std::to_string(layer));
    EXPECT_EQ(part.weight_bytes, 2 * matrices + 64 * 4);
    EXPECT_EQ(part.read_bytes, part.weight_bytes);
    EXPECT_EQ(part.flops, 2 * matrices);
    EXPECT_EQ(part.cache_bytes, 2 * (16 + 16) * 2);
    EXPECT_EQ(part.flops_of_context, 2 * 4 * (16 + 16));
  }
  EXPECT_EQ(model.parts.back().weight_bytes, 64 * 256 * 2 + 64 * 4);
  EXPECT_EQ(model.embedding_bytes, 64 * 256 * 2);
  EXPECT_EQ(model.vocabulary, 256);
}

TEST(LanguageModel, GivesAnOutputWithoutWeightsTheEmbeddingsCopy) {
  GgufBuilder builder;
  builder.Text("general.architecture", "x").Number("x.block_count", 1);
  builder.Tensor("token_embd.weight", {64, 256}, GgufBuilder::kF16)
      .Tensor("blk.0.ffn_up.weight", {64, 64}, GgufBuilder::kF16);
  const LanguageModel model = LanguageModelOf(Parsed(builder.Bytes()));
  EXPECT_EQ(model.parts.back().weight_bytes, 64 * 256 * 2);
  EXPECT_EQ(model.parts.front().cache_bytes, 0) << "there is no attention";
}

TEST(LanguageModel, ReadsOnlyTheExpertsThatAreChosen) {
  GgufBuilder builder;
  builder.Text("general.architecture", "x")
      .Number("x.block_count", 1)
      .Number("x.expert_count", 8)
      .Number("x.expert_used_count", 2);
  builder.Tensor("token_embd.weight", {64, 256}, GgufBuilder::kF16);
  builder.Tensor("blk.0.ffn_up_exps.weight", {64, 64, 8}, GgufBuilder::kF16);
  const ModelPart part = LanguageModelOf(Parsed(builder.Bytes())).parts.front();
  EXPECT_EQ(part.weight_bytes, 64 * 64 * 8 * 2);
  EXPECT_EQ(part.read_bytes, part.weight_bytes / 4);
  EXPECT_EQ(part.flops, 2.0 * 64 * 64 * 2);
}

TEST(LanguageModel, RefusesFilesThatAreNone) {
  const auto refused = [](const GgufBuilder& builder) {
    const GgufFile file = Parsed(builder.Bytes());
    return RefusalOf([&file] { LanguageModelOf(file); });
  };
  EXPECT_THAT(refused(GgufBuilder()), HasSubstr("general.architecture"));
  EXPECT_THAT(refused(GgufBuilder().Text("general.architecture", "x")), HasSubstr("x.block_count: is 0"));
  GgufBuilder builder;
  builder.Text("general.architecture", "x").Number("x.block_count", 2);
  EXPECT_THAT(refused(builder), HasSubstr("no token_embd.weight"));
  builder.Tensor("token_embd.weight", {64, 256}, 1).Tensor("blk.0.a", {64, 64}, 1);
  EXPECT_THAT(refused(builder), HasSubstr("layer 1 has no tensors"));
  EXPECT_THAT(refused(GgufBuilder(builder).Tensor("blk.2.a", {64, 64}, 1)), HasSubstr("there are only 2 layers"));
  EXPECT_THAT(
      refused(GgufBuilder(builder).Tensor("blk.1.attn_k.weight", {64, 64}, 1).Numbers("x.attention.head_count", {4})),
      HasSubstr("layer 1 is missing"));
}

TEST(LanguageModel, BecomesAChainOfOps) {
  const LanguageModel model = LanguageModelOf(Parsed(SmallLlama(4).Bytes()));
  const ComputationGraph decode = GraphOfLanguageModel(model, {1, 100});
  ASSERT_EQ(decode.num_ops(), 6);
  EXPECT_EQ(decode.op(0).type, "embedding");
  EXPECT_EQ(decode.op(5).type, "output");
  for (OpId op = 1; op < 6; ++op) EXPECT_EQ(decode.Predecessors(op).front(), op - 1);
  const ModelPart& layer = model.parts[1];
  EXPECT_EQ(decode.op(2).weight_bytes, layer.weight_bytes + 101 * layer.cache_bytes);
  EXPECT_EQ(decode.op(2).flops, layer.flops + 100.5 * layer.flops_of_context);
  const ComputationGraph prefill = GraphOfLanguageModel(model, {64, 0});
  EXPECT_EQ(prefill.op(2).flops, 64 * (layer.flops + 32 * layer.flops_of_context));
  EXPECT_EQ(prefill.op(5).flops, model.parts.back().flops) << "only the last token's output is asked for";
}

class GgufFiles : public ::testing::Test {
 protected:
  GgufFiles() : folder_(std::filesystem::temp_directory_path() / ("millrace_gguf_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~GgufFiles() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(GgufFiles, OpenByTheDoorOfAllGraphs) {
  const std::string path = Write("m.gguf", SmallLlama(4).Bytes());
  EXPECT_EQ(LoadGraph(path).graph.num_ops(), 6);
  EXPECT_GT(LoadGraph(path, {{"tokens", 32}, {"context", 8}}).graph.op(1).flops, LoadGraph(path).graph.op(1).flops);
  EXPECT_THAT(RefusalOf([&path] { LoadGraph(path, {{"batch", 2}}); }), HasSubstr("has no dimension 'batch'"));
  EXPECT_THAT(RefusalOf([this] { LoadGraph(Write("bad.gguf", "nonsense")); }), HasSubstr("bad.gguf: is no GGUF file"));
  EXPECT_THAT(RefusalOf([this] { LoadGraph((folder_ / "none.gguf").string()); }), HasSubstr("cannot be opened"));
  EXPECT_THAT(RefusalOf([this] { LoadGraph(folder_.string() + "/.gguf"); }), HasSubstr("gguf"));
}

TEST_F(GgufFiles, OfOneModelAreReadTogether) {
  GgufBuilder first, second;
  first.Text("general.architecture", "x").Number("x.block_count", 2).Number("split.count", 2);
  first.Tensor("token_embd.weight", {64, 256}, 1).Tensor("blk.0.a", {64, 64}, 1);
  second.Number("split.count", 2).Tensor("blk.1.a", {64, 64}, 1);
  const std::string path = Write("m-00001-of-00002.gguf", first.Bytes());
  EXPECT_THAT(RefusalOf([&path] { ReadGguf(path); }), HasSubstr("m-00002-of-00002.gguf cannot be read"));
  Write("m-00002-of-00002.gguf", second.Bytes());
  EXPECT_EQ(ReadGguf(path).tensors.size(), 3U);
  EXPECT_THAT(RefusalOf([this, &first] { ReadGguf(Write("other.gguf", first.Bytes())); }),
              HasSubstr("is one of 2 files"));
  Write("m-00002-of-00002.gguf", first.Bytes());
  EXPECT_THAT(RefusalOf([&path] { ReadGguf(path); }), HasSubstr("is there twice"));
}

}  // namespace
}  // namespace millrace
