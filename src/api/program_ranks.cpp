// SPDX-License-Identifier: Apache-2.0
// A program's ranks, and who of them says what.
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/core/stop.hpp"
#include "warren/team/processes.hpp"

#include "api/program_end.hpp"

namespace warren {
namespace {

using team::Processes;

std::unique_ptr<Processes>& membership() {
  static std::unique_ptr<Processes> processes;
  return processes;
}

void print_error_line(const std::string& message) noexcept {
  try {
    write_standard_error(fmt::format("warren: error: {}\n", printable(message)));
  } catch (const std::exception&) {
    write_standard_error("warren: error: there is no memory to say which\n");
  }
}

/// For a failure of this one.
void end_other_ranks(const std::string& message) noexcept {
  Processes* processes = Processes::current();
  if (processes == nullptr || processes->has_ended()) return;
  try {
    processes->end(fmt::format("rank {} failed: {}", processes->rank(), message));
  } catch (const std::exception&) {
    processes->end(message);
  }
}

/// The status that this rank ends with where another one failed first. That one says why, or, where
/// it cannot any more, this one does.
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

/// The team has ended, and the main thread is at something else for so long.
void end_now() { end_process(status_of_other_rank()); }

/// " (rank 2 of 4)", or nothing.
std::string this_rank() {
  const Processes* processes = Processes::current();
  if (processes == nullptr) return {};
  return fmt::format(" (rank {} of {})", processes->rank(), processes->size());
}

/// Why the run was ended before its time: a signal, or a rank that the signal came of.
std::string interruption(int signal) {
  Processes* processes = Processes::current();
  std::string cause = processes != nullptr ? processes->cause() : std::string();
  return cause.empty() ? std::string("interrupted by ") + signal_name(signal) : cause;
}

/// Of what only this rank may have met.
int report_failure_here(ExitStatus status, const std::string& message) {
  return report_failure(status, message + this_rank());
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

void print_error(const std::string& message) noexcept {
  if (is_first_process()) print_error_line(message);
}

void print_last_error(const std::string& message, int status) noexcept {
  if (!may_tell_end()) return;
  print_error_line(message);
  has_told_end(status);
}

int report_failure(ExitStatus status, const std::string& message) {
  end_other_ranks(message);
  print_last_error(message, static_cast<int>(status));
  return static_cast<int>(status);
}

int report_failure(const std::function<std::string(const std::string& message)>& cure) {
  const auto with_cure = [&](const std::string& message) {
    return cure ? message + cure(message) : message;
  };
  if (const int signal = stop_signal(); signal != 0) {
    print_last_error(interruption(signal), status_of_signal(signal));
    return status_of_signal(signal);
  }
  try {
    throw;
  } catch (const ClosedPipeError&) {
    return status_of_signal(SIGPIPE);  // Whoever read from it has had enough: no message.
  } catch (const team::RefusedError&) {
    // Rank 0 says why. A launcher ends it as soon as another rank has ended.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return static_cast<int>(ExitStatus::unusable);
  } catch (const UsageError& error) {
    return report_failure(ExitStatus::unusable, error.what());
  } catch (const InputError& error) {
    return report_failure_here(ExitStatus::unusable, error.what());
  } catch (const MemoryError& error) {
    return report_failure_here(ExitStatus::not_enough_memory, with_cure(error.what()));
  } catch (const ThreadError& error) {
    return report_failure_here(ExitStatus::not_enough_memory, error.what());
  } catch (const std::bad_alloc&) {
    return report_failure_here(ExitStatus::not_enough_memory,
                               with_cure("not enough memory on the host"));
  } catch (const std::system_error& error) {
    const bool is_memory = error.code() == std::errc::not_enough_memory;
    return report_failure_here(
        is_memory ? ExitStatus::not_enough_memory : ExitStatus::internal_failure, error.what());
  } catch (const TeamError& error) {
    if (is_one_of_several()) return status_of_other_rank();
    return report_failure(ExitStatus::internal_failure, error.what());
  } catch (const std::exception& error) {
    return report_failure_here(ExitStatus::internal_failure, error.what());
  }
}

}  // namespace warren
