// SPDX-License-Identifier: Apache-2.0
// One round of messages between ranks, each to and from the same ones, in which nobody knows
// beforehand what the others send. A message is a text of any length, and bodies that are sent from
// where they lie and received where the receiver wants them. The text's first part goes in a packet
// of fixed size, so that a short message takes one way over the link, and no size goes before it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "team/hosts.hpp"

namespace warren::team {

struct HostMessage {
  int to = 0;
  std::vector<std::byte> text;
  std::vector<std::span<const std::byte>> bodies;
};

/// Where the bodies of a message go, in their order: in memory that stays, also where the round
/// fails.
using ReadText =
    std::function<std::vector<std::span<std::byte>>(int from, std::span<const std::byte> text)>;

/// Collective among the ranks that get messages, each of which sends one to each other; returns
/// when all that is for this rank has come, and its own may be changed again. `memory` is kept
/// until the process ends where the round fails: what MPI still reads or writes.
void run_round(Hosts& hosts, std::vector<HostMessage> messages, const ReadText& read,
               const Hosts::Look& look, std::shared_ptr<void> memory = nullptr);

}  // namespace warren::team
