// SPDX-License-Identifier: Apache-2.0
#include "millrace/errors/shown.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

TEST(Escaped, LeavesTextThatIsSeenAsItIs) {
  for (const std::string text : {"", "conv1/weights:0", "größe → 漢字 🙂", "C:\\models\\a b.onnx", "'\"<&>"})
    EXPECT_EQ(Escaped(text), text);
}

TEST(Escaped, ShowsWhatWouldSteerATerminalOrEndALine) {
  EXPECT_EQ(Escaped("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(Escaped("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(Escaped(std::string("\0\x07\x7f", 3)), "\\x00\\x07\\x7f");
  EXPECT_EQ(Escaped("\u009b2J"), "\\u009b2J");
  EXPECT_EQ(Escaped("\u202egnp.exe\u2066"), "\\u202egnp.exe\\u2066");
}

TEST(Escaped, ShowsBytesThatAreNoText) {
  EXPECT_EQ(Escaped("\x9b"
                    "2J"),
            "\\x9b2J");
  EXPECT_EQ(Escaped("a\xff"), "a\\xff");
  EXPECT_EQ(Escaped("\xe2\x82"), "\\xe2\\x82") << "the end of a character is missing";
  EXPECT_EQ(Escaped("\xc0\x8a"), "\\xc0\\x8a") << "a line's end in two bytes";
  EXPECT_EQ(Escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair";
}

TEST(Shown, CutsLongTextBetweenCharactersAndSaysSo) {
  EXPECT_EQ(Shown("short"), "short");
  EXPECT_EQ(Shown(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(Shown(std::string(400, '9'), 5), "99999...");
  EXPECT_EQ(Shown("aä", 2), "a...");
  EXPECT_EQ(Shown("\n\n\n", 2), "\\n\\n...");
}

TEST(TerminalSafeJson, SpellsControlCharactersAndNothingElse) {
  EXPECT_EQ(TerminalSafeJson(R"({"name":"größe"})"), R"({"name":"größe"})");
  EXPECT_EQ(TerminalSafeJson("[\"\x7f\",\"\u009b2J\",\"\u00a9\u202e\u20ac\"]"),
            "[\"\\u007f\",\"\\u009b2J\",\"\u00a9\\u202e\u20ac\"]");
}

}  // namespace
}  // namespace millrace
