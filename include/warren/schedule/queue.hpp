// SPDX-License-Identifier: Apache-2.0
// The distributed queue: on every rank a local ring (several, where tasks have priorities), a
// receive ring for each peer, and memory for tasks that find a ring full.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "warren/exec/algorithms.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/schedule/context.hpp"
#include "warren/team/links.hpp"
#include "warren/team/team.hpp"

namespace warren::schedule {

/// Which messages the aggregator gathers.
enum class Gather {
  measured,  ///< Those over links whose small messages are slow, by team::known_links().
  never,
  always
};

struct QueueOptions {
  /// Tasks in a local ring and in each receive ring, past which pushes are spilled. At least 1. The
  /// memory of a ring is more: see TaskQueue.
  std::uint64_t local_capacity = 1 << 16;
  std::uint64_t receive_capacity = 1 << 16;
  /// Spilled tasks past which the run pauses and the host doubles the memory. At least 1.
  std::uint64_t spill_capacity = 1 << 12;
  /// Most tasks that running one task pushes: sizes the memory behind the spill's capacity. More
  /// may find room; where they do not, the run ends with a UsageError.
  std::uint64_t most_pushes = 64;
  /// Most tasks of one Context::push_list(), for each lane of the worker, that take their places
  /// together (without priorities): rings have room for so many of each thread.
  std::uint32_t push_batch = 1;
  /// GPUs: threads of a processor that run tasks at a time, threads_per_processor<Function>() of
  /// run.hpp; 0: as many as a processor has, 2048. Rings have places for those beyond their
  /// capacities.
  std::uint32_t threads_per_processor = 0;
  /// Most tasks that a worker fetches at once. On a GPU at most the worker's lanes.
  std::uint32_t fetch = 32;
  /// Where few tasks wait, a worker takes one in so many of them (rounded down to a power of two)
  /// and one more: others are about to look. 1: all that it may fetch. 0: chosen for tasks that
  /// workers go on with by themselves, on a GPU a sixty-fourth of the workers, as those that claim
  /// at once stand in line.
  std::uint32_t sharing_divisor = 1;
  /// Shares only a ring's first tasks, until every worker could have fetched all that it may: a
  /// front that grows from few tasks reaches all workers sooner, and later fetches are full.
  bool shares_first = false;
  /// Priorities: levels of width delta from the threshold on; the threshold rises by delta when its
  /// level is empty. 1: no priorities.
  std::uint32_t levels = 1;
  double delta = 1.0;
  /// The aggregator: tasks that make a batch, and turns of a worker after which fewer go: of any
  /// that is idle, and while all are busy of the rank's first.
  Gather gather = Gather::measured;
  std::uint32_t batch = 4096;
  std::uint32_t wait = 32;
  /// Tests: every message over a gathered link takes this much longer, and its messages one after
  /// the other share so many bytes a second (0: what the link has).
  std::uint32_t link_delay_nanoseconds = 0;
  double slow_bandwidth = 0.0;
  /// Tests: random pauses of up to so much between the accesses of the queue.
  std::uint32_t injected_delay_nanoseconds = 0;
};

/// What became of a run. Of the whole team, but for the vectors, which have an entry for each rank
/// (tasks, idle) or for each pair, row-major by the sender (messages, sent).
struct QueueReport {
  double seconds = 0.0;  ///< Of the run on this rank, the clearing of the queue included.
  std::uint64_t tasks = 0;
  std::uint64_t spilled = 0;
  std::uint64_t messages_sent = 0;  ///< Between ranks.
  std::uint64_t bytes_sent = 0;
  std::uint32_t rounds = 0;  ///< Kernels (discrete), or 1 and what pauses added.
  bool is_persistent = false;
  std::vector<std::uint64_t> rank_tasks;
  std::vector<double> rank_idle_seconds;  ///< Of all workers of the rank together.
  std::vector<std::uint64_t> messages;
  std::vector<std::uint64_t> bytes;
};

/// Throws UsageError: a capacity of 0 or beyond 2^40, a batch of 0 or larger than the receive ring,
/// a fetch of 0 (or, on a GPU, above 1024), pushes together of 0 or above 2^16, more threads than a
/// processor has, levels outside 1 .. 8, a delta not above 0.
void validate(const QueueOptions& options, bool on_gpu);

/// Ranks whose small messages are slow on the way from `rank`: those to which a copy of 8 bytes
/// takes longer than 25 microseconds. A bit each.
[[nodiscard]] std::uint32_t slow_links(const team::Links& links, int rank);
/// Ranks to which this one gathers messages: none or all others, or by team::known_links() those
/// over slow links, of which CPUs have none. A bit each. Collective. To ranks that cannot be
/// addressed a queue gathers always.
[[nodiscard]] std::uint32_t slow_links(team::Team& team, Gather gather);

namespace detail {

inline constexpr std::uint64_t kMostCapacity = std::uint64_t{1} << 40;

inline constexpr std::uint32_t kMostThreadsPerProcessor = 2048;

/// Threads of a device that may push at once; of a GPU so many of each processor.
[[nodiscard]] std::uint64_t pushing_threads(const exec::Device& device,
                                            std::uint32_t per_processor = kMostThreadsPerProcessor);
/// Places of a ring that heeds `capacity` while `overshoot` tasks may pass it.
[[nodiscard]] std::uint64_t ring_places(std::uint64_t capacity, std::uint64_t overshoot);

template <class T>
[[nodiscard]] exec::WordRange words_of(const memory::Buffer<T>& buffer) {
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);
  return {buffer.data(), buffer.bytes() / sizeof(std::uint64_t)};
}

/// Rings of one size side by side, on this rank's device.
template <class Task>
class Rings {
 public:
  Rings() = default;
  Rings(const exec::Device& device, std::uint64_t count, std::uint64_t capacity,
        std::uint64_t places)
      : capacity_(capacity),
        places_(places),
        tasks_(device, exec::bytes_of(count, places)),
        segments_(device, count * (places / kSegmentTasks)),
        readers_(device, count),
        writers_(device, count) {}

