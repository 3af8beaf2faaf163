// SPDX-License-Identifier: Apache-2.0
#include "traverse/streamed/list_stream.hpp"

namespace warren::traverse {

ListStream::ListStream(const exec::Stream& stream, const graph::EdgeFile& file,
                       std::function<void()> check)
    : stream_(stream), file_(file), check_(std::move(check)), reader_(file, stream.device()) {
  if (!stream.device().is_cuda()) return;
  offsets_ = memory::Buffer<EdgeOffset>(stream.device(), kOnDevice * (file.chunk_rows() + 1));
  targets_ = memory::Buffer<Vertex>(stream.device(), kOnDevice * file.chunk_edges());
}

std::uint64_t ListStream::device_bytes(const graph::EdgeFile& file) {
  return kOnDevice *
         ((file.chunk_rows() + 1) * sizeof(EdgeOffset) + file.chunk_edges() * sizeof(Vertex));
}

std::optional<graph::FileWindow> ListStream::take() {
  if (check_) check_();
  check_stop();
  // The reader goes on as long as some of its windows are its own.
  const std::size_t most = std::min<std::size_t>(kOnDevice, reader_.windows() - 1);
  while (busy_.size() >= most) {
    busy_.front().synchronize();
    busy_.pop_front();
    reader_.release();
  }
  return reader_.next();
}

ListView ListStream::bring(const graph::FileWindow& window) {
  const graph::FileChunk& chunk = window.chunk;
  ListView lists{window.offsets, window.targets, chunk.begin, chunk.begin + chunk.edges,
                 chunk.first,    chunk.rows};
  if (!stream_.device().is_cuda()) return lists;
  EdgeOffset* const offsets = offsets_.data() + next_place_ * (file_.chunk_rows() + 1);
  Vertex* const targets = targets_.data() + next_place_ * file_.chunk_edges();
  next_place_ = (next_place_ + 1) % kOnDevice;
  exec::copy(stream_, offsets, lists.offsets, (std::uint64_t{chunk.rows} + 1) * sizeof(EdgeOffset));
  exec::copy(stream_, targets, lists.targets, chunk.edges * sizeof(Vertex));
  lists.offsets = offsets;
  lists.targets = targets;
  return lists;
}

void ListStream::give_back() {
  if (!stream_.device().is_cuda()) return reader_.release();
  busy_.emplace_back(stream_.device());
  busy_.back().record(stream_);
}

void ListStream::finish() {
  while (!busy_.empty()) {
    busy_.front().synchronize();
    busy_.pop_front();
    reader_.release();
  }
  stream_.synchronize();
}

}  // namespace warren::traverse
