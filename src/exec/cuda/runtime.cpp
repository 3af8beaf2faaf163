// SPDX-License-Identifier: Apache-2.0
// The exec floor's calls of the CUDA runtime.
#include "exec/cuda/runtime.hpp"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>
#include <pthread.h>

#include "warren/core/error.hpp"
#include "warren/exec/cuda_check.hpp"

#include "exec/why_no_gpu.hpp"

namespace warren::exec::cuda {

int device_count() noexcept {
  // GPUs neither come nor go while the runtime is there. A process that is forked off has none.
  static std::atomic<int> known{0};
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { known.store(0); });
  if (const int before = known.load(std::memory_order_relaxed); before > 0) return before;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  known.store(count, std::memory_order_relaxed);
  return count;
}

std::string device_model(int index) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  return properties.name;
}

MemoryInfo device_memory(int index) {
  activate(index);
  std::size_t available = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  return {total, available};
}

namespace {
int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, which, index), "cudaDeviceGetAttribute");
  return value;
}
}  // namespace

int multiprocessors(int index) { return attribute(cudaDevAttrMultiProcessorCount, index); }

bool limits_kernel_time(int index) { return attribute(cudaDevAttrKernelExecTimeout, index) != 0; }

int capability(int index) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, index) +
         attribute(cudaDevAttrComputeCapabilityMinor, index);
}

GpuLimits limits(int index) {
  const auto ask = [&](cudaDeviceAttr which) {
    return static_cast<std::uint32_t>(attribute(which, index));
  };
  // What no attribute tells is the table's.
  GpuLimits found = limits_of(capability(index));
  found.threads = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  found.blocks = ask(cudaDevAttrMaxBlocksPerMultiprocessor);
  found.registers = ask(cudaDevAttrMaxRegistersPerMultiprocessor);
  found.shared_bytes = ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  found.reserved_bytes = ask(cudaDevAttrReservedSharedMemoryPerBlock);
  found.shared_block_bytes = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return found;
}

std::string why_no_device() {
  int count = 0;
  int driver = 0;
  int toolkit = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  (void)cudaGetLastError();
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&toolkit) != cudaSuccess) toolkit = 0;
  return why_no_gpu({.error = status,
                     .error_name = cudaGetErrorName(status),
                     .driver = driver,
                     .toolkit = toolkit,
                     .visible = std::getenv("CUDA_VISIBLE_DEVICES")});
}

void activate(int index) { cuda_check(cudaSetDevice(index), "cudaSetDevice"); }

void synchronize_device(int index) {
  activate(index);
  cuda_check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void settle_device(int index) noexcept {
  if (cudaSetDevice(index) == cudaSuccess) (void)cudaDeviceSynchronize();
}

int current_device() noexcept {
  int index = -1;
  return cudaGetDevice(&index) == cudaSuccess ? index : -1;
}

void set_current_device(int index) noexcept {
  if (index >= 0 && current_device() != index) (void)cudaSetDevice(index);
}

std::string runtime_version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? cuda_version(version) : "";
}

std::string driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? cuda_version(version) : "";
}

void* allocate_device(int index, std::uint64_t bytes) {
  activate(index);
  void* pointer = nullptr;
  const cudaError_t status = cudaMalloc(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  cuda_check(status, "cudaMalloc");
  return pointer;
}

void free_device(int index, void* pointer) noexcept {
  (void)cudaSetDevice(index);
  (void)cudaFree(pointer);
}

void* allocate_pinned(std::uint64_t bytes) {
  void* pointer = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  cuda_check(status, "cudaHostAlloc");
  return pointer;
}

void free_pinned(void* pointer) noexcept { (void)cudaFreeHost(pointer); }

bool pin(void* pointer, std::uint64_t bytes) {
  const cudaError_t status =
      cudaHostRegister(pointer, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return false;
  }
  cuda_check(status, "cudaHostRegister");
  return true;
}

void unpin(void* pointer) noexcept { (void)cudaHostUnregister(pointer); }

int gpu_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  cuda_check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
  const bool is_on_gpu =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return is_on_gpu ? attributes.device : -1;
}

bool has_managed_memory(int index) {
  int is_concurrent = 0;
  cuda_check(cudaDeviceGetAttribute(&is_concurrent, cudaDevAttrConcurrentManagedAccess, index),
             "cudaDeviceGetAttribute");
  return is_concurrent != 0;
}

void* allocate_managed(int index, std::uint64_t bytes) {
  activate(index);
  void* pointer = nullptr;
  const cudaError_t status = cudaMallocManaged(&pointer, bytes, cudaMemAttachGlobal);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  cuda_check(status, "cudaMallocManaged");
  return pointer;
}