  /// What is zero where the rings are empty.
  void add_words(std::vector<exec::WordRange>& ranges) const {
    ranges.push_back(words_of(segments_));
    ranges.push_back(words_of(readers_));
    ranges.push_back(words_of(writers_));
  }
  void clear(const exec::Stream& stream) const {
    std::vector<exec::WordRange> ranges;
    add_words(ranges);
    exec::clear_words(stream, ranges);
  }
  /// The i-th ring, with both ends here.
  [[nodiscard]] RingView<Task> view(std::uint64_t i, std::uint32_t injected_delay,
                                    const std::uint32_t* abort_flag) const {
    RingView<Task> view;
    view.tasks = tasks_.data() + i * places_;
    view.segments = segments_.data() + i * (places_ / kSegmentTasks);
    view.reader = readers_.data() + i;
    view.writer = writers_.data() + i;
    view.abort_flag = abort_flag;
    view.capacity = capacity_;
    view.set_places(places_);
    view.injected_delay = injected_delay;
    return view;
  }
  /// What the i-th ring holds, by its words. Where no rank uses it. Synchronises.
  [[nodiscard]] Claim held(const exec::Stream& stream, std::uint64_t i) const {
    RingReader reader;
    RingWriter writer;
    exec::copy(stream, &reader, readers_.data() + i, sizeof reader);
    exec::copy(stream, &writer, writers_.data() + i, sizeof writer);
    stream.synchronize();
    return {reader.head, writer.tail - reader.head};
  }
  /// Copies `tasks` of the i-th ring, from the first on, to `to`, in memory that the stream
  /// reaches, or in host memory.
  void copy_out(const exec::Stream& stream, std::uint64_t i, const Claim& tasks, Task* to) const {
    for (std::uint64_t done = 0; done < tasks.count;) {
      const std::uint64_t at = (tasks.first + done) & (places_ - 1);
      const std::uint64_t piece = std::min(tasks.count - done, places_ - at);
      exec::copy(stream, to + done, tasks_.data() + i * places_ + at, piece * sizeof(Task));
      done += piece;
    }
  }
  /// Sets the i-th ring's words as if the tasks in its first `count` places had been pushed one
  /// after the other, and no others before. Synchronises.
  void set_held(const exec::Stream& stream, std::uint64_t i, std::uint64_t count) const {
    std::vector<RingSegment> segments(places_ / kSegmentTasks, RingSegment{});
    for (std::uint64_t s = 0; s * kSegmentTasks < count; ++s) {
      const std::uint64_t end = std::min(count - s * kSegmentTasks, kSegmentTasks);
      segments[s].written = segment_word(0, end);
    }
    RingReader reader{};
    reader.available = count;
    RingWriter writer{};
    writer.tail = writer.filled = count;
    exec::copy(stream, segments_.data() + i * segments.size(), segments.data(),
               segments.size() * sizeof(RingSegment));
    exec::copy(stream, readers_.data() + i, &reader, sizeof reader);
    exec::copy(stream, writers_.data() + i, &writer, sizeof writer);
    stream.synchronize();
  }
  /// Puts `tasks` into the i-th ring, whose places hold so many, in place of what it holds.
  /// Synchronises.
  void put(const exec::Stream& stream, std::uint64_t i, std::span<const Task> tasks) const {
    exec::copy(stream, tasks_.data() + i * places_, tasks.data(), tasks.size_bytes());
    set_held(stream, i, tasks.size());
  }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t places() const { return places_; }
  [[nodiscard]] Task* tasks() const { return tasks_.data(); }
  [[nodiscard]] RingSegment* segments() const { return segments_.data(); }
  [[nodiscard]] RingReader* readers() const { return readers_.data(); }
  [[nodiscard]] RingWriter* writers() const { return writers_.data(); }

