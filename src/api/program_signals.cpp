// SPDX-License-Identifier: Apache-2.0
// Signal handlers do no more than write to a pipe, from which a thread reads: ending a team takes
// locks and wakes threads, which no handler may do. The exception is SIGBUS, which a thread gets
// for what it reads itself: it holds no lock then.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "warren/core/mapped_ranges.hpp"
#include "warren/core/output_file.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/stop.hpp"

#include "api/program_end.hpp"

namespace warren {
namespace {

constexpr std::array kEndSignals = {SIGINT, SIGTERM, SIGHUP};
/// What work has to end by itself.
constexpr int kGraceMilliseconds = 2000;

/// The pipe's end to write to; -1: there is none. A byte is a signal's number, or 0 for the end of
/// the watch.
std::atomic<int> write_end{-1};

void send(int number) {
  const auto byte = static_cast<unsigned char>(number);
  while (write(write_end.load(), &byte, 1) < 0 && errno == EINTR) {
  }
}

void pass_on(int signal) {
  const int before = errno;
  send(signal);
  errno = before;
}

/// The thread that reports why the process ends. Where several meet the same fault, one tells it,
/// and the rest wait for the end.
void claim_the_end() {
  static std::atomic<const char*> claimed{nullptr};
  thread_local const char self = 0;
  const char* owner = nullptr;
  if (claimed.compare_exchange_strong(owner, &self) || owner == &self) return;
  for (;;) pause();
}

/// Without taking memory; of several processes, in one.
void tell(std::initializer_list<const char*> texts, int status) noexcept {
  if (!may_tell_end()) return;
  write_standard_error("warren: error: ");
  for (const char* text : texts) write_standard_error(text);
  write_standard_error("\n");
  has_told_end(status);
}

[[noreturn]] void end_at_once(int status) {
  OutputFile::remove_unfinished();
  _exit(status);
}

void report_cut_file(int signal, siginfo_t* info, void*) {
  const char* path = info->si_code == BUS_ADRERR ? mapped_file_at(info->si_addr) : nullptr;
  if (path == nullptr) {
    (void)std::signal(signal, SIG_DFL);  // It comes again.
    return;
  }
  claim_the_end();
  constexpr int kStatus = static_cast<int>(ExitStatus::unusable);
  tell({path, ": it was cut short while it was being read; read it again when it is whole"},
       kStatus);
  end_at_once(kStatus);
}

/// Of exceptions that nobody catches, or that reach a function which may throw none: mostly of
/// memory that a library asks for in a destructor.
[[noreturn]] void end_by_exception() {
  claim_the_end();
  constexpr int kInternal = static_cast<int>(ExitStatus::internal_failure);
  constexpr int kMemory = static_cast<int>(ExitStatus::not_enough_memory);
  // One that is still on its way to a handler, or none: `throw` would come back here without end.
  if (std::current_exception() == nullptr) {
    tell({"internal: ended without an exception to report"}, kInternal);
    end_at_once(kInternal);
  }
  try {
    throw;
  } catch (const std::bad_alloc&) {
    tell({"not enough memory on the host"}, kMemory);
    end_at_once(kMemory);
  } catch (const std::exception& error) {
    print_last_error(error.what(), kInternal);
  } catch (...) {
    tell({"internal: an exception that is not a std::exception"}, kInternal);
  }
  end_at_once(kInternal);
}

/// Before objects of other files are made, which takes memory.
[[gnu::constructor(101)]] void catch_all_exceptions() {
  (void)std::set_terminate(end_by_exception);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  // What was ignored when the program was started stays so.
  if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  (void)sigaction(signal, &action, nullptr);
}

/// The next number from the pipe; -1: none came in time.
int receive(int read_end, int milliseconds) {
  pollfd file{read_end, POLLIN, 0};
  int ready = -1;
  while (ready < 0) ready = poll(&file, 1, milliseconds);
  unsigned char byte = 0;
  return ready == 0 || ::read(read_end, &byte, 1) != 1 ? -1 : byte;
}

}  // namespace

int status_of_signal(int signal) noexcept { return 128 + signal; }

void end_process(int status) {
  claim_the_end();
  end_at_once(status);
}

ProgramSignals::ProgramSignals() {
  open_standard_streams();
  // A file that may grow no further, and a pipe that nobody reads, are errors that say so, not the
  // end of the process.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  (void)std::signal(SIGPIPE, SIG_IGN);
  struct sigaction bus_error {};
  bus_error.sa_sigaction = report_cut_file;
  bus_error.sa_flags = SA_SIGINFO;
  (void)sigaction(SIGBUS, &bus_error, nullptr);

  (void)stop_token();  // Takes memory the first time, which the watcher should not have to.
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  read_end_ = ends[0];
  write_end = ends[1];
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    return;  // Then signals end the process as they end any other.
  }
  for (const int signal : kEndSignals) handle(signal, pass_on);
}

ProgramSignals::~ProgramSignals() {
  if (watcher_.joinable()) {
    for (const int signal : kEndSignals) handle(signal, SIG_DFL);
    send(0);
    watcher_.join();
  }
  const int end = write_end.exchange(-1);
  if (end < 0) return;
  (void)close(end);
  (void)close(read_end_);
}

void ProgramSignals::watch() const {
  const int signal = receive(read_end_, -1);
  if (signal <= 0) return;
  request_stop(signal);
  if (receive(read_end_, kGraceMilliseconds) == 0) return;
  const int status = status_of_signal(signal);
  tell({"interrupted by ", signal_name(signal)}, status);
  end_at_once(status);
}

}  // namespace warren
