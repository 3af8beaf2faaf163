// SPDX-License-Identifier: Apache-2.0
// Errors, logging, the trace.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/core/types.hpp"

namespace warren {
namespace {

TEST(Error, HumanBytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(std::uint64_t{3} << 30), "3.00 GiB");
  EXPECT_EQ(human_bytes(~std::uint64_t{0}), "16384.00 PiB");
}

TEST(Error, MemoryErrorSaysEverything) {
  const MemoryError error("cuda:1", 4096, 1024, "ask for less");
  EXPECT_EQ(error.bytes_asked(), 4096u);
  EXPECT_EQ(error.bytes_free(), 1024u);
  EXPECT_STREQ(error.what(),
               "not enough memory on cuda:1: 4096 bytes asked (4.00 KiB), 1024 bytes free (1.00 "
               "KiB); ask for less");
}

TEST(Error, Require) {
  EXPECT_NO_THROW(require(true, "never"));
  EXPECT_THAT([] { require(false, "because"); }, ::testing::ThrowsMessage<UsageError>("because"));
  EXPECT_THAT([] { require(false, std::string("because")); },
              ::testing::ThrowsMessage<UsageError>("because"));
}

TEST(Log, Levels) {
  ::testing::internal::CaptureStderr();
  log_warning("a warning");
  log_info("silent");
  set_log_level(LogLevel::debug);
  log_info("an info");
  log_debug("a detail");
  set_log_level(LogLevel::quiet);
  log_warning("silent");
  set_log_level(LogLevel::warning);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text,
              ::testing::AllOf(::testing::HasSubstr("a warning"), ::testing::HasSubstr("an info"),
                               ::testing::HasSubstr("a detail"),
                               ::testing::Not(::testing::HasSubstr("silent"))));
}

TEST(Log, GoesToASinkInsteadOfStandardError) {
  std::vector<std::pair<LogLevel, std::string>> told;
  set_log_sink(
      [&](LogLevel level, std::string_view message) { told.emplace_back(level, message); });
  ::testing::internal::CaptureStderr();
  log_warning("a\nwarning");
  log_info("silent");
  EXPECT_FALSE(is_logged(LogLevel::info));
  set_log_level(LogLevel::info);
  EXPECT_TRUE(is_logged(LogLevel::info));
  log_info("an info");
  set_log_level(LogLevel::warning);
  set_log_sink({});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(told, (std::vector<std::pair<LogLevel, std::string>>{{LogLevel::warning, "a\\nwarning"},
                                                                 {LogLevel::info, "an info"}}));
  ::testing::internal::CaptureStderr();
  log_warning("again here");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("again here"));
}

TEST(Trace, IsChromesFormat) {
  { const TraceSpan before("not recorded", 0); }
  trace_start();
  EXPECT_TRUE(trace_enabled());
  {
    const TraceSpan span("a \"quoted\" name\n", 3);
    std::thread([] { const TraceSpan other("other", 1); }).join();
  }
  trace_span("with arguments", 2, now_seconds() - 0.5, now_seconds(), R"({"edges":7})");
  trace_counter("bytes", 0, 12.5);
  const std::string path =
      (std::filesystem::path(::testing::TempDir()) / "warren_trace_test.json").string();
  trace_write(path);
  std::ifstream file(path);
  const nlohmann::json trace = nlohmann::json::parse(file);
  ASSERT_EQ(trace["traceEvents"].size(), 4u);
  int spans = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") ++spans;
    if (event["name"] == "with arguments") {
      EXPECT_EQ(event["args"]["edges"], 7);
      EXPECT_NEAR(event["dur"].get<double>(), 5e5, 1e4);
      EXPECT_EQ(event["tid"], 2);
    }
    if (event["name"] == "bytes") {
      EXPECT_EQ(event["args"]["value"], 12.5);
    }
  }
  EXPECT_EQ(spans, 3);
  std::filesystem::remove(path);
  EXPECT_THROW(trace_write("/nonexistent/folder/trace.json"), InputError);
}

TEST(Types, Limits) {
  static_assert(sizeof(Vertex) == 4 && sizeof(EdgeOffset) == 8);
  EXPECT_EQ(kMaxVertices, std::uint64_t{kNoVertex});
}

}  // namespace
}  // namespace warren
