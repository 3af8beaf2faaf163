// SPDX-License-Identifier: Apache-2.0
// Measuring links by copies, as the copy engines and the CPU's cores do them.
#include "warren/team/links.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"

#include "team/links_cache.hpp"
#include "team/peer_access.hpp"

namespace warren::team {
namespace {

constexpr std::uint64_t kLargeBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kSmallBytes = 8;
constexpr int kLargeCopies = 4;
constexpr int kSmallCopies = 64;

std::shared_ptr<std::byte> take(const exec::Device& device, exec::MemoryKind kind,
                                std::uint64_t bytes = kLargeBytes) {
  auto* memory = static_cast<std::byte*>(exec::allocate(device, kind, bytes));
  return {memory, [device, kind, bytes](std::byte* pointer) {
            exec::deallocate(device, kind, pointer, bytes);
          }};
}

/// Seconds of one copy, the fastest of a few rounds of `copies` in a row.
template <class Copy>
double fastest(const exec::Stream& stream, int copies, Copy&& copy) {
  double best = 1e9;
  for (int round = 0; round < 4; ++round) {
    const double begin = now_seconds();
    for (int i = 0; i < copies; ++i) copy();
    stream.synchronize();
    best = std::min(best, (now_seconds() - begin) / copies);
  }
  return best;
}

Link measure(const exec::Stream& stream, std::byte* target, const std::byte* source) {
  const auto copy = [&](std::uint64_t bytes) {
    if (stream.device().is_cuda()) return exec::copy(stream, target, source, bytes);
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
    stream.device().pool().parallel_for(0, bytes, kPiece,
                                        [&](std::uint64_t begin, std::uint64_t end) {
                                          std::memcpy(target + begin, source + begin, end - begin);
                                        });
  };
  copy(kLargeBytes);  // Touches the pages, opens the path.
  const double large = fastest(stream, kLargeCopies, [&] { copy(kLargeBytes); });
  const double small = fastest(stream, kSmallCopies, [&] { copy(kSmallBytes); });
  return {static_cast<double>(kLargeBytes) / large * 1e-9, small * 1e6};
}

/// The figure of a copy from `source` to `target`, by the target's device, but between the host and
/// a GPU by the GPU.
Link measure_pair(const exec::Device& source, const exec::Device& target) {
  if (source.is_cuda() && target.is_cuda()) (void)enable_access(target, source);
  const auto from = take(source, exec::MemoryKind::device);
  const auto to = take(target, exec::MemoryKind::device);
  return measure(exec::Stream(target), to.get(), from.get());
}

Link measure_host(const exec::Device& device) {
  const auto from = take(device, exec::MemoryKind::pinned);
  const auto to = take(device, exec::MemoryKind::device);
  return measure(exec::Stream(device), to.get(), from.get());
}

/// CPU devices differ by their threads.
std::string name_of(const exec::Device& device) {
  return device.is_cuda() ? device.name() : fmt::format("cpu:{}", device.processors());
}

/// The links of `devices`, of which those in `known` are not measured but taken; what was measured
/// is added to `known`.
Links complete(const std::vector<exec::Device>& devices, KnownLinks& known) {
  const auto get = [&](const std::string& name, auto&& measure_it) {
    const auto place = known.find(name);
    if (place != known.end()) return place->second;
    return known[name] = measure_it();
  };
  std::vector<Link> table;
  std::vector<Link> host;
  for (const exec::Device& a : devices) {
    for (const exec::Device& b : devices) {
      table.push_back(get(name_of(a) + " " + name_of(b), [&] { return measure_pair(a, b); }));
    }
    host.push_back(get("host " + name_of(a), [&] { return measure_host(a); }));
  }
  return {devices, std::move(table), std::move(host)};
}

}  // namespace

Links::Links(std::vector<exec::Device> devices, std::vector<Link> table, std::vector<Link> host)
    : devices_(std::move(devices)), table_(std::move(table)), host_(std::move(host)) {
  require(table_.size() == devices_.size() * devices_.size() && host_.size() == devices_.size(),
          "links need an entry for every pair of devices, and one for each device");
}

Link Links::between(int a, int b) const {
  require(a >= 0 && a < size() && b >= 0 && b < size(),
          fmt::format("there is no link from device {} to {}: there are {} devices", a, b, size()));
  return table_[static_cast<std::size_t>(a) * devices_.size() + static_cast<std::size_t>(b)];
}

Link Links::host(int a) const {
  require(a >= 0 && a < size(),
          fmt::format("there is no device {}: there are {} devices", a, size()));
  return host_[static_cast<std::size_t>(a)];
}

std::vector<std::vector<int>> Links::workgroups() const {
  // Ranks that share a GPU do not set the mark: no link is as fast as its own memory.
  const auto are_one = [&](int a, int b) {
    const exec::Device& first = devices_[static_cast<std::size_t>(a)];
    return a == b || (first.is_cuda() && first == devices_[static_cast<std::size_t>(b)]);
  };
  double best = 0.0;
  for (int a = 0; a < size(); ++a) {
    for (int b = 0; b < size(); ++b) {
      if (!are_one(a, b)) best = std::max(best, between(a, b).gigabytes_per_second);
    }
  }
  const auto are_well_linked = [&](int a, int b) {
    return are_one(a, b) || std::min(between(a, b).gigabytes_per_second,
                                     between(b, a).gigabytes_per_second) >= best / 2.0;
  };
  std::vector<std::vector<int>> groups;
  for (int a = 0; a < size(); ++a) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& members) {
          return std::all_of(members.begin(), members.end(),
                             [&](int b) { return are_well_linked(a, b); });
        });
    if (group == groups.end()) {
      groups.push_back({a});
    } else {
      group->push_back(a);
    }
  }
  return groups;
}