 private:
  std::uint64_t capacity_ = 0;
  std::uint64_t places_ = 0;
  memory::Buffer<Task> tasks_;
  memory::Buffer<RingSegment> segments_;
  memory::Buffer<RingReader> readers_;
  memory::Buffer<RingWriter> writers_;
};

}  // namespace detail

/// Tasks of one type, trivially copyable, in the memory of the team's devices. Construction is
/// collective. Throws UsageError (validate()), MemoryError.
///
/// Ranks that cannot address each other's memory (GPUs without a path between them, or without
/// atomic operations over it) exchange tasks through host memory: what is pushed for such a rank is
/// gathered, and carried between the rounds of a run, which is then discrete.
///
/// A rank holds `levels` local rings, a receive ring for each rank, and as many send buffers where
/// it gathers messages. With t the threads that may run tasks at a time, of the rank that has most
/// (on GPUs threads_per_processor on each processor, else those of the pool), a ring has the next
/// power of two of
///
///   capacity + 2 t push_batch + 512
///
/// places of one task (receive rings: also twice a batch; with priorities `push_batch` counts as 1,
/// as tasks take their places one for each lane then). Twice, since who looks at a ring that is
/// about to be full may push once more before it sees what others have pushed. The spill has, in
/// place of 2 t push_batch, 2 t (f (most_pushes + 1) + 2) places of a task and 4 bytes, f being 1
/// on GPUs and else `fetch`: what workers push before they see that it is full. So 1 MB holds
/// 65,536 tasks of 16 bytes, and on a GPU of 132 processors t is at most 270,336: whoever gives a
/// large `push_batch` or `most_pushes` should give threads_per_processor, too.
template <class Task>
class TaskQueue {
  static_assert(std::is_trivially_copyable_v<Task>);

 public:
  TaskQueue(team::Team& team, const QueueOptions& options);

  /// Empty, counters 0, once `stream` gets there: before any rank pushes, and when no rank uses the
  /// rings any more.
  void clear(const exec::Stream& stream);
  [[nodiscard]] const QueueTable<Task>& table() const { return table_; }
  [[nodiscard]] const QueueOptions& options() const { return options_; }
  /// Of a GPU's processor, those that there is room for.
  [[nodiscard]] std::uint32_t threads_per_processor() const {
    return options_.threads_per_processor != 0 ? options_.threads_per_processor
                                               : detail::kMostThreadsPerProcessor;
  }

