// SPDX-License-Identifier: Apache-2.0
#include "team/hosts.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/team/processes.hpp"

#include "team/fixed_text.hpp"
#include "team/mpi_library.hpp"

namespace warren::team {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// MPI counts in int, and libraries differ in what they do with more.
constexpr std::size_t kPiece = std::size_t{1} << 30;

/// Between two looks: there are often more ranks than processors.
void pause(int turn) {
  constexpr int kYields = 200;
  if (turn < kYields) return std::this_thread::yield();
  std::this_thread::sleep_for(microseconds(turn < 10 * kYields ? 20 : 100));
}

/// f(piece), data and bytes, of one after the other.
template <class Byte, class F>
void for_pieces(std::span<Byte> data, F&& f) {
  while (!data.empty()) {
    const auto piece = data.first(std::min(data.size(), kPiece));
    data = data.subspan(piece.size());
    f(piece.data(), static_cast<int>(piece.size()));
  }
}

/// Where it fails, the host's ranks all do alike: one of them says so.
const MpiFunctions& library_of(const Launch& launch) {
  try {
    return mpi_library();
  } catch (const UsageError& error) {
    if (launch.is_first_here) throw;
    throw RefusedError(error.what());
  }
}

/// What the first rank of a host tells.
struct OfHost {
  StartedAs started;
  FixedText<1500> refusal;
};

}  // namespace

Hosts::Hosts(const Launch& launch) : functions_(library_of(launch)) {
  int is_enough = 0;
  check(functions_.start(&rank_, &size_, &is_enough));
  require(rank_ == launch.rank && size_ == launch.size,
          fmt::format("{} says that this is rank {} of {}, and {} that it is rank {} of {}: start "
                      "the ranks by the mpirun of that MPI, or by srun --mpi with what it knows",
                      library(), rank_, size_, launch.launcher, launch.rank, launch.size));
  require(is_enough != 0,
          fmt::format("{} lets one thread call it (MPI_THREAD_SERIALIZED is needed): take an MPI "
                      "that is built for threads, and let nobody start it before",
                      library()));
  find_hosts(launch);
}

void Hosts::find_hosts(const Launch& launch) {
  int first = 0;
  check(functions_.split(launch.test_hosts > 0 ? rank_ % launch.test_hosts : -1, &first));
  std::vector<std::uint64_t> firsts(static_cast<std::size_t>(size_));
  firsts[static_cast<std::size_t>(rank_)] = static_cast<std::uint64_t>(first);
  sum(firsts, [] {});
  host_of_.resize(firsts.size());
  for (std::size_t rank = 0; rank < firsts.size(); ++rank) {
    if (firsts[rank] == rank) ranks_.emplace_back();
    host_of_[rank] = firsts[rank] == rank ? count() - 1 : host_of_[firsts[rank]];
    if (static_cast<int>(rank) == rank_)
      local_rank_ = static_cast<int>(ranks_[static_cast<std::size_t>(host_of_[rank])].size());
    ranks_[static_cast<std::size_t>(host_of_[rank])].push_back(static_cast<int>(rank));
  }
}

void Hosts::check(MpiCode code) const {
  if (code == 0) return;
  std::array<char, 256> text{};
  functions_.describe(code, text.data(), static_cast<int>(text.size()));
  throw Error(fmt::format("{} failed between hosts: {}", library(), text.data()));
}

void Hosts::poll(const std::function<bool()>& step, const Look& look) {
  for (int turn = 0; !step(); ++turn) {
    look();
    pause(turn);
  }
}

bool Hosts::are_done(std::vector<MpiRequest>& requests) {
  const std::scoped_lock lock(mutex_);
  while (!requests.empty()) {
    int is_done = 0;
    check(functions_.test(&requests.back(), &is_done));
    if (is_done == 0) return false;
    requests.pop_back();
  }
  return true;
}

void Hosts::barrier(const Look& look) {
  std::vector<MpiRequest> requests(1);
  {
    const std::scoped_lock lock(mutex_);
    check(functions_.barrier(requests.data()));
  }
  poll([&] { return are_done(requests); }, look);
}

void Hosts::sum(std::span<std::uint64_t> values, const Look& look) {
  struct Sum {
    std::vector<std::uint64_t> values, sums;
  };
  const auto memory = std::make_shared<Sum>(
      Sum{{values.begin(), values.end()}, std::vector<std::uint64_t>(values.size())});
  std::vector<MpiRequest> requests(1);
  {
    const std::scoped_lock lock(mutex_);
    check(functions_.sum(memory->values.data(), memory->sums.data(),
                         static_cast<int>(values.size()), requests.data()));
  }
  try {
    poll([&] { return are_done(requests); }, look);
  } catch (...) {
    keep(memory);
    throw;
  }
  std::ranges::copy(memory->sums, values.begin());
}

