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

std::shared_ptr<std::byte> take(const exec::Device& device, exec::MemoryKind kind) {
  auto* memory = static_cast<std::byte*>(exec::allocate(device, kind, kLargeBytes));
  return {memory, [device, kind](std::byte* pointer) {
            exec::deallocate(device, kind, pointer, kLargeBytes);
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

Links known_links(const std::vector<exec::Device>& devices, const std::string& path) {
  const std::string machine = machine_name();
  KnownLinks known = read_links(path, machine);
  const std::size_t before = known.size();
  Links links = complete(devices, known);
  if (known.size() > before) write_links(path, machine, known);
  return links;
}

Links known_links(Team& team, const std::string& path) {
  struct Place {
    bool is_cuda;
    int index;
    int threads;
  };
  const exec::Device& mine = team.device();
  std::vector<exec::Device> devices;
  for (const Place& place :
       team.all_gather(Place{mine.is_cuda(), mine.index(), mine.processors()})) {
    devices.push_back(place.is_cuda ? exec::Device::cuda(place.index)
                                    : exec::Device::cpu(place.threads));
  }
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
