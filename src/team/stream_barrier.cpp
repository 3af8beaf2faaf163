// SPDX-License-Identifier: Apache-2.0
#include "warren/team/stream_barrier.hpp"

#include <exception>

#include "warren/exec/memory.hpp"
#include "warren/exec/worker.hpp"

#include "team/stream_barrier_kernels.hpp"

namespace warren::team {

class StreamBarrier::Memory {
 public:
  Memory(const exec::Device& device, int ranks)
      : device_(device),
        bytes_(sizeof(StreamMail) * static_cast<std::uint64_t>(ranks)),
        mail_(static_cast<StreamMail*>(exec::allocate(device, exec::MemoryKind::device, bytes_))) {
    const exec::Stream stream(device);
    exec::fill_bytes(stream, mail_, 0, bytes_);
    stream.synchronize();
  }
  ~Memory() { exec::deallocate(device_, exec::MemoryKind::device, mail_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] StreamMail* mail() const { return mail_; }

 private:
  exec::Device device_;
  std::uint64_t bytes_;
  StreamMail* mail_;
};

StreamBarrier::StreamBarrier(Team& team) : team_(team), exceptions_(std::uncaught_exceptions()) {
  const exec::Device device = team.device();
  // Where ranks share a device, one's kernel that waits would hold up what the others' hosts do
  // there.
  const bool is_shared = team.all_reduce(team.ranks_on_device(), exec::Maximum{}) > 1;
  if (!device.is_cuda() || !team.kernels_may_wait() || is_shared || team.size() == 1) return;
  memory_ = std::make_unique<Memory>(device, team.size());
  const std::vector<void*> table = team.share(memory_->mail());
  for (std::size_t q = 0; q < table.size(); ++q) mail_[q] = static_cast<StreamMail*>(table[q]);
  team.barrier();  // Nobody arrives before all counters are zero.
}

StreamBarrier::~StreamBarrier() {
  team_.deferred_free()->give_back(std::move(memory_), exceptions_);
}

void StreamBarrier::arrive(const exec::Stream& stream) {
  team_.check();
  if (memory_ == nullptr) return;
  exec::with_backend(team_.device(), [&](auto backend) {
    ArriveKernel kernel{{}, team_.rank()};
    for (int q = 0; q < team_.size(); ++q) kernel.mail[q] = mail_[q];
    run_barrier<decltype(backend)>(stream, team_.size(), kernel);
  });
}

void StreamBarrier::wait(const exec::Stream& stream) {
  if (team_.size() == 1) return;
  if (memory_ == nullptr) {
    stream.synchronize();
    return team_.barrier();
  }
  exec::with_backend(team_.device(), [&](auto backend) {
    run_barrier<decltype(backend)>(stream, team_.size(),
                                   AwaitKernel{mail_[team_.rank()], team_.abort_flag()});
  });
}

}  // namespace warren::team