void Hosts::send(std::span<const std::byte> data, int to, std::vector<MpiRequest>& requests) {
  const std::scoped_lock lock(mutex_);
  for_pieces(data, [&](const std::byte* piece, int bytes) {
    check(functions_.send(MpiChannel::data, piece, bytes, to, &requests.emplace_back()));
  });
}

void Hosts::receive(std::span<std::byte> data, int from, std::vector<MpiRequest>& requests) {
  const std::scoped_lock lock(mutex_);
  for_pieces(data, [&](std::byte* piece, int bytes) {
    check(functions_.receive(MpiChannel::data, piece, bytes, from, &requests.emplace_back()));
  });
}

void Hosts::notify(std::span<const std::byte> bytes, int to) noexcept {
  // A thread that ends the team may be the one that MPI has failed in.
  const std::unique_lock lock(mutex_, milliseconds(100));
  if (!lock.owns_lock()) return;
  MpiRequest request;
  int is_done = 0;
  if (functions_.send(MpiChannel::control, bytes.data(), static_cast<int>(bytes.size()), to,
                      &request) == 0)
    (void)functions_.test(&request, &is_done);
}

int Hosts::hear(std::span<std::byte> bytes) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return -1;
  int from = -1;
  if (functions_.probe(MpiChannel::control, &from) != 0 || from < 0) return -1;
  MpiRequest request;
  if (functions_.receive(MpiChannel::control, bytes.data(), static_cast<int>(bytes.size()), from,
                         &request) != 0)
    return -1;
  // It has come, and is short.
  for (int is_done = 0; is_done == 0;)
    if (functions_.test(&request, &is_done) != 0) return -1;
  return from;
}

void Hosts::keep(std::shared_ptr<void> memory) {
  const std::scoped_lock lock(mutex_);
  kept_.push_back(std::move(memory));
}

template <class Said, class Answer, class Decide>
Answer Hosts::ask_first(const Said& said, const Look& look, Decide&& decide) {
  struct Memory {
    std::vector<Said> said;
    std::vector<Answer> answers;
  };
  const auto hosts = static_cast<std::size_t>(count());
  const auto memory =
      std::make_shared<Memory>(Memory{std::vector<Said>(hosts, said), std::vector<Answer>(hosts)});
  std::vector<MpiRequest> requests;
  const auto bytes_of = [](auto& one) { return std::as_writable_bytes(std::span(&one, 1)); };
  const auto all_done = [&] { return are_done(requests); };
  try {
    if (host() == 0) {
      for (std::size_t h = 1; h < hosts; ++h)
        receive(bytes_of(memory->said[h]), ranks_[h].front(), requests);
      poll(all_done, look);
      memory->answers.assign(hosts, decide(memory->said));
      for (std::size_t h = 1; h < hosts; ++h)
        send(bytes_of(memory->answers[h]), ranks_[h].front(), requests);
    } else {
      send(bytes_of(memory->said[0]), ranks_[0].front(), requests);
      receive(bytes_of(memory->answers[0]), ranks_[0].front(), requests);
    }
    poll(all_done, look);
  } catch (...) {
    keep(memory);
    throw;
  }
  return memory->answers.front();
}

std::string Hosts::refusal(const StartedAs& started, const std::string& of_host, const Look& look) {
  const OfHost mine{started, FixedText<1500>(of_host)};
  const auto decide = [&](const std::vector<OfHost>& all) {
    std::string why = of_host;
    for (std::size_t h = 1; h < all.size() && why.empty(); ++h) {
      why = all[h].refusal.get();
      if (why.empty()) why = difference(0, started, ranks_[h].front(), all[h].started);
    }
    return FixedText<1500>(why);
  };
  return ask_first<OfHost, FixedText<1500>>(mine, look, decide).get();
}

std::uint64_t Hosts::least(std::uint64_t value, const Look& look) {
  return ask_first<std::uint64_t, std::uint64_t>(
      value, look, [](const auto& values) { return *std::ranges::min_element(values); });
}

void Hosts::finish() {
  const std::scoped_lock lock(mutex_);
  check(functions_.finish());
}

}  // namespace warren::team
