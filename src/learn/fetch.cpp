// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/fetch.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "warren/core/error.hpp"

#include "graph/io/mapped_file.hpp"
#include "graph/io/output_file.hpp"
#include "graph/io/zip_reader.hpp"
#include "learn/download.hpp"
#include "learn/sha256.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSums = "SHA256SUMS";
constexpr const char* kSource = "SOURCE";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

struct PublicSet {
  const char* name;
  const char* base;  ///< The authors' address, of files one by one or of an archive.
  std::vector<std::string> files;
};

const std::vector<PublicSet>& public_sets() {
  static const std::vector<PublicSet> sets = [] {
    constexpr const char* kPlanetoid = "https://github.com/kimiyoung/planetoid/raw/master/data";
    constexpr const char* kOgb = "http://snap.stanford.edu/ogb/data/nodeproppred";
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

/// Sums by name, of SHA256SUMS or SOURCE.
std::map<std::string, std::string> read_sums(const fs::path& path) {
  std::map<std::string, std::string> sums;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string sum, name;
    if (words >> sum >> name) sums[name] = sum;
  }
  return sums;
}

/// A folder beside its place, which goes unless it is moved there.
class NewFolder {
 public:
  NewFolder(const fs::path& root, const std::string& name)
      : path_(root / fmt::format(".{}.partial-{}", name, getpid())) {
    std::error_code error;
    fs::create_directories(root, error);
    remove_left(root, fmt::format(".{}.partial-", name));
    if (!error) fs::create_directory(path_, error);
    if (error || access(path_.c_str(), W_OK) != 0)
      throw InputError(
          fmt::format("{}: cannot be written ({}): set WARREN_DATA to a folder of "
                      "yours",
                      root.string(), error ? error.message() : "no permission"));
  }
  ~NewFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void move_to(const fs::path& place) {
    const fs::path old = path_.string() + ".old";
    std::error_code error;
    if (fs::exists(place)) fs::rename(place, old, error);
    if (!error) fs::rename(path_, place, error);
    if (error) {
      std::error_code back;
      if (fs::exists(old)) fs::rename(old, place, back);
      throw InputError(
          fmt::format("{}: cannot be put in its place: {}", place.string(), error.message()));
    }
    fs::remove_all(old, error);
  }

 private:
  /// Of processes that were killed.
  static void remove_left(const fs::path& root, const std::string& prefix) {
    std::error_code error;
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(root, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(prefix)) continue;
      const int process = std::atoi(name.c_str() + prefix.size());
      if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) left.push_back(entry.path());
    }
    for (const fs::path& path : left) fs::remove_all(path, error);
  }

  fs::path path_;
};

/// Members of an archive into a folder, without the one folder that they may all be in.
void unpack(const fs::path& archive, const fs::path& folder) {
  const graph::io::MappedFile file(archive.string());
  const graph::io::ZipReader zip(file);
  std::vector<std::string> names = zip.names();
  std::erase_if(names, [](const std::string& name) { return name.ends_with('/'); });
  if (names.empty()) throw InputError(archive.filename().string() + ": the archive is empty");
  const std::string top = names[0].substr(0, names[0].find('/') + 1);
  const bool is_one = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return !top.empty() && name.starts_with(top);
  });
  std::vector<char> piece(kPieceBytes);
  for (const std::string& name : names) {
    const fs::path inside = fs::path(is_one ? name.substr(top.size()) : name).lexically_normal();
    if (inside.empty() || inside.is_absolute() || *inside.begin() == "..")
      throw InputError(fmt::format("{}: its member \"{}\" would be written outside its folder",
                                   archive.filename().string(), name));
    fs::create_directories((folder / inside).parent_path());
    graph::io::ZipStream member = zip.open(name);
    graph::io::OutputFile out((folder / inside).string());
    while (const std::uint64_t bytes = member.read(piece.data(), piece.size()))
      out.write(piece.data(), bytes);
    (void)out.commit();
  }
}

/// SHA256SUMS of all files; how many there are.
std::uint64_t write_sums(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}  {}\n", sha256_of_file((folder / name).string()), name);
  graph::io::OutputFile out((folder / kSums).string());
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
      throw InputError(fmt::format("{}: {} since it was fetched: bring it anew with --again", path,
                                   is_there ? "it has changed" : "it has gone"));
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
    for (const std::string& name : set_.files) {
      const fs::path path = folder_.path() / name;
      const std::string sum = bring(name, path, result.is_pinned);
      source += fmt::format("{}  {}  {}/{}\n", sum, name, base_, name);
      result.bytes += fs::file_size(path);
      if (!name.ends_with(".zip")) continue;
      unpack(path, folder_.path());
      fs::remove(path);
    }
    graph::io::OutputFile out((folder_.path() / kSource).string());
    out.write(source);
    (void)out.commit();
    result.files = write_sums(folder_.path());
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
    throw InputError(failure.what());
  }
}

}  // namespace warren::learn
