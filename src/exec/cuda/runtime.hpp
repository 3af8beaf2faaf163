// SPDX-License-Identifier: Apache-2.0
// What the exec floor needs of the CUDA runtime, so that no other file names it. Without the CUDA
// backend these are absent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "warren/exec/device.hpp"

namespace warren::exec::cuda {

int device_count() noexcept;
/// For why_no_cuda_device().
std::string why_no_device();
std::string device_model(int index);
int capability(int index);
GpuLimits limits(int index);
MemoryInfo device_memory(int index);
int multiprocessors(int index);
bool limits_kernel_time(int index);
void activate(int index);
/// Of the calling thread; -1: unknown.
int current_device() noexcept;
/// Nothing where it is that one, or -1.
void set_current_device(int index) noexcept;
void synchronize_device(int index);
/// Waits for all work on the device, and says nothing where it failed.
void settle_device(int index) noexcept;
std::string runtime_version();
std::string driver_version();

/// nullptr where there is too little: the caller knows how to say it.
void* allocate_device(int index, std::uint64_t bytes);
void free_device(int index, void* pointer) noexcept;
void* allocate_pinned(std::uint64_t bytes);
void free_pinned(void* pointer) noexcept;
/// Makes host memory that is there what allocate_pinned() gives; false where the driver has no room
/// for it.
bool pin(void* pointer, std::uint64_t bytes);
void unpin(void* pointer) noexcept;
/// -1: of the host.
int gpu_of(const void* pointer);
/// True if the GPU's kernels wait for managed pages that are elsewhere, and the host may touch them
/// meanwhile.
bool has_managed_memory(int index);
/// For free_device(). nullptr where there is too little.
void* allocate_managed(int index, std::uint64_t bytes);
void advise_read_mostly(int index, void* pointer, std::uint64_t bytes, bool is_read_mostly);
void prefetch_to_host(int index, void* stream, void* pointer, std::uint64_t bytes);
void copy(int index, void* stream, void* target, const void* source, std::uint64_t bytes);
void fill_bytes(int index, void* stream, void* target, int value, std::uint64_t bytes);

std::shared_ptr<void> make_stream(int index, bool is_urgent);
void synchronize_stream(int index, void* stream);
std::shared_ptr<void> make_event(int index);
void record_event(int index, void* event, void* stream);
void wait_event(int index, void* stream, void* event);
/// `stream` waits for what is on stream `other` of GPU `other_index` now. Throws UsageError where
/// that is being captured.
void wait_stream(int index, void* stream, int other_index, void* other);
void synchronize_event(void* event);
double event_seconds(void* earlier, void* later);
/// As record_event(); in captured work an event that each run records.
void record_time(int index, void* event, void* stream);

void begin_capture(int index, void* stream);
void abandon_capture(void* stream) noexcept;
/// For run_captured().
std::shared_ptr<void> end_capture(int index, void* stream);
void run_captured(int index, void* stream, void* work);

}  // namespace warren::exec::cuda
