// SPDX-License-Identifier: Apache-2.0
#include "dataset/unpack.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/files/zip_reader.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUnpackedBytes = std::size_t{1} << 20;

/// A member, and where it goes within the folder.
struct Member {
  std::string name;
  fs::path inside;
};

/// "a/" of names that all begin with it.
std::string common_folder(const std::vector<std::string>& names) {
  std::string top = names[0].substr(0, names[0].find('/') + 1);
  const bool is_one = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return !top.empty() && name.starts_with(top);
  });
  return is_one ? top : "";
}

std::vector<Member> members_of(const files::ZipReader& zip, const std::string& archive,
                               const std::set<fs::path>& reserved) {
  std::vector<std::string> names = zip.names();
  std::erase_if(names, [](const std::string& name) { return name.ends_with('/'); });
  if (names.empty()) throw InputError(archive + ": the archive is empty");
  const std::size_t skipped = common_folder(names).size();
  std::vector<Member> members;
  std::set<fs::path> places;
  for (const std::string& name : names) {
    Member member{name, fs::path(name.substr(skipped)).lexically_normal()};
    const auto refuse = [&](const char* what) {
      throw InputError(fmt::format("{}: its member \"{}\" {}", archive, name, what));
    };
    if (member.inside.empty() || member.inside.is_absolute() || *member.inside.begin() == ".." ||
        !member.inside.has_filename())
      refuse("would be written outside its folder");
    const bool is_odd = std::any_of(name.begin(), name.end(), [](unsigned char c) {
      return c < 0x20 || c == 0x7f || c == '\\';
    });
    if (is_odd) refuse("has a name with control characters or backslashes");
    if (reserved.contains(member.inside))
      refuse("has the name of a file that is not the archive's");
    if (!places.insert(member.inside).second) refuse("is in it twice");
    members.push_back(std::move(member));
  }
  return members;
}

void check_disk(const fs::path& folder, const std::string& archive, std::uint64_t bytes) {
  const std::uint64_t free = fs::space(folder).available;
  if (bytes > free)
    throw InputError(
        fmt::format("{}: its files take {} bytes ({}), but {} has {} bytes ({}) free: "
                    "set WARREN_DATA to a folder on a larger disk",
                    archive, bytes, human_bytes(bytes), folder.parent_path().string(), free,
                    human_bytes(free)));
}

void write_members(const files::ZipReader& zip, const std::vector<Member>& members,
                   const fs::path& folder) {
  std::vector<char> piece(kUnpackedBytes);
  for (const auto& [name, inside] : members) {
    fs::create_directories((folder / inside).parent_path());
    files::ZipStream member = zip.open(name);
    OutputFile out((folder / inside).string());
    while (const std::uint64_t count = member.read(piece.data(), piece.size()))
      out.write(piece.data(), count);
    (void)out.commit();
  }
}

}  // namespace

std::vector<std::string> unpack(const fs::path& archive, const fs::path& folder,
                                const std::set<fs::path>& reserved) {
  const std::string label = archive.filename().string();
  std::vector<std::string> names;
  try {
    const files::MappedFile file(archive.string());
    const files::ZipReader zip(file);
    const std::vector<Member> members = members_of(zip, label, reserved);
    std::uint64_t bytes = 0;
    for (const Member& member : members) bytes += zip.open(member.name).size();
    check_disk(folder, label, bytes);
    write_members(zip, members, folder);
    names.reserve(members.size());
    for (const Member& member : members) names.push_back(member.inside.string());
  } catch (const fs::filesystem_error& error) {
    if (error.code() == std::errc::not_enough_memory) throw;
    throw InputError(fmt::format("{}: {}", label, error.what()));
  } catch (const InputError& error) {
    const std::string_view what = error.what();
    const std::string path = archive.string();
    if (!what.starts_with(path)) throw;
    throw InputError(label + std::string(what.substr(path.size())));
  }
  return names;
}

}  // namespace warren::learn