  /// After a pause: doubles the spill where more than half of its capacity is taken, and lets the
  /// workers go on. Synchronises. Throws MemoryError.
  void grow(team::Team& team, const exec::Stream& stream);
  /// True if some ranks of the team cannot address each other; the same on all.
  [[nodiscard]] bool has_ranks_apart() const { return has_ranks_apart_; }
  /// Between rounds: takes what is gathered for ranks that this one cannot address to them, through
  /// host memory, as much as their receive rings hold. Collective. Synchronises.
  void carry(team::Team& team, const exec::Stream& stream);
  /// Throws UsageError where a task was pushed to no rank, or first tasks found no memory.
  void check(const exec::Stream& stream) const;
  /// Collective.
  [[nodiscard]] QueueReport report(team::Team& team, const exec::Stream& stream) const;

 private:
  /// Ranks that this one, or that cannot address it: a bit each. Collective.
  [[nodiscard]] static std::uint32_t ranks_apart(team::Team& team,
                                                 const std::vector<void*>& counters);
  void make_spill(const exec::Device& device, std::uint64_t capacity);
  [[nodiscard]] RankCounters counters(const exec::Stream& stream) const;

  QueueOptions options_;
  detail::Rings<Task> local_, receive_, send_buffer_;
  memory::Buffer<RingWriter> senders_;  ///< Of this rank's rings at its peers.
  std::unique_ptr<detail::Rings<SpilledTask<Task>>> spill_;
  memory::Buffer<RankCounters> counters_;
  bool has_ranks_apart_ = false;
  std::vector<std::uint64_t> carried_messages_, carried_tasks_;  ///< To each rank, by the host.
  QueueTable<Task> table_;
};

template <class Task>
TaskQueue<Task>::TaskQueue(team::Team& team, const QueueOptions& options) : options_(options) {
  validate(options, team.device().is_cuda());
  const exec::Device& device = team.device();
  const auto ranks = static_cast<std::size_t>(team.size());
  const std::uint64_t push_batch = options.levels == 1 ? options.push_batch : 1;
  const std::uint64_t threads = team.all_reduce(
      detail::pushing_threads(device, threads_per_processor()) * push_batch, exec::Maximum{});
  table_.rank = team.rank();
  table_.ranks = team.size();
  table_.abort_flag = team.abort_flag();
  table_.levels = options.levels;
  table_.push_batch = options.push_batch;
  table_.inverse_delta = 1.0 / options.delta;
  table_.link_delay_nanoseconds = options.link_delay_nanoseconds;
  if (options.slow_bandwidth > 0.0)
    table_.slow_task_nanoseconds = sizeof(Task) * 1e9 / options.slow_bandwidth;
  table_.batch = options.batch;
  table_.wait = options.wait;
  table_.injected_delay = options.injected_delay_nanoseconds;
  table_.slice_nanoseconds = team::shortest_slice(team);

  local_ = {device, options.levels, options.local_capacity,
            detail::ring_places(options.local_capacity, threads)};
  for (std::uint32_t i = 0; i < options.levels; ++i)
    table_.local[i] = local_.view(i, table_.injected_delay, table_.abort_flag);
  if (ranks > 1) {
    receive_ = {device, ranks, options.receive_capacity,
                detail::ring_places(options.receive_capacity,
                                    threads + team.all_reduce(options.batch, exec::Maximum{}))};
    senders_ = memory::Buffer<RingWriter>(device, ranks);
  }
  counters_ = memory::Buffer<RankCounters>(device, 1);
  const std::vector<void*> counters = team.share(counters_.data());
  table_.is_apart = ranks_apart(team, counters);
  has_ranks_apart_ = team.all_reduce(table_.is_apart, exec::Maximum{}) != 0;
  table_.is_slow = slow_links(team, options.gather) | table_.is_apart;
  if (table_.is_slow != 0) {
    send_buffer_ = {device, ranks, options.receive_capacity,
                    detail::ring_places(options.receive_capacity, threads)};
  }
  make_spill(device, options.spill_capacity);
  carried_messages_.assign(ranks, 0);
  carried_tasks_.assign(ranks, 0);

  const std::vector<void*> tasks = team.share(receive_.tasks());
  const std::vector<void*> segments = team.share(receive_.segments());
  const std::vector<void*> readers = team.share(receive_.readers());
  const std::vector<void*> senders = team.share(senders_.data());
  // Ranks may have chosen rings of different sizes.
  const std::vector<std::uint64_t> capacities = team.all_gather(receive_.capacity());
  const std::vector<std::uint64_t> places = team.all_gather(receive_.places());
  const auto me = static_cast<std::size_t>(team.rank());
  for (std::size_t q = 0; q < ranks; ++q) {
    if ((table_.is_apart >> q & 1u) != 0) {
      // The host writes; the ring has both ends here.
      table_.from[q] = receive_.view(q, table_.injected_delay, table_.abort_flag);
      table_.send_buffer[q] = send_buffer_.view(q, table_.injected_delay, table_.abort_flag);
      continue;
    }
    table_.counters[q] = static_cast<RankCounters*>(counters[q]);
    if (q == me) continue;
    RingView<Task>& from = table_.from[q];
    from = receive_.view(q, table_.injected_delay, table_.abort_flag);
    from.writer = static_cast<RingWriter*>(senders[q]) + me;
    from.is_wide = true;
    RingView<Task>& to = table_.to[q];
    to = from;
    to.capacity = capacities[q];
    to.set_places(places[q]);
    to.tasks = static_cast<Task*>(tasks[q]) + me * places[q];
    to.segments = static_cast<RingSegment*>(segments[q]) + me * (places[q] / kSegmentTasks);
    to.reader = static_cast<RingReader*>(readers[q]) + me;
    to.writer = senders_.data() + q;
    if ((table_.is_slow >> q & 1u) != 0)
      table_.send_buffer[q] = send_buffer_.view(q, table_.injected_delay, table_.abort_flag);
  }
}

