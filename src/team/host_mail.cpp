// SPDX-License-Identifier: Apache-2.0
#include "team/host_mail.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace warren::team {
namespace {

struct Packet {
  static constexpr std::size_t kText = 16'376;
  std::uint64_t bytes = 0;  ///< Of the whole text.
  std::array<std::byte, kText> text;

  [[nodiscard]] std::size_t own() const { return std::min<std::size_t>(bytes, kText); }
  /// Only what is filled is sent.
  [[nodiscard]] std::span<const std::byte> filled() const {
    return std::as_bytes(std::span(this, 1)).first(sizeof bytes + own());
  }
};

/// Both ways between this rank and another one.
struct Pair {
  enum class Step { packet, text, bodies, done };
  HostMessage message;
  Packet out, in;
  std::vector<std::byte> text;  ///< Received.
  Step step = Step::packet;
  std::vector<MpiRequest> sent, awaited;
};

struct Round {
  std::vector<Pair> pairs;
  std::shared_ptr<void> memory;
};

void begin(Hosts& hosts, Pair& pair) {
  const HostMessage& message = pair.message;
  hosts.receive(std::as_writable_bytes(std::span(&pair.in, 1)), message.to, pair.awaited);
  pair.out.bytes = message.text.size();
  std::copy_n(message.text.begin(), pair.out.own(), pair.out.text.begin());
  hosts.send(pair.out.filled(), message.to, pair.sent);
  hosts.send(std::span(message.text).subspan(pair.out.own()), message.to, pair.sent);
  for (const auto& body : message.bodies) hosts.send(body, message.to, pair.sent);
}

/// True: nothing is left to be received.
bool go_on(Hosts& hosts, Pair& pair, const ReadText& read) {
  while (pair.step != Pair::Step::done && hosts.are_done(pair.awaited)) {
    const int from = pair.message.to;
    if (pair.step == Pair::Step::packet) {
      const auto own = pair.in.text.begin() + static_cast<std::ptrdiff_t>(pair.in.own());
      pair.text.assign(pair.in.text.begin(), own);
      pair.text.resize(pair.in.bytes);
      hosts.receive(std::span(pair.text).subspan(pair.in.own()), from, pair.awaited);
      pair.step = Pair::Step::text;
    } else if (pair.step == Pair::Step::text) {
      for (const auto& body : read(from, pair.text)) hosts.receive(body, from, pair.awaited);
      pair.step = Pair::Step::bodies;
    } else {
      pair.step = Pair::Step::done;
    }
  }
  return pair.step == Pair::Step::done;
}

}  // namespace

void run_round(Hosts& hosts, std::vector<HostMessage> messages, const ReadText& read,
               const Hosts::Look& look, std::shared_ptr<void> memory) {
  const auto round = std::make_shared<Round>();
  round->memory = std::move(memory);
  round->pairs.resize(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i)
    round->pairs[i].message = std::move(messages[i]);
  try {
    for (Pair& pair : round->pairs) begin(hosts, pair);
    hosts.poll(
        [&] {
          bool is_done = true;
          for (Pair& pair : round->pairs) {
            const bool has_come = go_on(hosts, pair, read);
            is_done = hosts.are_done(pair.sent) && has_come && is_done;
          }
          return is_done;
        },
        look);
  } catch (...) {
    hosts.keep(round);
    throw;
  }
}

}  // namespace warren::team
