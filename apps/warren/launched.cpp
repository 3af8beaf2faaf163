// SPDX-License-Identifier: Apache-2.0
#include "launched.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/stop.hpp"
#include "warren/team/processes.hpp"

#include "command.hpp"
#include "files.hpp"
#include "options.hpp"
#include "process.hpp"

namespace warren::app {
namespace {

using team::Processes;

/// Which have the same ranks on any team of one host.
constexpr std::array<std::string_view, 15> kTeamCommands = {
    "bc",      "bfs",    "cc",    "core", "gather", "info",  "lookup",   "pagerank",
    "predict", "sample", "sddmm", "spmm", "sssp",   "train", "triangles"};
/// Those of them that have ranks on several.
constexpr std::array<std::string_view, 12> kHostsCommands = {
    "bfs",     "cc",     "gather", "info", "lookup", "pagerank",
    "predict", "sample", "sddmm",  "spmm", "sssp",   "train"};

std::unique_ptr<Processes>& membership() {
  static std::unique_ptr<Processes> processes;
  return processes;
}

/// Of a launcher's ranks; 0 without one.
int launched_rank = 0;

bool asks_for_help(int argc, const char* const* argv) {
  return argc < 2 || std::any_of(argv + 1, argv + argc, [](std::string_view word) {
           return word == "--help" || word == "-h" || word == "--version";
         });
}

std::string words_of(int argc, const char* const* argv) {
  std::string words;
  for (int i = 1; i < argc; ++i) words += (i > 1 ? " " : "") + std::string(argv[i]);
  return words;
}

/// The team has ended, and the main thread is at something else for so long.
void end_now() { end_process(status_of_other_rank()); }

}  // namespace

Launched::Launched(const std::string& command, int argc, const char* const* argv) {
  const std::optional<team::Launch> launch = team::find_launch();
  if (!launch) return;
  launched_rank = launch->rank;
  if (asks_for_help(argc, argv)) return;
  const auto refuse = [&](const std::string& why) {
    if (launch->rank > 0) throw team::RefusedError(why);
    check_command(command);
    throw UsageError(why);
  };
  if (std::ranges::find(kTeamCommands, command) == kTeamCommands.end()) {
    refuse(
        fmt::format("{} has no ranks that are processes yet, and {} started {}: start one "
                    "process, with --devices N where the command has ranks",
                    command, launch->launcher, launch->size));
  }
  if (launch->spans_hosts && std::ranges::find(kHostsCommands, command) == kHostsCommands.end()) {
    refuse(
        fmt::format("{} has no ranks on several hosts yet, and {} started {} ranks on more than "
                    "one: start all on one host; {} run on several",
                    command, launch->launcher, launch->size, fmt::join(kHostsCommands, ", ")));
  }
  team::ProcessOptions options;
  options.launch = *launch;
  options.program = std::string("warren ") + WARREN_VERSION;
  options.command = words_of(argc, argv);
  options.on_end = end_now;
  membership() = std::make_unique<Processes>(options);
  // Each would say the same.
  if (!is_first_process()) set_log_sink([](LogLevel, std::string_view) {});
}

Launched::~Launched() { membership().reset(); }

bool is_one_of_several() noexcept { return Processes::current() != nullptr; }

bool is_first_process() noexcept { return launched_rank == 0; }

bool may_tell_end() noexcept {
  Processes* processes = Processes::current();
  return processes == nullptr || processes->may_tell();
}

void has_told_end(int status) noexcept {
  if (Processes* processes = Processes::current()) processes->has_told(status);
}

void end_other_ranks(const std::string& message) noexcept {
  Processes* processes = Processes::current();
  if (processes == nullptr || processes->has_ended()) return;
  try {
    processes->end(fmt::format("rank {} failed: {}", processes->rank(), message));
  } catch (const std::exception&) {
    processes->end(message);
  }
}

int status_of_other_rank() {
  constexpr std::chrono::milliseconds kLongest{2000};
  constexpr int kFailed = static_cast<int>(ExitStatus::internal_failure);
  Processes& processes = *Processes::current();
  const std::string cause = processes.cause();
  // A rank that is lost tells nothing, and is waited for no longer than the one that says so.
  if (processes.is_lost()) print_last_error(cause, kFailed);
  if (const int told = processes.wait_for_told(kLongest); told >= 0) return told;
  print_last_error(cause, kFailed);
  return kFailed;
}

std::string this_rank() {
  const Processes* processes = Processes::current();
  if (processes == nullptr) return {};
  return fmt::format(" (rank {} of {})", processes->rank(), processes->size());
}

std::string interruption(int signal) {
  Processes* processes = Processes::current();
  std::string cause = processes != nullptr ? processes->cause() : std::string();
  return cause.empty() ? std::string("interrupted by ") + signal_name(signal) : cause;
}

}  // namespace warren::app
