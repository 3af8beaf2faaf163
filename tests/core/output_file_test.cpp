// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all, and the end of a process before its time.
#include "warren/core/output_file.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/mapped_ranges.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/stop.hpp"

#include "support/file_size_limit.hpp"
#include "support/temporary_folder.hpp"

namespace warren {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(OutputFile, AppearsWithCommitAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  put(path, "old");
  {
    OutputFile file(path);
    file.write("half");
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(folder.files(), 2);
  }
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(folder.files(), 1);
  OutputFile file(path);
  file.write("whole");
  file.fill_up_to(7);
  file.replace(0, "W", 1);
  EXPECT_EQ(file.commit(), 7u);
  EXPECT_EQ(content(path), std::string("Whole\0\0", 7));
  EXPECT_EQ(folder.files(), 1);
}

TEST(OutputFile, SeveralAppearTogether) {
  const TemporaryFolder folder;
  OutputFile a(folder.file("a")), b(folder.file("b"));
  a.write("1");
  b.write("2");
  const std::array<OutputFile*, 2> both = {&a, &b};
  OutputFile::commit(both);
  EXPECT_EQ(content(folder.file("a")) + content(folder.file("b")), "12");
  EXPECT_EQ(folder.files(), 2);
}

TEST(OutputFile, FollowsNoLinkAndKeepsPermissions) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  const std::string victim = folder.file("victim");
  put(victim, "mine");
  fs::create_symlink(victim, path);
  // Names that it may choose first.
  for (int i = 0; i < 100; ++i)
    fs::create_symlink(victim, fmt::format("{}.partial-{}-{}", path, getpid(), i));
  OutputFile file(path);
  file.write("new");
  (void)file.commit();
  EXPECT_EQ(content(victim), "mine");
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(content(path), "new");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  OutputFile again(path);
  (void)again.commit();
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(OutputFile, SpecialFilesAreWrittenInPlaceOrRefused) {
  const TemporaryFolder folder;
  EXPECT_TRUE(OutputFile::is_special("/dev/null"));
  EXPECT_TRUE(OutputFile::is_special("/dev/stdout"));
  EXPECT_FALSE(OutputFile::is_special(folder.file("new")));
  EXPECT_THROW(OutputFile("/dev/null"), InputError);
  EXPECT_THROW(OutputFile(folder.file("")), InputError);
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  {
    OutputFile file(pipe, OutputFile::Special::in_place);
    file.write("text");
    (void)file.commit();
  }
  std::array<char, 8> got{};
  EXPECT_EQ(read(reader, got.data(), got.size()), 4);
  (void)close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  // A regular file that is open under a number: written where it stands.
  const std::string path = folder.file("open");
  const int number = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(write(number, "a", 1), 1);
  OutputFile file(fmt::format("/dev/fd/{}", number), OutputFile::Special::in_place);
  file.write("b");
  (void)file.commit();
  ASSERT_EQ(write(number, "c", 1), 1);
  (void)close(number);
  EXPECT_EQ(content(path), "abc");
}

TEST(OutputFile, SaysBeforeThatThereIsNoRoom) {
  const TemporaryFolder folder;
  std::string message;
  try {
    const testing_support::FileSizeLimit limit(4096);
    OutputFile file(folder.file("out"));
    file.reserve(4096);
    file.reserve(4097);
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("out: cannot write"),
                                      testing::HasSubstr("free some space")));
  EXPECT_EQ(folder.files(), 0);
}

// For good, and so in a process of its own.
TEST(OutputFileDeathTest, UnfinishedOnesGoAtOnce) {
  const TemporaryFolder folder;
  const auto end = [&] {
    OutputFile first(folder.file("first"));
    std::optional<OutputFile> second(folder.file("second"));
    OutputFile third(folder.file("third"));
    second.reset();
    (void)third.commit();
    OutputFile::remove_unfinished();
    _exit(7);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "");
  EXPECT_EQ(folder.files(), 1);
  EXPECT_TRUE(fs::exists(folder.file("third")));
}

TEST(StopDeathTest, EndsWhatWritesAndCallsWhoWaits) {
  const TemporaryFolder folder;
  const auto end = [&] {
    OutputFile file(folder.file("out"));
    int called = 0;
    const std::stop_callback callback(stop_token(), [&] { ++called; });
    check_stop();
    request_stop(SIGTERM);
    request_stop(SIGINT);
    try {
      file.write("text");
    } catch (const Error& error) {
      write_standard_error(error.what());
    }
    std::exit(called == 1 && stop_signal() == SIGTERM ? 7 : 8);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "interrupted by SIGTERM");
}

TEST(StandardStreamsDeathTest, ClosedOnesAreOpenedAgainstTheirDirection) {
  const auto end = [] {
    for (int descriptor = 0; descriptor <= 2; ++descriptor) (void)close(descriptor);
    open_standard_streams();
    char byte = 0;
    const bool is_open = fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
    const bool is_refused = read(0, &byte, 1) < 0 && write(1, &byte, 1) < 0;
    write_standard_error("nobody hears");
    try {
      write_standard_output("text");
    } catch (const InputError&) {
      _exit(is_open && is_refused ? 7 : 8);
    }
    _exit(9);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(7), "");
}

TEST(MappedRanges, TellWhoseAnAddressIs) {
  const std::array<char, 16> bytes{};
  EXPECT_EQ(mapped_file_at(bytes.data()), nullptr);
  {
    const MappedRange range(bytes.data() + 4, 8, "a");
    const MappedRange last(bytes.data() + 12, 4, "b");
    EXPECT_EQ(mapped_file_at(bytes.data() + 3), nullptr);
    EXPECT_STREQ(mapped_file_at(bytes.data() + 4), "a");
    EXPECT_STREQ(mapped_file_at(bytes.data() + 11), "a");
    EXPECT_STREQ(mapped_file_at(bytes.data() + 12), "b");
  }
  EXPECT_EQ(mapped_file_at(bytes.data() + 4), nullptr);
}

}  // namespace
}  // namespace warren
