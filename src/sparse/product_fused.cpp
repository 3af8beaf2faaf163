// SPDX-License-Identifier: Apache-2.0
// CoLa's product for links of two speeds (sections 4.2, 4.3, 5.1). Ranks form workgroups of
// consecutive ranks. What a workgroup needs of a rank of another one crosses once, in one piece, to
// the rank that has the owner's place in the group (local-rank matching), put there by the owner;
// from there, over the group's own links, each rank that needs a row copies it once. One phase for
// each workgroup, the next phase's rows on their way while the present ones are multiplied, in two
// buffers.
#include <algorithm>

#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

using Lists = std::vector<std::vector<Vertex>>;

template <class T>
class FusedProduct final : public ProductBase<T> {
 public:
  explicit FusedProduct(const Preparation& given)
      : ProductBase<T>(given),
        group_size_(given.options.workgroup == 0 ? given.team.size() : given.options.workgroup),
        groups_(given.team.size() / group_size_),
        group_(given.team.rank() / group_size_),
        place_(given.team.rank() % group_size_),
        own_group_arrived_(given.team.device()),
        arrived_(given.team) {
    this->take_own(given.rows);
    const Exchange exchange(this->team_, given.rows);
    prepare_own_group(given.rows, exchange);
    const Lists unions = make_unions(exchange);
    prepare_puts(unions);
    size_buffers(unions);
    for (int phase = 1; phase < groups_; ++phase) prepare_phase(given.rows, phase, unions);
  }

  void enqueue(const ProductRun<T>& run) override {
    this->moves_.restart();
    this->copies_wait(run.stream);
    this->moves_.gather(this->copy_stream_, own_group_, run.b, own_buffer_.data());
    own_group_arrived_.record(this->copy_stream_);
    put(run, 1);
    this->multiply_own(run);
    run.stream.wait(own_group_arrived_);
    this->multiply_more(run, own_group_block_, own_buffer_.data());
    for (int phase = 1; phase < groups_; ++phase) {
      // All ranks' rows of this phase have arrived, and what the next ones overwrite has been read.
      this->wait_for_copies(run.stream);
      arrived_.arrive(run.stream);
      arrived_.wait(run.stream);
      this->copies_wait(run.stream);
      put(run, phase + 1);
      const Phase& now = phases_[static_cast<std::size_t>(phase) - 1];
      const memory::GlobalArray<T>& arrived = received_[phase % 2];
      this->moves_.gather_near(run.stream, now.others, as_wide(arrived.view(), run),
                               other_buffer_.data());
      this->multiply_more(run, now.own_block, arrived.local_data());
      this->multiply_more(run, now.other_block, other_buffer_.data());
    }
    this->wait_for_copies(run.stream);
    this->end_use(run, run.stream);
  }

 private:
  struct Phase {
    DeviceBlock own_block;    // Columns: places in what arrived here.
    RowList others;           // Rows of what arrived at the group's other ranks.
    DeviceBlock other_block;  // Columns: places in their copies.
    RowList outgoing;         // Of this rank's B, in the receiver's order.
    int receiver = 0;
  };

  [[nodiscard]] int rank_at(int group, int place) const { return group * group_size_ + place; }
  /// The group whose rows this rank's group multiplies in a phase.
  [[nodiscard]] int source_group(int phase) const { return (group_ + phase) % groups_; }

  void prepare_own_group(const Rows& rows, const Exchange& exchange) {
    const auto first = static_cast<std::size_t>(rank_at(group_, 0));
    const auto last = first + static_cast<std::size_t>(group_size_);
    const std::uint64_t begin = exchange.halo_begin()[first];
    const std::uint64_t end = exchange.halo_begin()[last];
    own_group_ = RowList(this->stream_,
                         std::span<const Vertex>(exchange.halo()).subspan(begin, end - begin));
    const auto block = choose_entries(
        rows, this->team_.device().pool(), {}, [&](EdgeOffset, Vertex column, Vertex& new_column) {
          if (column < rows.cuts[first] || column >= rows.cuts[last]) return false;
          if (column >= this->first_ && column < this->first_ + this->count_) return false;
          new_column = static_cast<Vertex>(exchange.place(column) - begin);
          return true;
        });
    own_group_block_ = DeviceBlock(this->stream_, block);
  }

