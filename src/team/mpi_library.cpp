// SPDX-License-Identifier: Apache-2.0
#include "team/mpi_library.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/shared_library.hpp"

namespace warren::team {
namespace {

constexpr const char* kName = "libwarren_mpi.so";
/// Where it is seen from a program's or library's own folder: beside it, as it is built; in the
/// folder above, as in Python's package; where libraries are installed.
constexpr std::array kPlaces = {".", "..", "../" WARREN_LIBDIR};
constexpr const char* kCure =
    "warren speaks to ranks on other hosts by MPI. On Debian and Ubuntu, install the package "
    "libopenmpi-dev and build warren again, with the MPI that starts the ranks; or start all ranks "
    "on one host, which needs none";

/// Of the program or library that has this code.
std::filesystem::path own_folder() {
  Dl_info info{};
  std::error_code failed;
  if (dladdr(reinterpret_cast<const void*>(&mpi_library), &info) == 0) return {};
  // A program that is not linked to run anywhere is named as it was called.
  auto path = std::filesystem::canonical(info.dli_fname, failed);
  if (failed) path = std::filesystem::canonical("/proc/self/exe", failed);
  return failed ? std::filesystem::path() : path.parent_path();
}

std::filesystem::path find_plugin() {
  if (const char* chosen = std::getenv("WARREN_MPI")) return chosen;
  std::string looked;
  for (const char* place : kPlaces) {
    const std::filesystem::path folder = (own_folder() / place / "").lexically_normal();
    std::error_code failed;
    if (std::filesystem::exists(folder / kName, failed)) return folder / kName;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw UsageError(fmt::format("there is no {} in {}: {}", kName, looked, kCure));
}

const MpiFunctions* load() {
  const std::string path = find_plugin().string();
  SharedLibrary shared({path});
  MpiFunctionsGetter get = nullptr;
  shared.find(get, MpiFunctions::kSymbol);
  require(get != nullptr, fmt::format("{} ({}): {}", path, shared.reason(), kCure));
  const MpiFunctions* functions = get();
  require(functions->version == MpiFunctions::kVersion,
          fmt::format("{} is of another version of warren: install the one that was built with "
                      "this program",
                      path));
  return functions;
}

}  // namespace

const MpiFunctions& mpi_library() {
  static const MpiFunctions* functions = load();
  return *functions;
}

}  // namespace warren::team
