// SPDX-License-Identifier: Apache-2.0
// The meeting's messages, each one packet of a SOCK_SEQPACKET socket:
//
//   others -> rank 0   Hello, with a descriptor of the process
//   rank 0 -> others   Offer, with the shared object and all ranks' descriptors; or Refusal
//   others -> rank 0   Answer: whether the offered addresses are free
//   rank 0 -> others   Go, or the next Offer (without descriptors), or Refusal
#include "team/process_meeting.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "warren/core/types.hpp"

#include "team/fixed_text.hpp"

namespace warren::team {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t kProtocol = 1;

struct Hello {
  std::uint64_t protocol = kProtocol;
  std::uint64_t job = 0;
  std::int32_t rank = 0;
  std::int32_t size = 0;
  Member member;
  StartedAs started;
};
enum class Step : std::uint32_t { offer, go, refusal };
struct FromFirst {
  Step step = Step::refusal;
  std::uint32_t has_descriptors = 0;  ///< One of the object, and two masks' worth of processes.
  std::uint64_t processes = 0;        ///< Bit q: rank q's descriptor is there.
  SegmentLayout layout;
  FixedText<1500> why;
};
static_assert(kMaxRanks <= 64);
struct Answer {
  std::uint32_t is_mapped = 0;
};

/// FNV-1a.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

[[noreturn]] void throw_system(const char* call) {
  throw Error(
      fmt::format("the processes of this run cannot meet ({}: {})", call, std::strerror(errno)));
}

/// The address that all ranks of a job know.
std::pair<sockaddr_un, socklen_t> address_of(const Launch& launch) {
  const std::string name = fmt::format("warren/{}/{:016x}", geteuid(), hash_of(launch.job));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A first byte of 0 makes the name an abstract one.
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

Descriptor new_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) throw_system("socket");
  return socket;
}

/// What waits for a packet on this socket waits no longer than this.
void set_patience(const Descriptor& socket, milliseconds patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timeval longest{seconds.count(), (patience - seconds).count() * 1000};
  (void)setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  (void)setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

/// Of an abstract name anybody may make use.
bool is_own_user(const Descriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid();
}

constexpr std::size_t kMostDescriptors = kMaxRanks + 1;
using ControlBuffer = std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))>;

