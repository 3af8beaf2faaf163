// SPDX-License-Identifier: Apache-2.0
// The causes that the CUDA runtime's error codes have where there should be a GPU.
#include "exec/why_no_gpu.hpp"

#include <string_view>

#include <fmt/format.h>

#include "warren/core/printable.hpp"

namespace warren::exec {
namespace {

/// Of cudaError_t, which a build without CUDA does not know.
enum CudaError : int {
  kMemoryAllocation = 2,
  kInitialization = 3,
  kStubLibrary = 34,
  kInsufficientDriver = 35,
  kDevicesUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kOperatingSystem = 304,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kUnknown = 999
};

std::string none_visible(const char* visible) {
  if (visible == nullptr)
    return "the NVIDIA driver finds no GPU (nvidia-smi says more); choose the CPU: device cpu";
  const std::string_view names = visible;
  if (names.find_first_not_of(" ,") == std::string_view::npos) {
    return "CUDA_VISIBLE_DEVICES is set and names no GPU, which hides all of them: unset it, or "
           "give numbers such as 0,1";
  }
  if (names.starts_with("MIG-")) {
    return fmt::format(
        "CUDA_VISIBLE_DEVICES=\"{}\" names no MIG slice that is here: give a whole name of those "
        "that nvidia-smi -L lists, one slice for a process",
        printable(names));
  }
  return fmt::format(
      "CUDA_VISIBLE_DEVICES=\"{}\" begins with no GPU that is here: nvidia-smi -L lists them, "
      "numbered from 0",
      printable(names));
}

}  // namespace

std::string cuda_version(int version) {
  return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_no_gpu(const NoGpu& found) {
  switch (found.error) {
    case kStubLibrary:
      return "libcuda.so.1 is the toolkit's stub, not the driver's: take its folder out of "
             "LD_LIBRARY_PATH";
    case kInsufficientDriver:
      if (found.driver == 0) break;
      return fmt::format(
          "the NVIDIA driver is for CUDA {} and this was built with {}: install a newer driver, or "
          "build with a toolkit that is no newer than the driver",
          cuda_version(found.driver), cuda_version(found.toolkit));
    case kNoDevice:
    case kInvalidDevice:
      return none_visible(found.visible);
    case kMemoryAllocation:
    case kDevicesUnavailable:
      return fmt::format(
          "the GPUs are taken by other processes ({}; nvidia-smi names them): wait for these, or "
          "choose the CPU: device cpu",
          found.error_name);
    case kSystemNotReady:
      return "the machine's NVSwitch is not ready: start nvidia-fabricmanager, of the driver's "
             "version";
    case kSystemDriverMismatch:
      return "the NVIDIA driver's library and its kernel module are of different versions: restart "
             "the machine, or the container";
    case kCompatNotSupported:
      return "this GPU does not take the compatibility package of a newer CUDA: install a newer "
             "driver";
    case kInitialization:
    case kOperatingSystem:
    case kUnknown:
      if (found.driver == 0) break;
      return fmt::format(
          "the NVIDIA driver could not be started ({}): nvidia-smi may say why; restart the "
          "machine, or the container with its GPUs",
          found.error_name);
    default:
      if (found.driver == 0) break;
      return fmt::format("the CUDA runtime could not be started ({}); choose the CPU: device cpu",
                         found.error_name);
  }
  return "there is no NVIDIA driver (libcuda.so.1): install it, give a container its GPUs "
         "(docker run --gpus all), or choose the CPU: device cpu";
}

}  // namespace warren::exec