void advise_read_mostly(int index, void* pointer, std::uint64_t bytes, bool is_read_mostly) {
  activate(index);
  const auto advice = is_read_mostly ? cudaMemAdviseSetReadMostly : cudaMemAdviseUnsetReadMostly;
#if CUDART_VERSION >= 13000
  cuda_check(cudaMemAdvise(pointer, bytes, advice, {cudaMemLocationTypeDevice, index}),
             "cudaMemAdvise");
#else
  cuda_check(cudaMemAdvise(pointer, bytes, advice, index), "cudaMemAdvise");
#endif
}

void prefetch_to_host(int index, void* stream, void* pointer, std::uint64_t bytes) {
  activate(index);
  const auto native = static_cast<cudaStream_t>(stream);
#if CUDART_VERSION >= 13000
  cuda_check(cudaMemPrefetchAsync(pointer, bytes, {cudaMemLocationTypeHost, 0}, 0, native),
             "cudaMemPrefetchAsync");
#else
  cuda_check(cudaMemPrefetchAsync(pointer, bytes, cudaCpuDeviceId, native), "cudaMemPrefetchAsync");
#endif
}

void copy(int index, void* stream, void* target, const void* source, std::uint64_t bytes) {
  activate(index);
  cuda_check(
      cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)),
      "cudaMemcpyAsync");
}

void fill_bytes(int index, void* stream, void* target, int value, std::uint64_t bytes) {
  activate(index);
  cuda_check(cudaMemsetAsync(target, value, bytes, static_cast<cudaStream_t>(stream)),
             "cudaMemsetAsync");
}

std::shared_ptr<void> make_stream(int index, bool is_urgent) {
  activate(index);
  cudaStream_t stream = nullptr;
  int least = 0;
  int greatest = 0;
  cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
             "cudaDeviceGetStreamPriorityRange");
  cuda_check(
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, is_urgent ? greatest : least),
      "cudaStreamCreateWithPriority");
  return {stream, [](void* s) { (void)cudaStreamDestroy(static_cast<cudaStream_t>(s)); }};
}

void synchronize_stream(int index, void* stream) {
  activate(index);
  cuda_check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
}

std::shared_ptr<void> make_event(int index) {
  activate(index);
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreate(&event), "cudaEventCreate");
  return {event, [](void* e) { (void)cudaEventDestroy(static_cast<cudaEvent_t>(e)); }};
}

void record_event(int index, void* event, void* stream) {
  activate(index);
  cuda_check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)),
             "cudaEventRecord");
}

void wait_event(int index, void* stream, void* event) {
  activate(index);
  cuda_check(
      cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event)),
      "cudaStreamWaitEvent");
}

void wait_stream(int index, void* stream, int other_index, void* other) {
  auto* const native = static_cast<cudaStream_t>(other);
  activate(other_index);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t asked = cudaStreamIsCapturing(native, &capture);
  if (asked == cudaErrorStreamCaptureImplicit) (void)cudaGetLastError();
  require(asked != cudaErrorStreamCaptureImplicit && capture == cudaStreamCaptureStatusNone,
          "the stream of an array on a GPU is being captured: calls wait for their results, which "
          "no captured work does; call outside of the capture");
  cuda_check(asked, "cudaStreamIsCapturing");
  const std::shared_ptr<void> event = make_event(other_index);
  record_event(other_index, event.get(), other);
  wait_event(index, stream, event.get());
}

void synchronize_event(void* event) {
  cuda_check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "cudaEventSynchronize");
}

double event_seconds(void* earlier, void* later) {
  float milliseconds = 0.0f;
  cuda_check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(earlier),
                                  static_cast<cudaEvent_t>(later)),
             "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

void record_time(int index, void* event, void* stream) {
  activate(index);
  auto* const native = static_cast<cudaStream_t>(stream);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda_check(cudaStreamIsCapturing(native, &status), "cudaStreamIsCapturing");
  const unsigned flags =
      status == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
  cuda_check(cudaEventRecordWithFlags(static_cast<cudaEvent_t>(event), native, flags),
             "cudaEventRecordWithFlags");
}

void begin_capture(int index, void* stream) {
  activate(index);
  // Other threads go on with other streams meanwhile.
  cuda_check(
      cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeThreadLocal),
      "cudaStreamBeginCapture");
}

void abandon_capture(void* stream) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph) == cudaSuccess)
    (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
}

std::shared_ptr<void> end_capture(int index, void* stream) {
  activate(index);
  cudaGraph_t graph = nullptr;
  cuda_check(cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph),
             "cudaStreamEndCapture");
  cudaGraphExec_t work = nullptr;
  // Copies beside a large kernel keep their streams' priority.
  const cudaError_t made =
      cudaGraphInstantiateWithFlags(&work, graph, cudaGraphInstantiateFlagUseNodePriority);
  (void)cudaGraphDestroy(graph);
  cuda_check(made, "cudaGraphInstantiateWithFlags");
  return {work, [](void* w) { (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(w)); }};
}

void run_captured(int index, void* stream, void* work) {
  activate(index);
  cuda_check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(work), static_cast<cudaStream_t>(stream)),
             "cudaGraphLaunch");
}

}  // namespace warren::exec::cuda