  /// By owner (of this rank's place in another group): the rows of it that this rank's group needs,
  /// ascending. Found by this rank, told to the group and to the owner.
  Lists make_unions(const Exchange& exchange) {
    const auto ranks = static_cast<std::size_t>(this->team_.size());
    // Members tell the rank of the owner's place what they need of the owner, one group of owners
    // after the other.
    Lists unions(ranks);
    for (int g = 0; g < groups_; ++g) {
      Lists outgoing(ranks);
      for (int place = 0; place < group_size_; ++place) {
        if (g == group_) continue;
        const auto needed = exchange.halo_of(rank_at(g, place));
        outgoing[static_cast<std::size_t>(rank_at(group_, place))].assign(needed.begin(),
                                                                          needed.end());
      }
      auto& all = unions[static_cast<std::size_t>(rank_at(g, place_))];
      for (const auto& part : this->team_.all_to_all_v(outgoing))
        all.insert(all.end(), part.begin(), part.end());
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    return unions;
  }

  void prepare_puts(const Lists& unions) {
    const Lists wanted = this->team_.all_to_all_v(unions);
    phases_.resize(static_cast<std::size_t>(groups_) - 1);
    for (int phase = 1; phase < groups_; ++phase) {
      Phase& now = phases_[static_cast<std::size_t>(phase) - 1];
      now.receiver = rank_at((group_ - phase + groups_) % groups_, place_);
      now.outgoing = RowList(
          this->stream_, std::span<const Vertex>(wanted[static_cast<std::size_t>(now.receiver)]));
    }
  }

  void size_buffers(const Lists& unions) {
    if (groups_ == 1) return;
    std::uint64_t most = 0;
    for (const auto& list : unions) most = std::max<std::uint64_t>(most, list.size());
    for (const std::uint64_t rows : this->team_.all_gather(most))
      received_cuts_.push_back(received_cuts_.back() + rows);
  }
  void take_buffers(std::uint64_t width) override {
    this->take(own_buffer_, own_group_.size(), width);
    this->take(other_buffer_, most_others_, width);
    for (auto& buffer : received_) {
      if (groups_ == 1) break;
      buffer = {};
      buffer =
          memory::GlobalArray<T>(this->team_, received_cuts_, width, memory::Placement::device);
    }
  }

  void prepare_phase(const Rows& rows, int phase, const Lists& unions) {
    Phase& now = phases_[static_cast<std::size_t>(phase) - 1];
    const int source = source_group(phase);
    const auto ranks = static_cast<std::size_t>(this->team_.size());
    const auto& mine = unions[static_cast<std::size_t>(rank_at(source, place_))];
    Lists outgoing(ranks);
    for (int place = 0; place < group_size_; ++place)
      outgoing[static_cast<std::size_t>(rank_at(group_, place))] = mine;
    const Lists lists = this->team_.all_to_all_v(outgoing);  // By member: what arrives there.

    const auto where = [&](int place, Vertex column) {
      const auto& list = lists[static_cast<std::size_t>(rank_at(group_, place))];
      return static_cast<Vertex>(std::lower_bound(list.begin(), list.end(), column) - list.begin());
    };
    const auto place_of = [&](Vertex column) { return rows.owner(column) - rank_at(source, 0); };
    const auto first = static_cast<std::size_t>(rank_at(source, 0));
    const std::uint64_t begin = rows.cuts[first];
    const std::uint64_t end = rows.cuts[first + static_cast<std::size_t>(group_size_)];
    exec::ThreadPool& pool = this->team_.device().pool();

    now.own_block = DeviceBlock(
        this->stream_,
        choose_entries(rows, pool, {}, [&](EdgeOffset, Vertex column, Vertex& new_column) {
          if (column < begin || column >= end || place_of(column) != place_) return false;
          new_column = where(place_, column);
          return true;
        }));
    const auto is_others = [&](Vertex column) {
      return column >= begin && column < end && place_of(column) != place_;
    };
    std::vector<Vertex> needed;
    for (const Vertex column : rows.columns) {
      if (is_others(column)) needed.push_back(column);
    }
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    std::vector<std::uint64_t> sources;
    for (const Vertex column : needed) {
      const int place = place_of(column);
      sources.push_back(received_cuts_[static_cast<std::size_t>(rank_at(group_, place))] +
                        where(place, column));
    }
    now.others = RowList(this->stream_, sources);
    now.other_block = DeviceBlock(
        this->stream_,
        choose_entries(rows, pool, {}, [&](EdgeOffset, Vertex column, Vertex& new_column) {
          if (!is_others(column)) return false;
          new_column = static_cast<Vertex>(std::lower_bound(needed.begin(), needed.end(), column) -
                                           needed.begin());
          return true;
        }));
    most_others_ = std::max<std::uint64_t>(most_others_, needed.size());
  }

  /// Puts what this rank has for a phase where it is needed, beside the main stream's work.
  void put(const ProductRun<T>& run, int phase) {
    if (phase >= groups_) return;
    const Phase& next = phases_[static_cast<std::size_t>(phase) - 1];
    this->moves_.put(this->copy_stream_, next.outgoing, run.b,
                     received_[phase % 2].view().base[next.receiver], next.receiver);
  }

  int group_size_, groups_, group_, place_;
  exec::Event own_group_arrived_;
  RowList own_group_;
  memory::Buffer<T> own_buffer_, other_buffer_;
  DeviceBlock own_group_block_;
  std::vector<Phase> phases_;
  std::vector<std::uint64_t> received_cuts_{0};
  memory::GlobalArray<T> received_[2];
  team::StreamBarrier arrived_;  // Of a phase's rows.
  std::uint64_t most_others_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_fused(const Preparation& given) {
  return std::make_unique<FusedProduct<T>>(given);
}
template std::unique_ptr<Product<float>> make_fused(const Preparation&);
template std::unique_ptr<Product<Half>> make_fused(const Preparation&);
template std::unique_ptr<Product<BFloat16>> make_fused(const Preparation&);

}  // namespace warren::sparse