/// False: the other end has gone.
template <class Message>
bool send_message(const Descriptor& socket, const Message& message,
                  const std::vector<int>& descriptors = {}) {
  static_assert(std::is_trivially_copyable_v<Message>);
  iovec part{const_cast<Message*>(&message), sizeof message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  if (!descriptors.empty()) {
    const std::size_t bytes = descriptors.size() * sizeof(int);
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket.number(), &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

/// False: the other end has gone, or says nothing in time, or something else.
template <class Message>
bool receive_message(const Descriptor& socket, Message& message,
                     std::vector<Descriptor>* descriptors = nullptr) {
  iovec part{&message, sizeof message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t received = -1;
  do {
    received = recvmsg(socket.number(), &header, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return false;
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(one) + i * sizeof(int), sizeof number);
      Descriptor taken(number);
      if (descriptors != nullptr) descriptors->push_back(std::move(taken));
    }
  }
  return received == static_cast<ssize_t>(sizeof message);
}

/// Of this process; none on systems without.
Descriptor own_process() {
#if defined(SYS_pidfd_open)
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
#else
  return {};
#endif
}

Hello hello_of(const Launch& launch, const MeetingRules& rules) {
  Hello hello;
  hello.job = hash_of(launch.job, 1);
  hello.rank = launch.rank;
  hello.size = launch.size;
  hello.member.process = getpid();
  CPU_ZERO(&hello.member.cpus);
  (void)sched_getaffinity(0, sizeof hello.member.cpus, &hello.member.cpus);
  hello.started = {hash_of(rules.command), FixedText<128>(rules.program),
                   FixedText<400>(rules.command)};
  return hello;
}

/// Why `other` is no rank of a team with `mine`, which is rank 0's; empty where it is one.
std::string difference(const MeetingRules& rules, const Hello& mine, const Hello& other) {
  const bool is_rank = other.size == mine.size && other.rank > 0 && other.rank < mine.size;
  if (!is_rank && other.started.program.get() == mine.started.program.get())
    return fmt::format(
        "a process says that it is rank {} of {}, and rank 0 was started as one of "
        "{}: start all ranks by one launcher",
        other.rank, other.size, mine.size);
  return difference(rules.name(0), mine.started, rules.name(other.rank), other.started);
}

/// Rank 0's side.
class Host {
 public:
  Host(const Launch& launch, const MeetingRules& rules)
      : launch_(launch),
        rules_(rules),
        mine_(hello_of(launch, rules)),
        end_(Clock::now() + rules.patience) {
    const auto size = static_cast<std::size_t>(launch.size);
    meeting_.sockets.resize(size);
    meeting_.processes.resize(size);
    meeting_.processes[0] = own_process();
    meeting_.members.resize(size);
    meeting_.members[0] = mine_.member;
  }

  Meeting meet() {
    listen();
    while (missing() > 0 && wait()) accept();
    if (!refusal_ && missing() > 0) refuse(absence());
    if (rules_.hosts != nullptr) agree();
    if (refusal_) tell_refusal();
    listener_.reset();
    offer();
    return std::move(meeting_);
  }

 private:
  /// Ranks that have not come.
  [[nodiscard]] int missing() const {
    return static_cast<int>(std::count_if(meeting_.sockets.begin() + 1, meeting_.sockets.end(),
                                          [](const Descriptor& one) { return !one; })) -
           refused_;
  }
  [[nodiscard]] std::string absence() const {
    std::vector<int> absent;
    for (int rank = 1; rank < launch_.size; ++rank) {
      if (!meeting_.sockets[static_cast<std::size_t>(rank)]) absent.push_back(rules_.name(rank));
    }
    return fmt::format(
        "of {} ranks ({}), rank{} {} did not come within {} s: all must run on this "
        "host, in one network namespace",
        rules_.ranks, launch_.launcher, absent.size() == 1 ? "" : "s", fmt::join(absent, ", "),
        rules_.patience.count() / 1000);
  }
  /// The first reason counts. The ranks that are still to come are told as well, if they come soon.
  void refuse(std::string why) {
    if (refusal_) return;
    refusal_ = std::move(why);
    end_ = std::min(end_, Clock::now() + milliseconds(1000));
  }

  void listen() {
    listener_ = new_socket();
    const auto [address, size] = address_of(launch_);
    if (bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
      require(errno != EADDRINUSE,
              fmt::format("another process is rank 0 of the same job ({}): start ranks by one "
                          "launcher",
                          launch_.launcher));
      throw_system("bind");
    }
    if (::listen(listener_.number(), launch_.size) != 0) throw_system("listen");
  }

  /// For the next rank; false: no more will come.
  bool wait() {
    while (Clock::now() < end_) {
      std::vector<pollfd> files{{listener_.number(), POLLIN, 0}};
      std::vector<int> ranks{0};
      for (int rank = 1; rank < launch_.size && !refusal_; ++rank) {
        const Descriptor& socket = meeting_.sockets[static_cast<std::size_t>(rank)];
        if (!socket) continue;
        files.push_back({socket.number(), POLLIN, 0});
        ranks.push_back(rank);
      }
      const auto left = std::chrono::duration_cast<milliseconds>(end_ - Clock::now());
      if (poll(files.data(), files.size(),
               static_cast<int>(std::max<std::int64_t>(left.count(), 1))) <= 0)
        continue;
      for (std::size_t i = 1; i < files.size(); ++i) {
        if (files[i].revents != 0)
          refuse(fmt::format("rank {} of {} ended before all ranks had met", rules_.name(ranks[i]),
                             rules_.ranks));
      }
      if (files[0].revents != 0) return true;
    }
    return false;
  }

  void accept() {
    Descriptor socket(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket || !is_own_user(socket)) return;
    set_patience(socket, milliseconds(5000));
    Hello hello;
    std::vector<Descriptor> process;
    if (!receive_message(socket, hello, &process))
      return refuse(fmt::format("one of {} ranks ended before all ranks had met", rules_.ranks));
    if (hello.protocol != kProtocol || hello.job != mine_.job) return;
    if (std::string why = difference(rules_, mine_, hello); !why.empty()) {
      refuse(std::move(why));
    } else if (meeting_.sockets[static_cast<std::size_t>(hello.rank)]) {
      refuse(
          fmt::format("two processes say that they are rank {} of {}: start ranks by one "
                      "launcher",
                      rules_.name(hello.rank), rules_.ranks));
    } else {
      const auto rank = static_cast<std::size_t>(hello.rank);
      meeting_.sockets[rank] = std::move(socket);
      meeting_.members[rank] = hello.member;
      if (!process.empty()) meeting_.processes[rank] = std::move(process.front());
      return;
    }
    ++refused_;
    others_.push_back(std::move(socket));
  }

  [[noreturn]] void tell_refusal() {
    FromFirst message;
    message.step = Step::refusal;
    message.why = FixedText<1500>(*refusal_);
    for (const Descriptor& socket : others_) (void)send_message(socket, message);
    for (const Descriptor& socket : meeting_.sockets) {
      if (socket) (void)send_message(socket, message);
    }
    // Of several hosts the first one's first rank tells the user.
    if (rules_.hosts != nullptr && rules_.hosts->host() > 0) throw RefusedError(*refusal_);
    throw UsageError(*refusal_);
  }

  /// Whether the ranks of all hosts are a team.
  void agree() {
    const std::string why =
        rules_.hosts->refusal(mine_.started, refusal_.value_or(""), rules_.look);
    if (!why.empty()) refusal_ = why;
  }
  /// The least of all hosts' values.
  [[nodiscard]] std::uint64_t least(std::uint64_t value) const {
    return rules_.hosts == nullptr ? value : rules_.hosts->least(value, rules_.look);
  }

  /// Layouts, until one is free in all ranks.
  void offer() {
    Descriptor object = make_segment_object();
    bool is_first = true;
    const SegmentNeeds needs{rules_.control_bytes, rules_.ranks, least(memory_of_host()),
                             rules_.hosts == nullptr};
    for (SegmentLayout layout : segment_layouts(needs)) {
      // A kernel's place is taken only where no fixed one is free.
      set_segment_size(object, layout.bytes());
      const bool is_free = map_segment(object, layout);
      if (!is_free && rules_.hosts == nullptr) continue;
      const bool all_do = is_free && all_map(layout, object, is_first);
      if (least(all_do ? 1 : 0) == 1) {
        FromFirst go;
        go.step = Step::go;
        tell_all(go);
        meeting_.segment = SharedSegment(std::move(object), layout);
        return;
      }
      if (!is_free) continue;
      is_first = false;
      unmap_segment(layout);
    }
    refuse(
        "no addresses are free in all ranks for the memory that they share; a limit on the "
        "address space (ulimit -v) takes them away");
    tell_refusal();
  }
  bool all_map(const SegmentLayout& layout, const Descriptor& object, bool is_first) {
    FromFirst message;
    message.step = Step::offer;
    message.layout = layout;
    std::vector<int> descriptors;
    if (is_first) {
      message.has_descriptors = 1;
      descriptors.push_back(object.number());
      for (std::size_t rank = 0; rank < meeting_.processes.size(); ++rank) {
        if (!meeting_.processes[rank]) continue;
        message.processes |= std::uint64_t{1} << rank;
        descriptors.push_back(meeting_.processes[rank].number());
      }
    }
    tell_all(message, descriptors);
    bool are_mapped = true;
    for (std::size_t rank = 1; rank < meeting_.sockets.size(); ++rank) {
      Answer answer;
      if (!receive_message(meeting_.sockets[rank], answer)) lost(rank);
      are_mapped = are_mapped && answer.is_mapped != 0;
    }
    return are_mapped;
  }
  void tell_all(const FromFirst& message, const std::vector<int>& descriptors = {}) {
    for (std::size_t rank = 1; rank < meeting_.sockets.size(); ++rank) {
      if (!send_message(meeting_.sockets[rank], message, descriptors)) lost(rank);
    }
  }
  [[noreturn]] void lost(std::size_t rank) {
    refuse(fmt::format("rank {} of {} ended before all ranks had met",
                       rules_.name(static_cast<int>(rank)), rules_.ranks));
    tell_refusal();
  }

  const Launch& launch_;
  const MeetingRules& rules_;
  const Hello mine_;
  Clock::time_point end_;
  Descriptor listener_;
  std::vector<Descriptor> others_;  ///< Of processes that are refused.
  int refused_ = 0;
  std::optional<std::string> refusal_;
  Meeting meeting_;
};

}  // namespace

void throw_lost_first(const Launch& launch, const MeetingRules& rules) {
  const std::string why =
      fmt::format("rank {} of {} ended before all ranks had met", rules.name(0), rules.ranks);
  if (launch.rank > 1) throw RefusedError(why);
  throw Error(why);
}

namespace {

/// To rank 0, which may not listen yet.
Descriptor connect_to_first(const Launch& launch, const MeetingRules& rules) {
  constexpr milliseconds kPause{5};
  const auto end = Clock::now() + rules.patience;
  const auto [address, size] = address_of(launch);
  for (;;) {
    Descriptor socket = new_socket();
    if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
      require(is_own_user(socket),
              "another user's process has the name by which the ranks of this job would meet");
      return socket;
    }
    const bool may_come = errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR;
    if (!may_come) throw_system("connect");
    require(
        Clock::now() < end,
        fmt::format("rank {} of {} ({}) did not come within {} s, and rank {} waits for it: all "
                    "must run on this host, in one network namespace",
                    rules.name(0), rules.ranks, launch.launcher, rules.patience.count() / 1000,
                    rules.name(launch.rank)));
    std::this_thread::sleep_for(kPause);
  }
}

/// The other ranks' side.
Meeting join(const Launch& launch, const MeetingRules& rules) {
  Descriptor first = connect_to_first(launch, rules);
  set_patience(first, rules.patience + milliseconds(10'000));
  const Descriptor self = own_process();
  std::vector<int> own;
  if (self) own.push_back(self.number());
  (void)send_message(first, hello_of(launch, rules), own);
  Meeting meeting;
  meeting.sockets.resize(static_cast<std::size_t>(launch.size));
  meeting.processes.resize(static_cast<std::size_t>(launch.size));
  Descriptor object;
  SegmentLayout layout;
  bool is_mapped = false;
  for (;;) {
    FromFirst message;
    std::vector<Descriptor> descriptors;
    if (!receive_message(first, message, &descriptors)) throw_lost_first(launch, rules);
    if (message.step == Step::refusal) throw RefusedError(message.why.get());
    if (message.step == Step::go) break;
    if (message.has_descriptors != 0 && !descriptors.empty()) {
      object = std::move(descriptors.front());
      std::size_t next = 1;
      for (std::size_t rank = 0; rank < meeting.processes.size(); ++rank) {
        if ((message.processes >> rank & 1u) != 0 && next < descriptors.size())
          meeting.processes[rank] = std::move(descriptors[next++]);
      }
    }
    if (is_mapped) unmap_segment(layout);
    layout = message.layout;
    is_mapped = map_segment(object, layout);
    (void)send_message(first, Answer{is_mapped ? 1u : 0u});
  }
  meeting.segment = SharedSegment(std::move(object), layout);
  meeting.sockets[0] = std::move(first);
  return meeting;
}

/// Where a process has no descriptor of its own, its socket stands for it.
void watch_sockets(Meeting& meeting) {
  for (std::size_t rank = 0; rank < meeting.processes.size(); ++rank) {
    if (meeting.processes[rank] || !meeting.sockets[rank]) continue;
    meeting.processes[rank] = Descriptor(fcntl(meeting.sockets[rank].number(), F_DUPFD_CLOEXEC, 3));
  }
}

}  // namespace

Meeting meet(const Launch& launch, const MeetingRules& rules) {
  Meeting meeting = launch.rank == 0 ? Host(launch, rules).meet() : join(launch, rules);
  watch_sockets(meeting);
  return meeting;
}

}  // namespace warren::team