template <class Task>
std::uint32_t TaskQueue<Task>::ranks_apart(team::Team& team, const std::vector<void*>& counters) {
  std::uint32_t unreached = 0;
  for (std::size_t q = 0; q < counters.size(); ++q) {
    if (counters[q] == nullptr) unreached |= 1u << q;
  }
  // A ring needs both ways: readers tell the writers what is free.
  const std::vector<std::uint32_t> of_all = team.all_gather(unreached);
  for (std::size_t q = 0; q < of_all.size(); ++q) {
    if ((of_all[q] >> static_cast<std::uint32_t>(team.rank()) & 1u) != 0) unreached |= 1u << q;
  }
  return unreached;
}

template <class Task>
void TaskQueue<Task>::make_spill(const exec::Device& device, std::uint64_t capacity) {
  const std::uint64_t threads = detail::pushing_threads(device, threads_per_processor());
  const std::uint64_t fetched = device.is_cuda() ? 1 : options_.fetch;
  spill_ = std::make_unique<detail::Rings<SpilledTask<Task>>>(
      device, 1, capacity,
      detail::ring_places(capacity, threads * (fetched * (options_.most_pushes + 1) + 2)));
  table_.spill = spill_->view(0, table_.injected_delay, table_.abort_flag);
  // Each thread may spill one task more after a look, and segments are freed as wholes.
  table_.spill_limit = spill_->places() - threads - kSegmentTasks;
}

template <class Task>
void TaskQueue<Task>::clear(const exec::Stream& stream) {
  std::vector<exec::WordRange> ranges{detail::words_of(senders_), detail::words_of(counters_)};
  local_.add_words(ranges);
  receive_.add_words(ranges);
  send_buffer_.add_words(ranges);
  spill_->add_words(ranges);
  exec::clear_words(stream, ranges);
  std::ranges::fill(carried_messages_, 0);
  std::ranges::fill(carried_tasks_, 0);
}

template <class Task>
RankCounters TaskQueue<Task>::counters(const exec::Stream& stream) const {
  RankCounters result;
  exec::copy(stream, &result, counters_.data(), sizeof result);
  stream.synchronize();
  return result;
}

template <class Task>
void TaskQueue<Task>::grow(team::Team& team, const exec::Stream& stream) {
  const Claim held = spill_->held(stream, 0);
  if (held.count > spill_->capacity() / 2) {
    const std::unique_ptr<detail::Rings<SpilledTask<Task>>> old = std::move(spill_);
    std::uint64_t capacity = old->capacity();
    while (capacity < 2 * held.count) capacity *= 2;
    make_spill(team.device(), capacity);
    spill_->clear(stream);
    old->copy_out(stream, 0, held, spill_->tasks());
    spill_->set_held(stream, 0, held.count);
  }
  const auto running = static_cast<std::uint32_t>(Signal::run);
  exec::copy(stream, &counters_.data()->signal, &running, sizeof running);
  stream.synchronize();
}