Links measure_links(const std::vector<exec::Device>& devices) {
  KnownLinks nothing;
  return complete(devices, nothing);
}

const char* name_of(LinkKind kind) noexcept {
  switch (kind) {
    case LinkKind::own:
      return "own memory";
    case LinkKind::same_device:
      return "same device";
    case LinkKind::direct:
      return "direct";
    case LinkKind::host:
      return "through the host";
    case LinkKind::shared_memory:
      return "shared memory";
    case LinkKind::network:
      return "network";
    case LinkKind::unknown:
      break;
  }
  return "unknown";
}

namespace {

/// What a rank says of itself.
struct Place {
  bool is_cuda;
  int index;
  int threads;
  GpuIdentity gpu;
};

std::vector<Place> places_of(Team& team) {
  const exec::Device& mine = team.device();
  return team.all_gather(Place{mine.is_cuda(), mine.index(), mine.processors(),
                               mine.is_cuda() ? identity_of(mine) : GpuIdentity{}});
}

/// As this rank would have them; those of other processes may be numbered otherwise there.
std::vector<exec::Device> devices_of(const std::vector<Place>& places) {
  std::vector<exec::Device> devices;
  devices.reserve(places.size());
  for (const Place& place : places)
    devices.push_back(place.is_cuda ? exec::Device::cuda(place.index)
                                    : exec::Device::cpu(place.threads));
  return devices;
}

constexpr std::uint64_t kMessageBytes = std::uint64_t{16} << 20;

/// One copy to this rank, until it is there.
void fetch(const exec::Stream& stream, std::byte* to, const void* from, std::uint64_t bytes) {
  exec::copy(stream, to, from, bytes);
  stream.synchronize();
}

/// A message of `source` to `target` while all others say nothing, in seconds as all know them.
double message_seconds(Team& team, std::size_t source, std::size_t target, std::uint64_t bytes) {
  const std::vector<std::byte> said(static_cast<std::size_t>(team.rank()) == source ? bytes : 0);
  std::vector<std::span<const std::byte>> outgoing(static_cast<std::size_t>(team.size()));
  outgoing[target] = said;
  double fastest = 1e9;
  for (int round = 0; round < 3; ++round) {
    team.barrier();
    const double begin = now_seconds();
    (void)team.transport().exchange(outgoing);
    fastest = std::min(fastest, now_seconds() - begin);
  }
  return team.all_gather(fastest)[target];
}

}  // namespace

