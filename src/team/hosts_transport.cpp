// SPDX-License-Identifier: Apache-2.0
#include "team/hosts_transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "team/host_mail.hpp"

namespace warren::team {
namespace {

/// What is shorter is copied into the message's text: a message of its own costs more.
constexpr std::uint64_t kInText = 16'384;

/// Says in a text where bytes go. They follow at once, where they are short.
struct Place {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

void append(std::vector<std::byte>& text, std::span<const std::byte> bytes) {
  text.insert(text.end(), bytes.begin(), bytes.end());
}

void add(HostMessage& message, const Place& place, const void* data) {
  const std::span bytes(static_cast<const std::byte*>(data), place.bytes);
  append(message.text, std::as_bytes(std::span(&place, 1)));
  if (place.bytes <= kInText) {
    append(message.text, bytes);
  } else {
    message.bodies.push_back(bytes);
  }
}

/// f(place) says where the bytes of each place go, and gets to know of what is in the text.
template <class F>
std::vector<std::span<std::byte>> read_places(std::span<const std::byte> text, F&& f) {
  std::vector<std::span<std::byte>> bodies;
  while (!text.empty()) {
    Place place;
    require(text.size() >= sizeof place, "a message between hosts is cut short");
    std::memcpy(&place, text.data(), sizeof place);
    text = text.subspan(sizeof place);
    std::byte* const to = f(place);
    if (place.bytes > kInText) {
      bodies.emplace_back(to, place.bytes);
      continue;
    }
    require(text.size() >= place.bytes, "a message between hosts is cut short");
    if (place.bytes > 0) std::memcpy(to, text.data(), place.bytes);
    text = text.subspan(place.bytes);
  }
  return bodies;
}

/// Ends the team of all hosts: `rank`, of theirs, has failed.
void end_all(ProcessControl& control, HostNotices& notices, int rank,
             const std::string& message) noexcept {
  std::string text;
  try {
    text = fmt::format("rank {} failed: {}", rank, message);
  } catch (const std::exception&) {
    // The team ends all the same.
  }
  (void)control.end(rank, text);
  notices.tend();
}

/// The ranks of one host as a team of their own.
class OfHostTransport final : public ProcessTransport {
 public:
  OfHostTransport(ProcessControl& control, const SharedSegment& segment, const Hosts& hosts,
                  HostNotices& notices, std::shared_ptr<DeferredFree> deferred_free)
      : ProcessTransport(control, segment, hosts.local_rank(), std::move(deferred_free)),
        rank_of_all_(hosts.rank()),
        notices_(notices) {}

  void abort(const std::string& message) noexcept override {
    end_all(control(), notices_, rank_of_all_, message);
  }

