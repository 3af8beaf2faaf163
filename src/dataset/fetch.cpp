// SPDX-License-Identifier: Apache-2.0
#include "warren/dataset/fetch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"
#include "warren/files/mapped_file.hpp"

#include "dataset/download.hpp"
#include "dataset/new_folder.hpp"
#include "dataset/sha256.hpp"
#include "dataset/unpack.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSums = "SHA256SUMS";
constexpr const char* kSource = "SOURCE";

struct PublicSet {
  const char* name;
  const char* base;  ///< The authors' address, of files one by one or of an archive.
  std::vector<std::string> files;
};

const std::vector<PublicSet>& public_sets() {
  static const std::vector<PublicSet> sets = [] {
    constexpr const char* kPlanetoid = "https://github.com/kimiyoung/planetoid/raw/master/data";
    constexpr const char* kOgb = "https://snap.stanford.edu/ogb/data/nodeproppred";
    std::vector<PublicSet> all;
    for (const char* name : {"cora", "citeseer", "pubmed"}) {
      PublicSet set{name, kPlanetoid, {}};
      for (const char* part : {"x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"})
        set.files.push_back(fmt::format("ind.{}.{}", name, part));
      all.push_back(set);
    }
    all.push_back({"ogbn-arxiv", kOgb, {"arxiv.zip"}});
    all.push_back({"ogbn-products", kOgb, {"products.zip"}});
    all.push_back({"ogbn-papers100M", kOgb, {"papers100M-bin.zip"}});
    all.push_back({"reddit", "https://data.dgl.ai/dataset", {"reddit.zip"}});
    return all;
  }();
  return sets;
}

