// SPDX-License-Identifier: Apache-2.0
#include "warren/core/run_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"

namespace warren {
namespace {

namespace fs = std::filesystem;

/// Links followed; of what is not there yet, by its folder. What the system cannot follow stays as
/// it is written.
fs::path whole_path(const std::string& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  if (!error) whole = fs::weakly_canonical(whole, error);
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
  return error ? fs::path(path).lexically_normal() : whole;
}

/// By what the names lead to.
bool are_same(const std::string& a, const std::string& b) {
  std::error_code error;
  if (OutputFile::is_special(a) || OutputFile::is_special(b)) return false;
  if (fs::exists(a, error) && fs::exists(b, error)) return fs::equivalent(a, b, error);
  return whole_path(a) == whole_path(b);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

void RunFiles::reads(const std::string& path) {
  if (!path.empty()) add({"", path == "-" ? "/dev/stdin" : path});
}

void RunFiles::writes(const std::string& option, const std::string& path) {
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
  const bool in_place = OutputFile::is_special(path);
  if (access(in_place ? path.c_str() : folder.c_str(), W_OK) != 0) {
    refuse(fmt::format("it cannot be written: {}; name a file in a folder that may be written to",
                       std::strerror(errno)));
  }
  add({option, path});
}

void RunFiles::add(File file) {
  const auto clash = std::find_if(files_.begin(), files_.end(), [&](const File& other) {
    const bool is_written = !other.option.empty() || !file.option.empty();
    return is_written && are_same(other.path, file.path);
  });
  if (clash != files_.end()) {
    const File& written = file.option.empty() ? *clash : file;
    const File& other = file.option.empty() ? file : *clash;
    throw InputError(fmt::format(
        "{} {}: this is the file that {}; name another one", written.option, written.path,
        other.option.empty() ? "is read (" + other.path + ")"
                             : fmt::format("{} {} writes", other.option, other.path)));
  }
  files_.push_back(std::move(file));
}

}  // namespace warren