template <class Task>
void TaskQueue<Task>::carry(team::Team& team, const exec::Stream& stream) {
  const auto ranks = static_cast<std::size_t>(team.size());
  const auto is_apart = [&](std::size_t q) { return (table_.is_apart >> q & 1u) != 0; };
  // What the others may send: a round may have left tasks where it paused.
  std::vector<std::vector<Task>> received(ranks);
  std::vector<std::vector<std::uint64_t>> room(ranks);
  for (std::size_t q = 0; q < ranks; ++q) {
    if (!is_apart(q)) continue;
    const Claim held = receive_.held(stream, q);
    received[q].resize(held.count);
    receive_.copy_out(stream, q, held, received[q].data());
    room[q].push_back(receive_.capacity() - std::min(receive_.capacity(), held.count));
  }
  stream.synchronize();
  const auto room_there = team.all_to_all_v(room);
  std::vector<std::vector<Task>> outgoing(ranks), kept(ranks);
  for (std::size_t q = 0; q < ranks; ++q) {
    if (!is_apart(q)) continue;
    const Claim held = send_buffer_.held(stream, q);
    const Claim sent{held.first, std::min(held.count, room_there[q].at(0))};
    if (sent.count == 0) continue;
    outgoing[q].resize(sent.count);
    send_buffer_.copy_out(stream, q, sent, outgoing[q].data());
    kept[q].resize(held.count - sent.count);
    send_buffer_.copy_out(stream, q, {sent.first + sent.count, kept[q].size()}, kept[q].data());
    stream.synchronize();
    send_buffer_.put(stream, q, kept[q]);
    carried_messages_[q] += 1;
    carried_tasks_[q] += sent.count;
  }
  const auto incoming = team.all_to_all_v(outgoing);
  for (std::size_t q = 0; q < ranks; ++q) {
    if (incoming[q].empty()) continue;
    received[q].insert(received[q].end(), incoming[q].begin(), incoming[q].end());
    receive_.put(stream, q, received[q]);
  }
}

template <class Task>
void TaskQueue<Task>::check(const exec::Stream& stream) const {
  const RankCounters found = counters(stream);
  const std::uint64_t wrong = found.wrong_rank;
  require(wrong == 0, "a task was pushed to rank " +
                          std::to_string(static_cast<std::int32_t>(wrong - 1)) +
                          ", which does not exist: the team has " + std::to_string(table_.ranks) +
                          " ranks, numbered from 0");
  require(found.unseeded == 0, "there are more first tasks than a queue for " +
                                   std::to_string(options_.local_capacity) +
                                   " tasks has memory for: set QueueOptions::local_capacity");
  require(found.overflown == 0,
          "one call pushed more tasks than a queue has memory for that was made for " +
              std::to_string(options_.most_pushes) + " pushes by a task and rings of " +
              std::to_string(options_.local_capacity) +
              " tasks: set QueueOptions::most_pushes to the most that a task pushes, and "
              "QueueOptions::local_capacity to no less than what one seed() pushes");
}

template <class Task>
QueueReport TaskQueue<Task>::report(team::Team& team, const exec::Stream& stream) const {
  QueueReport report;
  const auto messages = team.all_gather_v(std::span<const std::uint64_t>(carried_messages_));
  const auto tasks = team.all_gather_v(std::span<const std::uint64_t>(carried_tasks_));
  for (const RankCounters& counters : team.all_gather(counters(stream))) {
    report.tasks += counters.tasks;
    report.spilled += counters.spilled;
    report.rank_tasks.push_back(counters.tasks);
    report.rank_idle_seconds.push_back(static_cast<double>(counters.idle_nanoseconds) * 1e-9);
    const std::size_t from = report.rank_tasks.size() - 1;
    for (int q = 0; q < team.size(); ++q) {
      const auto to = static_cast<std::size_t>(q);
      report.messages.push_back(counters.messages[q] + messages[from][to]);
      report.bytes.push_back((counters.sent[q] + tasks[from][to]) * sizeof(Task));
      report.messages_sent += report.messages.back();
      report.bytes_sent += report.bytes.back();
    }
  }
  return report;
}

}  // namespace warren::schedule