/// Sums of the published files, where they are known: those of kimiyoung/planetoid at commit
/// af6abf4.
const std::map<std::string, std::string>& known_sums() {
  static const std::map<std::string, std::string> sums = {
      {"ind.citeseer.allx", "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
      {"ind.citeseer.ally", "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
      {"ind.citeseer.graph", "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
      {"ind.citeseer.test.index",
       "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"},
      {"ind.citeseer.tx", "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
      {"ind.citeseer.ty", "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
      {"ind.citeseer.x", "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"},
      {"ind.citeseer.y", "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"},
      {"ind.cora.allx", "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
      {"ind.cora.ally", "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
      {"ind.cora.graph", "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
      {"ind.cora.test.index", "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"},
      {"ind.cora.tx", "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
      {"ind.cora.ty", "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
      {"ind.cora.x", "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"},
      {"ind.cora.y", "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"},
      {"ind.pubmed.ally", "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
      {"ind.pubmed.graph", "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
      {"ind.pubmed.test.index", "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"},
      {"ind.pubmed.tx", "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
      {"ind.pubmed.ty", "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
      {"ind.pubmed.x", "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"},
      {"ind.pubmed.y", "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"},
  };
  return sums;
}

/// Sums by name, of SHA256SUMS or SOURCE: "SUM  NAME", and in SOURCE "  ADDRESS" behind it. Names
/// may have blanks in them.
std::map<std::string, std::string> read_sums(const fs::path& path) {
  constexpr std::size_t kDigits = 64;
  constexpr std::string_view kBetween = "  ";
  std::map<std::string, std::string> sums;
  std::error_code error;
  if (!fs::exists(path, error)) return sums;
  // Streams take a request for memory that fails for the end of the file.
  const files::MappedFile file(path.string());
  std::string_view text(file.data(), file.size());
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() <= kDigits + kBetween.size() || !line.substr(kDigits).starts_with(kBetween))
      throw InputError(
          fmt::format("{}: \"{}\" should be the sum and the name of a file: bring it "
                      "anew: remove {}, and fetch it again",
                      path.string(), line.substr(0, 80), path.parent_path().string()));
    std::string name = line.substr(kDigits + kBetween.size());
    if (path.filename() == kSource) name = name.substr(0, name.find(kBetween));
    sums[name] = line.substr(0, kDigits);
  }
  return sums;
}

/// SHA256SUMS of the files; how many there are.
std::uint64_t write_sums(const fs::path& folder, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}  {}\n", sha256_of_file((folder / name).string()), name);
  OutputFile out((folder / kSums).string());
  out.write(text);
  (void)out.commit();
  return names.size();
}

/// Whether the files are those that were brought.
std::uint64_t check_files(const fs::path& folder) {
  const auto sums = read_sums(folder / kSums);
  for (const auto& [name, sum] : sums) {
    std::error_code error;
    const std::string path = (folder / name).string();
    const bool is_there = fs::is_regular_file(path, error);
    if (!is_there || sha256_of_file(path) != sum)
      throw InputError(fmt::format(
          "{}: {} since it was fetched: bring it anew by 'warren fetch {} --again'", path,
          is_there ? "it has changed" : "it has gone", folder.filename().string()));
  }
  return sums.size();
}

class Fetch {
 public:
  Fetch(const PublicSet& set, const FetchOptions& options, const fs::path& place)
      : set_(set),
        base_(options.from.empty() ? set.base : options.from),
        place_(place),
        recorded_(read_sums(place / kSource)),
        folder_(place.parent_path(), set.name) {
    while (base_.ends_with('/')) base_.pop_back();
  }

  FetchResult run() {
    FetchResult result;
    result.is_pinned = true;
    std::string source;
    // Not looked for in the folder: the library's iterators end the process where there is no
    // memory, and the folder would stay.
    std::vector<std::string> names = {kSource};
    for (const std::string& name : set_.files) {
      const fs::path path = folder_.path() / name;
      const std::string sum = bring(name, path, result.is_pinned);
      source += fmt::format("{}  {}  {}/{}\n", sum, name, base_, name);
      result.bytes += fs::file_size(path);
      if (!name.ends_with(".zip")) {
        names.push_back(name);
        continue;
      }
      const std::vector<std::string> unpacked =
          unpack(path, folder_.path(), {kSums, kSource, name});
      names.insert(names.end(), unpacked.begin(), unpacked.end());
      fs::remove(path);
    }
    OutputFile out((folder_.path() / kSource).string());
    out.write(source);
    (void)out.commit();
    result.files = write_sums(folder_.path(), std::move(names));
    folder_.move_to(place_);
    result.folder = place_.string();
    return result;
  }

 private:
  /// Its sum, which is the right one where that is known.
  std::string bring(const std::string& name, const fs::path& path, bool& is_pinned) {
    const std::string address = base_ + "/" + name;
    const Download got = download(address, path.string());
    if (!got.trouble.empty()) {
      const std::string by_hand =
          fmt::format("; by hand: download {}/{} on a machine with a network and put {} into {}",
                      set_.base, set_.files.size() == 1 ? name : fmt::format("ind.{}.*", set_.name),
                      set_.files.size() == 1 ? "what is in it" : "the files", place_.string());
      throw InputError(fmt::format("{}: cannot be brought ({}); nothing was kept{}", address,
                                   got.trouble, got.is_unreachable ? by_hand : ""));
    }
    std::string sum = sha256_of_file(path.string());
    const auto known = known_sums().find(name);
    const auto recorded = recorded_.find(name);
    if (known == known_sums().end()) is_pinned = false;
    const bool is_known = known != known_sums().end();
    const std::string expected = is_known                      ? known->second
                                 : recorded != recorded_.end() ? recorded->second
                                                               : sum;
    if (sum != expected)
      throw InputError(fmt::format(
          "{}: its SHA-256 is {}, but {} {}: it was changed, or damaged on "
          "its way; nothing was kept{}",
          address, sum, is_known ? "the published file's is" : "the first time it was", expected,
          is_known ? "" : fmt::format("; remove {} to trust the new one", place_.string())));
    return sum;
  }

  const PublicSet& set_;
  std::string base_;
  fs::path place_;
  std::map<std::string, std::string> recorded_;
  NewFolder folder_;
};

}  // namespace

std::vector<std::string> public_datasets() {
  std::vector<std::string> names;
  for (const PublicSet& set : public_sets()) names.emplace_back(set.name);
  return names;
}

std::string dataset_root() {
  if (const char* named = std::getenv("WARREN_DATA"); named != nullptr && *named != '\0')
    return named;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    throw InputError("there is no home folder to keep datasets in: set WARREN_DATA");
  return (fs::path(home) / ".cache" / "warren").string();
}

FetchResult fetch_dataset(const std::string& name, const FetchOptions& options) {
  const auto& sets = public_sets();
  const auto set =
      std::find_if(sets.begin(), sets.end(), [&](const PublicSet& s) { return s.name == name; });
  if (set == sets.end())
    throw UsageError(fmt::format("\"{}\" is no public dataset that can be fetched; there are {}",
                                 name, fmt::join(public_datasets(), ", ")));
  const fs::path place = fs::path(dataset_root()) / name;
  std::error_code error;
  if (fs::exists(place / kSums, error) && !options.again) {
    FetchResult result;
    result.folder = place.string();
    result.files = check_files(place);
    result.was_there = true;
    return result;
  }
  if (fs::exists(place, error) && !fs::exists(place / kSums, error))
    throw InputError(
        fmt::format("{}: it is there, but was not fetched: it stays as it is; move it "
                    "away to fetch {}",
                    place.string(), name));
  try {
    return Fetch(*set, options, place).run();
  } catch (const fs::filesystem_error& failure) {
    if (failure.code() == std::errc::not_enough_memory) throw;
    throw InputError(failure.what());
  }
}

}  // namespace warren::learn