Links measure_links(Team& team) {
  const std::vector<Place> places = places_of(team);
  const auto ranks = places.size();
  const auto me = static_cast<std::size_t>(team.rank());
  const exec::Device& device = team.device();
  const exec::Stream stream(device);
  const auto taken = [&](exec::MemoryKind kind) { return take(device, kind, kMessageBytes); };
  std::vector<Link> host(ranks), mine(ranks);
  team.with_peer_memory([&] {
    const auto own = taken(exec::MemoryKind::device), other = taken(exec::MemoryKind::device);
    const auto pinned = taken(exec::MemoryKind::pinned);
    exec::fill_bytes(stream, own.get(), 1, kMessageBytes);
    std::memset(pinned.get(), 1, kMessageBytes);
    stream.synchronize();
    const std::vector<void*> reached = team.share(own.get());
    const std::vector<void*> all = team.pointers(own.get());
    const auto seconds_of = [&](const void* from, std::uint64_t bytes) {
      double fastest = 1e9;
      for (int round = 0; round < 4; ++round) {
        const double begin = now_seconds();
        fetch(stream, other.get(), from, bytes);
        fastest = std::min(fastest, now_seconds() - begin);
      }
      return fastest;
    };
    const auto link = [](double large, double small, LinkKind kind) {
      return Link{static_cast<double>(kMessageBytes) / large * 1e-9, small * 1e6, kind};
    };
    const auto kind_of = [&](std::size_t q) {
      if (q == me) return LinkKind::own;
      if (!device.is_cuda())
        return reached[q] != nullptr ? LinkKind::shared_memory : LinkKind::network;
      if (places[q].gpu == places[me].gpu) return LinkKind::same_device;
      return reached[q] != nullptr ? LinkKind::direct : LinkKind::host;
    };
    for (std::size_t target = 0; target < ranks; ++target) {
      for (std::size_t source = 0; source < ranks; ++source) {
        team.barrier();
        // All take the way of the rank that copies.
        const bool copies = team.all_gather(all[source] != nullptr ? 1 : 0)[target] != 0;
        if (!copies) {
          const double large = message_seconds(team, source, target, kMessageBytes);
          const double small = message_seconds(team, source, target, kSmallBytes);
          if (target == me) mine[source] = link(large, small, kind_of(source));
        } else if (target == me) {
          mine[source] = link(seconds_of(all[source], kMessageBytes),
                              seconds_of(all[source], kSmallBytes), kind_of(source));
        }
      }
      team.barrier();
      if (target == me)
        host[me] = link(seconds_of(pinned.get(), kMessageBytes),
                        seconds_of(pinned.get(), kSmallBytes), LinkKind::host);
    }
    team.barrier();  // Others read this rank's memory until here.
  });
  const auto rows = team.all_gather_v(std::span<const Link>(mine));
  const auto hosts = team.all_gather(host[me]);
  std::vector<Link> table;
  for (std::size_t source = 0; source < ranks; ++source) {
    for (std::size_t target = 0; target < ranks; ++target) table.push_back(rows[target][source]);
  }
  return {devices_of(places), std::move(table), hosts};
}

Links known_links(const std::vector<exec::Device>& devices, const std::string& path) {
  const std::string machine = machine_name();
  KnownLinks known = read_links(path, machine);
  const std::size_t before = known.size();
  Links links = complete(devices, known);
  if (known.size() > before) write_links(path, machine, known);
  return links;
}

Links known_links(Team& team, const std::string& path) {
  // Of other processes a GPU may have another number, and of other hosts a rank knows no device.
  if (team.spans_hosts() || (team.spans_processes() && team.device().is_cuda()))
    return measure_links(team);
  const std::vector<exec::Device> devices = devices_of(places_of(team));
  std::vector<Link> figures;
  if (team.rank() == 0) {
    const Links links = known_links(devices, path);
    for (int a = 0; a < links.size(); ++a) {
      for (int b = 0; b < links.size(); ++b) figures.push_back(links.between(a, b));
    }
    for (int a = 0; a < links.size(); ++a) figures.push_back(links.host(a));
  }
  const std::vector<Link> all = team.all_gather_v(std::span<const Link>(figures)).front();
  const auto pairs = static_cast<std::ptrdiff_t>(devices.size() * devices.size());
  return {devices, {all.begin(), all.begin() + pairs}, {all.begin() + pairs, all.end()}};
}

}  // namespace warren::team
