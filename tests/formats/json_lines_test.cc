// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JsonLines, AreReadInOrderWithoutEmptyOnesAndWithoutALastEnd) {
  std::vector<double> read;
  ReadJsonLines("{\"x\":1}\n\n{\"x\":2}\n{\"x\":3}", "log",
                [&read](const JsonPlace& root) { read.push_back(root.Member("x").Number()); });
  EXPECT_THAT(read, ElementsAre(1, 2, 3));
  ReadJsonLines("", "log", [](const JsonPlace&) { FAIL() << "there is no line"; });
}

TEST(JsonLines, AreRefusedByNameAndNumber) {
  for (const char* text : {"{\"x\":1}\n\n{\"x\":}", "{\"x\":1}\n\n{\"y\":2}"}) {
    try {
      ReadJsonLines(text, "some.jsonl", [](const JsonPlace& root) { root.Member("x").Number(); });
      FAIL() << text;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("some.jsonl:3: "));
    }
  }
}

}  // namespace
}  // namespace millrace
