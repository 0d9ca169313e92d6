// SPDX-License-Identifier: Apache-2.0
#include "millrace/network/weights.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>

#include "millrace/formats/atomic_file.h"
#include "millrace/random/random.h"
#include "tests/formats/refusal.h"
#include "tests/reference/temporary_folder.h"

namespace millrace::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Weights SomeWeights() {
  Weights weights;
  weights.metadata = {{"architecture", "test"}, {"note", "quotes \" and \xC3\xBC"}};
  weights.tensors["b"] = {{2, 3}, {1, -2, 3.5f, 0, -0.0f, std::numeric_limits<float>::denorm_min()}};
  weights.tensors["a"] = {{}, {7}};
  weights.tensors["none"] = {{0, 4}, {}};
  weights.tensors["z"] = {{1}, {std::numeric_limits<float>::max()}};
  return weights;
}

// A file of this header, with the data behind it.
std::string File(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string Entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

const std::string kEight(8, '\0');

std::string Refusal(const std::string& bytes) {
  const std::string line = RefusalOf([&] { ParseWeights(bytes, "file.safetensors"); });
  EXPECT_THAT(line, ::testing::StartsWith("file.safetensors: "));
  return line;
}

TEST(Weights, ComeBackAsTheyWereWritten) {
  const Weights weights = SomeWeights();
  const Weights back = ParseWeights(WeightsBytes(weights), "memory");
  EXPECT_EQ(back, weights);
  EXPECT_TRUE(std::signbit(back.tensors.at("b").values[4]));
  const Weights nothing;
  EXPECT_EQ(ParseWeights(WeightsBytes(nothing), "memory"), nothing);

  const TemporaryFolder folder;
  const std::string path = folder.Path("weights.safetensors");
  WriteWeights(path, weights);
  EXPECT_EQ(ReadWeights(path), weights);
}

TEST(Weights, KeepTheDataAligned) {
  const std::string bytes = WeightsBytes(SomeWeights());
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_EQ(bytes.size(), 8 + header + 4 * (6 + 1 + 1));
}

TEST(Weights, AreReadWhateverTheOrderOfTensorsInTheFile) {
  const std::string bytes =
      File("{" + Entry("first", "[1]", "[4,8]") + "," + Entry("second", "[1,1]", "[0,4]") + "}  ", kEight);
  const Weights weights = ParseWeights(bytes, "memory");
  EXPECT_EQ(weights.tensors.at("first").values.size(), 1U);
  EXPECT_EQ(weights.tensors.at("second").shape, (std::vector<std::int64_t>{1, 1}));
}

TEST(Weights, AreRefusedWhereTruncatedAnywhere) {
  const std::string bytes = WeightsBytes(SomeWeights());
  for (std::size_t size = 0; size < bytes.size(); ++size) Refusal(bytes.substr(0, size));
  EXPECT_THAT(Refusal(bytes.substr(0, 50)), HasSubstr("truncated"));
  EXPECT_THAT(Refusal(bytes.substr(0, bytes.size() - 1)), HasSubstr("truncated"));
  EXPECT_THAT(Refusal(bytes + "x"), HasSubstr("belong to no tensor"));
}

TEST(Weights, AreRefusedWithAHeaderThatIsNone) {
  EXPECT_THAT(Refusal(std::string(8, '\xFF') + "{}"), HasSubstr("promises a header of 18446744073709551615 bytes"));
  EXPECT_THAT(Refusal(File("[1]")), HasSubstr("no JSON object"));
  EXPECT_THAT(Refusal(File("{\"a\"")), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal(File("{\"a\":3}")), HasSubstr("tensor 'a'"));
  EXPECT_THAT(Refusal(File(R"({"__metadata__":{"a":1}})")), HasSubstr("__metadata__"));
  EXPECT_THAT(Refusal(File(R"({"a":{"shape":[],"data_offsets":[0,4]}})")), HasSubstr("dtype: is missing"));
  EXPECT_THAT(Refusal(File("{" + Entry("a\\nb", "[1]", "[0,4]", "F16") + "}", kEight)),
              AllOf(HasSubstr("tensor 'a\\nb'"), HasSubstr("'F16'")));
}

TEST(Weights, AreRefusedWhereSizesDoNotAgree) {
  const auto refusal = [](const std::string& shape, const std::string& offsets) {
    return Refusal(File("{" + Entry("a", shape, offsets) + "}", kEight));
  };
  EXPECT_THAT(refusal("[3]", "[0,8]"), HasSubstr("holds 8 bytes where the shape [3] takes 12"));
  EXPECT_THAT(refusal("[2]", "[0,7]"), HasSubstr("holds 7 bytes"));
  EXPECT_THAT(refusal("[2]", "[8,0]"), HasSubstr("from 8 to 0"));
  EXPECT_THAT(refusal("[2]", "[4,12]"), HasSubstr("from 4 to 12"));
  EXPECT_THAT(refusal("[2]", "[0]"), HasSubstr("two numbers"));
  EXPECT_THAT(refusal("[-2]", "[0,8]"), HasSubstr("shape[0]"));
  EXPECT_THAT(refusal("[0.5]", "[0,8]"), HasSubstr("shape[0]"));
  EXPECT_THAT(refusal("[1000000000,1000000000,1000000000]", "[0,8]"), HasSubstr("too large"));
  EXPECT_THAT(refusal("[18446744073709551615]", "[0,8]"), HasSubstr("beyond any file"));
  // 2^62 values of 4 bytes are 2^64 bytes, which is 0 to whoever does not look.
  EXPECT_THAT(refusal("[536870912,536870912,16]", "[0,0]"), HasSubstr("too large"));
  EXPECT_THAT(refusal("[0,1000000000,1000000000,1000000000]", "[0,0]"), HasSubstr("belong to no tensor"));
}

TEST(Weights, AreRefusedWithOverlapsAndHoles) {
  const auto refusal = [](const std::string& a, const std::string& b) {
    return Refusal(File("{" + Entry("a", "[1]", a) + "," + Entry("b", "[1]", b) + "}", kEight + "1234"));
  };
  EXPECT_THAT(refusal("[0,4]", "[0,4]"), HasSubstr("inside"));
  EXPECT_THAT(refusal("[0,4]", "[2,6]"), AllOf(HasSubstr("tensor 'b'"), HasSubstr("inside")));
  EXPECT_THAT(refusal("[8,12]", "[0,4]"), AllOf(HasSubstr("tensor 'a'"), HasSubstr("hole")));
  EXPECT_THAT(refusal("[0,4]", "[4,8]"), HasSubstr("4 bytes of data that belong to no tensor"));
}

TEST(Weights, AreRefusedWhereANameComesTwice) {
  EXPECT_THAT(Refusal(File("{" + Entry("a", "[1]", "[0,4]") + "," + Entry("a", "[1]", "[4,8]") + "}", kEight)),
              HasSubstr("tensor 'a': is given twice"));
  EXPECT_THAT(Refusal(File(R"({"__metadata__":{"k":"1","k":"2"}})")), HasSubstr("'k' is given twice"));
  EXPECT_THAT(Refusal(File(R"({"__metadata__":{},"__metadata__":{}})")), HasSubstr("is given twice"));
}

TEST(Weights, AreRefusedWithValuesThatAreNotFinite) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    std::string data(4, '\0');
    std::memcpy(data.data(), &value, 4);
    EXPECT_THAT(Refusal(File("{" + Entry("a", "[2]", "[0,8]") + "}", "1234" + data)),
                HasSubstr("tensor 'a': holds values that are not finite"));
    Weights weights = SomeWeights();
    weights.tensors["b"].values[3] = value;
    EXPECT_THROW(WeightsBytes(weights), WorkFailed);
    const TemporaryFolder folder;
    const std::string path = folder.Path("not_finite.safetensors");
    EXPECT_THROW(WriteWeights(path, weights), WorkFailed);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(Weights, NameTheFileThatIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("bad.safetensors");
  EXPECT_THAT(RefusalOf([&] { ReadWeights(path); }), HasSubstr(path));
  WriteFileAtomically(path, "no weights at all");
  EXPECT_THAT(RefusalOf([&] { ReadWeights(path); }), HasSubstr(path));
}

TEST(Weights, AreFoundByNameAndShape) {
  const Weights weights = SomeWeights();
  EXPECT_EQ(weights.Get("b", {2, 3}).values.size(), 6U);
  EXPECT_THAT(RefusalOf([&] { weights.Get("c", {1}); }), HasSubstr("tensor 'c' is missing"));
  EXPECT_THAT(RefusalOf([&] { weights.Get("b", {3, 2}); }), AllOf(HasSubstr("[2, 3]"), HasSubstr("[3, 2]")));
}

// Whatever a file's bytes are changed to, it is read or refused.
TEST(Weights, SurviveAnyChangeOfBytes) {
  const std::string bytes = WeightsBytes(SomeWeights());
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = bytes;
    for (int k = 0; k < 3; ++k) changed[random.Below(changed.size())] = static_cast<char>(random.Next());
    try {
      ParseWeights(changed, "memory");
    } catch (const InvalidInput&) {
    }
  }
}

}  // namespace
}  // namespace millrace::testing
