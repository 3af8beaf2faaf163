// SPDX-License-Identifier: Apache-2.0
#include "api/array_memory.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/exec/current_device.hpp"

#include "api/session_memory.hpp"

namespace warren::api {
namespace {

using memory::Buffer;
using memory::MemoryKind;

/// A block that a result gave back, and what other libraries' streams may still read of it.
struct KeptBlock {
  Buffer<std::byte> block;
  std::vector<exec::Event> reads;

  KeptBlock() = default;
  explicit KeptBlock(Buffer<std::byte>&& given) : block(std::move(given)) {}
  /// Of a block that others have seen.
  KeptBlock(Buffer<std::byte>&& given, const std::vector<void*>& readers)
      : block(std::move(given)) {
    // The default stream waits for all streams that were made to wait for it, in turn.
    constexpr void* kDefault = nullptr;
    note(kDefault);
    for (void* reader : readers) note(reader);
  }
  KeptBlock(KeptBlock&&) noexcept = default;
  KeptBlock& operator=(KeptBlock&&) noexcept = default;
  ~KeptBlock() { settle(); }

  /// Returns when nobody reads it any more.
  void settle() noexcept {
    try {
      for (const exec::Event& read : reads) read.synchronize();
    } catch (const Error& error) {
      log_warning(error.what());  // The GPU has failed: nothing reads any more.
    }
    reads.clear();
  }

 private:
  void note(void* stream) {
    reads.emplace_back(block.device());
    reads.back().record_on(stream);
  }
};

/// No later result takes a block of its resource.
bool is_of_closed_session(const exec::Device& device) {
  const auto* const memory = dynamic_cast<const SessionMemory*>(device.memory_resource().get());
  return memory != nullptr && memory->is_closed();
}

/// Blocks of GPUs that results gave back, for later ones. Never destroyed: results may outlive what
/// the process destroys at its end.
class KeptBlocks {
 public:
  [[nodiscard]] static KeptBlocks& all() {
    static auto* blocks = new KeptBlocks;
    return *blocks;
  }
  /// One of this device, size and resource; an empty one where there is none.
  [[nodiscard]] Buffer<std::byte> find(const exec::Device& device, std::uint64_t bytes) {
    KeptBlock found;
    {
      const std::scoped_lock lock(mutex_);
      const auto at = std::ranges::find_if(blocks_, [&](const KeptBlock& kept) {
        return kept.block.size() == bytes && kept.block.device() == device &&
               kept.block.device().memory_resource() == device.memory_resource();
      });
      if (at == blocks_.end()) return {};
      found = std::move(*at);
    }
    found.settle();
    return std::move(found.block);
  }
  void keep(KeptBlock&& kept) noexcept {
    const std::scoped_lock lock(mutex_);
    if (is_of_closed_session(kept.block.device())) return;  // The caller frees it.
    std::swap(blocks_[next_], kept);  // What stood there is freed by the caller.
    next_ = (next_ + 1) % blocks_.size();
  }
  void drop() noexcept {
    const std::scoped_lock lock(mutex_);
    for (KeptBlock& kept : blocks_) kept = {};
  }

 private:
  /// The arrays of two results, the last one and the one under way; sampled batches have the most.
  static constexpr std::size_t kBlocks = 16;
  std::mutex mutex_;
  std::array<KeptBlock, kBlocks> blocks_;
  std::size_t next_ = 0;
};

}  // namespace

ArrayMemory::ArrayMemory(const exec::Device& device, std::uint64_t bytes) : bytes_(bytes) {
  if (!device.is_cuda()) {
    host_ = memory::HostArray<std::byte>(bytes);
    return;
  }
  block_ = KeptBlocks::all().find(device, bytes);
  if (block_.size() == bytes) return;
  try {
    block_ = Buffer<std::byte>(device, bytes);
  } catch (const MemoryError& error) {
    log_warning(fmt::format("{}: a result is placed in host memory", error.what()));
    pinned_ = Buffer<std::byte>(device, MemoryKind::pinned, bytes);
  }
}

ArrayMemory::~ArrayMemory() {
  const exec::KeepCurrentDevice current;
  give_back();
  pinned_.reset();
}

void* ArrayMemory::data() const noexcept {
  if (block_.size() > 0) return block_.data();
  return pinned_.size() > 0 ? pinned_.data() : const_cast<std::byte*>(host_.data());
}

void* ArrayMemory::on_host() {
  const std::scoped_lock lock(mutex_);
  const exec::KeepCurrentDevice current;
  if (pinned_.size() > 0) return pinned_.data();
  if (host_.empty() && block_.size() > 0) {
    memory::HostArray<std::byte> copied(bytes_);
    const exec::Stream stream(block_.device());
    exec::copy(stream, copied.data(), block_.data(), bytes_);
    stream.synchronize();
    host_ = std::move(copied);
  }
  return host_.data();
}

void* ArrayMemory::move_to_host() {
  void* there = on_host();
  give_back();
  return there;
}

void ArrayMemory::used_on(void* stream) {
  const std::scoped_lock lock(mutex_);
  if (block_.size() > 0 && std::ranges::find(readers_, stream) == readers_.end())
    readers_.push_back(stream);
}

void ArrayMemory::give_back() noexcept {
  if (block_.size() == 0) return;
  try {
    // Calls are through with it when they return, and so are copies to the host: events are for
    // what others may read, and take microseconds each.
    const bool may_be_read = is_shown_ || !readers_.empty();
    KeptBlocks::all().keep(may_be_read ? KeptBlock(std::move(block_), readers_)
                                       : KeptBlock(std::move(block_)));
  } catch (const std::exception& error) {
    log_warning(error.what());  // The block is freed: that waits for all that reads it.
  }
  block_.reset();
  readers_.clear();
}

void drop_kept_blocks() noexcept {
  const exec::KeepCurrentDevice current;
  KeptBlocks::all().drop();
}

void* on_host(ArrayMemory& memory) { return memory.on_host(); }
void used_on(ArrayMemory& memory, void* stream) { memory.used_on(stream); }
void* on_gpu(const ArrayMemory& memory) noexcept { return memory.on_gpu(); }
int gpu_of(const ArrayMemory& memory) noexcept { return memory.gpu(); }

}  // namespace warren::api
