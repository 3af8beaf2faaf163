// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/error.hpp"

namespace warren::app {
namespace {

namespace fs = std::filesystem;

bool is_special(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

void check_writable(const std::string& option, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{} {}: {}", option, path, why));
  };
  if (path.empty()) refuse("the file's name is empty; name a file");
  std::error_code error;
  if (fs::is_directory(path, error)) refuse("this is a folder; name a file in it");
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, error)) {
    refuse(fmt::format("there is no folder {}; create it first", folder.string()));
  }
  const bool in_place = is_special(path);
  if (access(in_place ? path.c_str() : folder.c_str(), W_OK) != 0) {
    refuse("it cannot be written; name a file in a folder that may be written to");
  }
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  // Through a link, the file that it leads to is replaced.
  const fs::path target = fs::weakly_canonical(path_, error);
  if (!error && !is_special(path_)) path_ = target.string();
  written_path_ = is_special(path_) ? path_ : fmt::format("{}.{}.part", path_, getpid());
  file_ = std::fopen(written_path_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot be written");
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  (void)std::fclose(file_);
  if (written_path_ != path_) (void)std::remove(written_path_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot be written");
}

void OutputFile::commit() {
  if (std::fflush(file_) != 0) fail("cannot be written");
  if (written_path_ != path_ && std::rename(written_path_.c_str(), path_.c_str()) != 0) {
    fail("cannot be put in its place");
  }
  (void)std::fclose(std::exchange(file_, nullptr));
}

void OutputFile::fail(const std::string& what) const {
  throw InputError(fmt::format("{} {}: {}; free some space or name another folder", path_, what,
                               std::strerror(errno)));
}

void write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw InputError(
        fmt::format("standard output cannot be written: {}; send it to a file on "
                    "which there is space",
                    std::strerror(errno)));
  }
}

}  // namespace warren::app
