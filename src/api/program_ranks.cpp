// SPDX-License-Identifier: Apache-2.0
// A program's ranks, and who of them says what.
#include <chrono>
#include <exception>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "warren/api/program.hpp"
#include "warren/core/log.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/stop.hpp"
#include "warren/team/processes.hpp"

namespace warren {
namespace {

using team::Processes;

std::unique_ptr<Processes>& membership() {
  static std::unique_ptr<Processes> processes;
  return processes;
}

/// The team has ended, and the main thread is at something else for so long.
void end_now() { end_process(status_of_other_rank()); }

void print_error_line(const std::string& message) noexcept {
  try {
    write_standard_error(fmt::format("warren: error: {}\n", printable(message)));
  } catch (const std::exception&) {
    write_standard_error("warren: error: there is no memory to say which\n");
  }
}

}  // namespace

ProgramRanks::ProgramRanks(const team::Launch& launch, const std::string& program,
                           const std::string& command) {
  team::ProcessOptions options;
  options.launch = launch;
  options.program = program;
  options.command = command;
  options.on_end = end_now;
  membership() = std::make_unique<Processes>(options);
  // Each would say the same.
  if (!is_first_process()) set_log_sink([](LogLevel, std::string_view) {});
}

ProgramRanks::~ProgramRanks() { membership().reset(); }

bool is_one_of_several() noexcept { return Processes::current() != nullptr; }

bool is_first_process() noexcept {
  const Processes* processes = Processes::current();
  return processes == nullptr || processes->rank() == 0;
}

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

void print_error(const std::string& message) noexcept {
  if (is_first_process()) print_error_line(message);
}

void print_last_error(const std::string& message, int status) noexcept {
  if (!may_tell_end()) return;
  print_error_line(message);
  has_told_end(status);
}

}  // namespace warren
