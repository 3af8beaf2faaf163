// SPDX-License-Identifier: Apache-2.0
#include "dataset/download.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/stop.hpp"

namespace warren::learn {
namespace {

/// A pipe's end to read from, of what the child writes on its standard error.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("no pipe to curl can be made");
    read_end_ = ends[0];
    // Signals that this process ignores end the child as they end any other.
    posix_spawnattr_t attributes;
    (void)posix_spawnattr_init(&attributes);
    sigset_t ignored;
    (void)sigemptyset(&ignored);
    (void)sigaddset(&ignored, SIGPIPE);
    (void)sigaddset(&ignored, SIGXFSZ);
    (void)posix_spawnattr_setsigdefault(&attributes, &ignored);
    // A group of its own: Ctrl-C comes to this process alone, which ends the child.
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int status =
        posix_spawnp(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    (void)close(ends[1]);
    if (status == 0) return;
    (void)close(read_end_);
    throw InputError(
        "the program curl, which brings datasets, cannot be started: install it (apt-get install "
        "curl), or download by hand as docs/datasets.md says");
  }
  /// Where it has not been waited for, nobody wants what it brings any more.
  ~Child() {
    end();
    if (process_ > 0) (void)wait();
    (void)close(read_end_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// What it says until its end.
  std::string listen() {
    std::string text;
    std::array<char, 1024> part{};
    while (true) {
      const ssize_t count = read(read_end_, part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  void end() const noexcept {
    if (process_ > 0) (void)kill(process_, SIGTERM);
  }
  /// Its exit status; -1 where a signal ended it.
  int wait() noexcept {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  int read_end_ = -1;
};

/// Bytes that may not stand in an address are written as %XX.
std::string encoded(const std::string& address) {
  const bool is_file = address.starts_with("file:");
  std::string text;
  for (const char c : address) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_odd = byte <= 0x20 || byte >= 0x7f ||
                        std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos ||
                        (is_file && (c == '#' || c == '?'));
    text += is_odd ? fmt::format("%{:02X}", byte) : std::string(1, c);
  }
  return text;
}

/// Ways that an address may be followed: what begins with https ends with it.
const char* protocols_of(const std::string& address) {
  if (address.starts_with("https:")) return "=https";
  if (address.starts_with("file:")) return "=file";
  if (address.starts_with("http:")) return "=http,https";
  throw InputError(address +
                   ": an address that begins with https://, http:// or file:// would be "
                   "right");
}

}  // namespace

Download download(const std::string& address, const std::string& path) {
  // curl's own numbers: no such host, proxy, connection, TLS, time-out, certificate; of a file
  // that the server has not (22) and of file:// (37) the address may be wrong.
  static constexpr std::array<int, 9> kUnreachable = {5, 6, 7, 22, 28, 35, 37, 56, 60};
  const char* protocols = protocols_of(address);
  Child child({"curl",
               "--fail",
               "--location",
               "--max-redirs",
               "10",
               "--proto",
               protocols,
               "--proto-redir",
               protocols,
               "--silent",
               "--show-error",
               "--globoff",
               "--connect-timeout",
               "20",
               "--speed-limit",
               "1",
               "--speed-time",
               "120",
               "--output",
               path,
               "--",
               encoded(address)});
  std::string said;
  {
    // The child is waited for below, so that its number is nobody else's here.
    const std::stop_callback on_stop(stop_token(), [&child] { child.end(); });
    said = child.listen();
  }
  const int status = child.wait();
  check_stop();
  if (status == 0) return {};
  return {said.empty() ? fmt::format("curl ended with status {}", status) : said,
          std::find(kUnreachable.begin(), kUnreachable.end(), status) != kUnreachable.end()};
}

}  // namespace warren::learn
