// SPDX-License-Identifier: Apache-2.0
// What may stand in a message, and what is escaped.
#include "warren/core/printable.hpp"

#include <string_view>

#include <gtest/gtest.h>

#include "warren/core/log.hpp"

namespace warren {
namespace {

TEST(Printable, TextStays) {
  for (const char* text :
       {"", "graph.el: line 3", "caf\xc3\xa9", "\xe2\x82\xac 5", "\xf0\x9f\x90\x87", "C:\\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlsAreEscaped) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\rd\te\x7f"), "a\\x1b[2Jb\\nc\\rd\\te\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");                                // CSI in one character.
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // From right to left.
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // The line's end.
  EXPECT_EQ(printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");
}

TEST(Printable, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // Cut off.
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");           // A line end, longer than need be.
  EXPECT_EQ(printable("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");  // Likewise.
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // Half of a pair.
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82x"), "\\xe2\\x82x");
}

TEST(Printable, LinesStayLines) { EXPECT_EQ(printable_lines("a\tb\nc\x1b\n"), "a\tb\nc\\x1b\n"); }

TEST(Log, IsALineAMessage) {
  ::testing::internal::CaptureStderr();
  log_warning("a\x1b]0;title\x07\nwarren: error: a lie");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "warren: warning: a\\x1b]0;title\\x07\\nwarren: error: a lie\n");
}

}  // namespace
}  // namespace warren