 private:
  const int rank_of_all_;
  HostNotices& notices_;
};

}  // namespace

HostsTransport::HostsTransport(ProcessControl& control, const SharedSegment& segment, Hosts& hosts,
                               HostNotices& notices, std::shared_ptr<DeferredFree> deferred_free)
    : ProcessTransport(control, segment, hosts.local_rank(), std::move(deferred_free)),
      hosts_(hosts),
      notices_(notices) {}

template <class F>
auto HostsTransport::or_end(F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    abort(error.what());
    throw;
  }
}

void HostsTransport::abort(const std::string& message) noexcept {
  end_all(control(), notices_, rank(), message);
}

std::unique_ptr<Transport> HostsTransport::of_host() {
  return std::make_unique<OfHostTransport>(control(), segment(), hosts_, notices_, deferred_free());
}

void HostsTransport::barrier() {
  or_end([&] { hosts_.barrier(look()); });
}

void HostsTransport::sum(std::span<std::uint64_t> values) {
  or_end([&] {
    control().check();
    hosts_.sum(values, look());
  });
}

std::vector<std::vector<std::byte>> HostsTransport::exchange(
    const std::vector<std::span<const std::byte>>& outgoing) {
  return or_end([&] {
    control().check();
    // What MPI reads must outlive a failure of this rank: long parts are copied.
    struct Memory {
      std::vector<std::vector<std::byte>> outgoing, incoming;
    };
    const auto memory = std::make_shared<Memory>();
    memory->incoming.resize(outgoing.size());
    std::vector<HostMessage> messages;
    for (std::size_t q = 0; q < outgoing.size(); ++q) {
      const auto& part = outgoing[q];
      const int to = static_cast<int>(q);
      if (to == rank()) {
        memory->incoming[q].assign(part.begin(), part.end());
        continue;
      }
      HostMessage& message = messages.emplace_back(HostMessage{to, {}, {}});
      const std::byte* data = part.data();
      if (part.size() > kInText) {
        const bool is_last_again = !memory->outgoing.empty() && q > 0 &&
                                   outgoing[q - 1].data() == data &&
                                   outgoing[q - 1].size() == part.size();
        if (!is_last_again) memory->outgoing.emplace_back(part.begin(), part.end());
        data = memory->outgoing.back().data();
      }
      add(message, {0, part.size()}, data);
      if (!hosts_.is_here(to)) hosts_.count_bytes(part.size());
    }
    run_round(
        hosts_, std::move(messages),
        [&](int from, std::span<const std::byte> text) {
          return read_places(text, [&](const Place& place) {
            auto& incoming = memory->incoming[static_cast<std::size_t>(from)];
            incoming.resize(place.bytes);
            return incoming.data();
          });
        },
        look(), memory);
    return std::move(memory->incoming);
  });
}

std::vector<void*> HostsTransport::addresses(void* pointer) {
  std::vector<std::byte> mine(sizeof pointer);
  std::memcpy(mine.data(), &pointer, sizeof pointer);
  const auto all =
      exchange(std::vector(static_cast<std::size_t>(size()), std::span<const std::byte>(mine)));
  std::vector<void*> table;
  for (int q = 0; q < size(); ++q) {
    void* shown = nullptr;
    std::memcpy(&shown, all[static_cast<std::size_t>(q)].data(), sizeof shown);
    table.push_back(q == rank() || segment().is_of(q, shown) ? shown : nullptr);
  }
  return table;
}

Windows HostsTransport::share_windows(const Window& window) {
  return {addresses(window.data), nullptr};
}

std::vector<void*> HostsTransport::share(void* pointer) {
  std::vector<void*> table = addresses(pointer);
  for (int q = 0; q < size(); ++q) {
    if (!hosts_.is_here(q)) table[static_cast<std::size_t>(q)] = nullptr;
  }
  return table;
}

void HostsTransport::publish(std::span<const Shown> shown, bool /*is_later*/) {
  or_end([&] {
    control().check();
    std::vector<HostMessage> messages;
    std::vector<std::size_t> message_of(static_cast<std::size_t>(size()));
    for (int q = 0; q < size(); ++q) {
      if (hosts_.is_here(q)) continue;
      message_of[static_cast<std::size_t>(q)] = messages.size();
      messages.push_back({q, {}, {}});
    }
    const auto put = [&](int to, const Shown& one) {
      const auto address = reinterpret_cast<std::uintptr_t>(one.data);
      add(messages[message_of[static_cast<std::size_t>(to)]], {address, one.bytes}, one.data);
      hosts_.count_bytes(one.bytes);
    };
    for (const Shown& one : shown) {
      if (one.bytes == 0) continue;
      require(segment().has(one.data, one.bytes),
              "what is published must lie in memory of a CPU device (memory::Buffer)");
      if (one.to >= 0) {
        if (!hosts_.is_here(one.to)) put(one.to, one);
        continue;
      }
      // Each host gets it once. Its ranks take turns in receiving.
      for (int host = 0; host < hosts_.count(); ++host) {
        const auto& ranks = hosts_.ranks_of(host);
        if (host != hosts_.host()) put(ranks[static_cast<std::size_t>(rank()) % ranks.size()], one);
      }
    }
    run_round(
        hosts_, std::move(messages),
        [&](int, std::span<const std::byte> text) {
          return read_places(text, [&](const Place& place) {
            auto* const to = reinterpret_cast<std::byte*>(place.address);
            require(segment().has(to, place.bytes), "a message between hosts is for no window");
            return to;
          });
        },
        look());
    // What is for one rank of a host another one may have received.
    ProcessTransport::barrier();
  });
}

}  // namespace warren::team
