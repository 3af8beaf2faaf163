// SPDX-License-Identifier: Apache-2.0
// The table of compute capabilities, the arithmetic of occupancy against values of NVIDIA's
// calculator, the limit of the environment, and what is said of GPUs that cannot be used.
#include "warren/exec/capability.hpp"

#include <cstdlib>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if WARREN_HAS_CUDA
#include <cuda_occupancy.h>
#include <cuda_runtime_api.h>
#endif

#include "warren/core/error.hpp"

#include "exec/why_no_gpu.hpp"

namespace warren::exec {
namespace {

using ::testing::HasSubstr;

TEST(Capability, FeaturesBeginWhereTheHardwareHasThem) {
  EXPECT_FALSE(features_of(75).has_copies_behind);
  EXPECT_TRUE(features_of(80).has_copies_behind);
  EXPECT_TRUE(features_of(80).has_bfloat16_products);
  EXPECT_FALSE(features_of(89).has_clusters);
  EXPECT_FALSE(features_of(89).has_vector_reductions);
  EXPECT_TRUE(features_of(90).has_clusters);
  EXPECT_TRUE(features_of(120).has_vector_reductions);
}

TEST(Capability, LimitsAreTheListedOnes) {
  EXPECT_EQ(limits_of(75).shared_block_bytes, 64u * 1024);
  EXPECT_EQ(limits_of(80).shared_block_bytes, 163u * 1024);
  EXPECT_EQ(limits_of(86).shared_block_bytes, 99u * 1024);
  EXPECT_EQ(limits_of(89).threads, 1536u);
  EXPECT_EQ(limits_of(90).shared_bytes, 228u * 1024);
  EXPECT_EQ(limits_of(121).shared_bytes, limits_of(120).shared_bytes);
  EXPECT_THROW((void)limits_of(70), UsageError);
  EXPECT_EQ(smaller(limits_of(90), limits_of(86)).threads, 1536u);
  EXPECT_EQ(smaller(limits_of(75), limits_of(90)).shared_block_bytes, 64u * 1024);
}

struct Resident {
  int capability;
  BlockNeeds needs;
  std::uint32_t expected;
};

// Each is bound by something else: threads, registers, shared memory, blocks.
TEST(Capability, ResidentBlocksAreThoseOfTheCalculator) {
  constexpr std::uint64_t kKiB = 1024;
  for (const Resident& row : {
           Resident{80, {256, 32, 0}, 8},          Resident{75, {256, 32, 0}, 4},
           Resident{86, {256, 32, 0}, 6},          Resident{90, {512, 64, 0}, 2},
           Resident{90, {512, 65, 0}, 1},          Resident{90, {1024, 64, 0}, 1},
           Resident{90, {1024, 65, 0}, 0},         Resident{90, {256, 255, 0}, 1},
           Resident{80, {320, 96, 0}, 2},          Resident{90, {32, 16, 0}, 32},
           Resident{75, {32, 16, 0}, 16},          Resident{75, {512, 64, 32 * kKiB}, 2},
           Resident{75, {512, 64, 33 * kKiB}, 1},  Resident{86, {128, 32, 49 * kKiB}, 2},
           Resident{86, {128, 32, 50 * kKiB}, 1},  Resident{86, {128, 32, 99 * kKiB}, 1},
           Resident{86, {128, 32, 100 * kKiB}, 0}, Resident{80, {128, 32, 81 * kKiB}, 2},
           Resident{90, {96, 40, 0}, 16},          Resident{90, {2048, 16, 0}, 0},
       }) {
    EXPECT_EQ(resident_blocks(limits_of(row.capability), row.needs), row.expected)
        << row.capability << ": " << row.needs.threads << " threads, " << row.needs.registers
        << " registers, " << row.needs.shared_bytes << " bytes";
  }
}

#if WARREN_HAS_CUDA
// The toolkit's own arithmetic, of a header that needs no GPU.
TEST(Capability, ResidentBlocksAreThoseOfTheToolkit) {
  std::mt19937 random(1);
  for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
    const GpuLimits limits = limits_of(capability);
    cudaOccDeviceProp device{};
    device.computeMajor = capability / 10;
    device.computeMinor = capability % 10;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = static_cast<int>(limits.threads);
    device.regsPerBlock = device.regsPerMultiprocessor = static_cast<int>(limits.registers);
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = limits.shared_bytes;
    device.numSms = 100;
    device.sharedMemPerBlockOptin = limits.shared_block_bytes;
    device.reservedSharedMemPerBlock = limits.reserved_bytes;
    for (int i = 0; i < 2000; ++i) {
      const BlockNeeds needs{.threads = 1 + static_cast<std::uint32_t>(random() % 1024),
                             .registers = 16 + static_cast<std::uint32_t>(random() % 240),
                             .shared_bytes = random() % (limits.shared_block_bytes + 1)};
      cudaOccFuncAttributes kernel{};
      kernel.maxThreadsPerBlock = 1024;
      kernel.numRegs = static_cast<int>(needs.registers);
      kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
      kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
      kernel.maxDynamicSharedSizeBytes = limits.shared_block_bytes;
      kernel.numBlockBarriers = 1;
      const cudaOccDeviceState state{};
      cudaOccResult found{};
      ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&found, &device, &kernel, &state,
                                                        static_cast<int>(needs.threads),
                                                        needs.shared_bytes),
                CUDA_OCC_SUCCESS);
      ASSERT_EQ(resident_blocks(limits, needs),
                static_cast<std::uint32_t>(found.activeBlocksPerMultiprocessor))
          << capability << ": " << needs.threads << " threads, " << needs.registers
          << " registers, " << needs.shared_bytes << " bytes";
    }
  }
}
#endif

class Limit : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("WARREN_LIMIT_CAPABILITY"); }
  static void set(const char* text) { setenv("WARREN_LIMIT_CAPABILITY", text, 1); }
};

TEST_F(Limit, IsTheEnvironments) {
  EXPECT_EQ(limited(90), 90);
  set("80");
  EXPECT_EQ(limited(90), 80);
  EXPECT_EQ(limited(75), 75);
  set("12.0");
  EXPECT_EQ(capability_limit(), 120);
  set("");
  EXPECT_EQ(limited(120), 120);
}

TEST_F(Limit, RefusesWhatIsNoCapability) {
  for (const char* text : {"ampere", "7", "70", "8.00", "80x", "-80", "8.", "99999999999"}) {
    set(text);
    try {
      (void)capability_limit();
      ADD_FAILURE() << text << " was taken";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("WARREN_LIMIT_CAPABILITY: got \"") + text));
    }
  }
}

TEST(TooOld, NamesTheGpuAndWhatItWouldNeed) {
  EXPECT_EQ(why_too_old("gpu", 90, "90"), "");
  EXPECT_EQ(why_too_old("gpu", 120, "90"), "") << "the driver compiles PTX";
  EXPECT_EQ(why_too_old("gpu", 86, "80-real"), "") << "a binary of the same generation";
  EXPECT_EQ(why_too_old("gpu", 75, "75-real,80-real,120"), "");
  EXPECT_EQ(why_too_old("gpu", 80, "native"), "");
  EXPECT_THAT(why_too_old("cuda:0 (NVIDIA A100)", 80, "90"),
              ::testing::AllOf(HasSubstr("cuda:0 (NVIDIA A100) has compute capability 8.0"),
                               HasSubstr("kernels for 9.0 alone"),
                               HasSubstr("-DWARREN_CUDA_ARCHITECTURES=80")));
  EXPECT_THAT(why_too_old("gpu", 90, "80-real"), HasSubstr("kernels for 8.0 alone"));
  EXPECT_THAT(why_too_old("gpu", 80, "86-virtual"), HasSubstr("kernels for 8.6 alone"));
  EXPECT_THAT(why_too_old("Tesla V100", 70, "75"), HasSubstr("kernels need 7.5 or later"));
}

struct Cause {
  NoGpu found;
  const char* expected;
};

TEST(WhyNoGpu, NamesTheCauseInOneLine) {
  for (const Cause& cause : {
           Cause{{35, "cudaErrorInsufficientDriver", 0, 13000, nullptr}, "no NVIDIA driver"},
           Cause{{35, "cudaErrorInsufficientDriver", 12040, 13000, nullptr},
                 "driver is for CUDA 12.4 and this was built with 13.0"},
           Cause{{34, "cudaErrorStubLibrary", 0, 13000, nullptr}, "toolkit's stub"},
           Cause{{100, "cudaErrorNoDevice", 13000, 13000, nullptr}, "driver finds no GPU"},
           Cause{{100, "cudaErrorNoDevice", 13000, 13000, ""}, "CUDA_VISIBLE_DEVICES is set and"},
           Cause{{100, "cudaErrorNoDevice", 13000, 13000, "7"},
                 "CUDA_VISIBLE_DEVICES=\"7\" begins with no GPU"},
           Cause{{100, "cudaErrorNoDevice", 13000, 13000, "MIG-3eb"},
                 "CUDA_VISIBLE_DEVICES=\"MIG-3eb\" names no MIG slice"},
           Cause{{101, "cudaErrorInvalidDevice", 13000, 13000, "a\nb"}, "=\"a\\nb\""},
           Cause{{46, "cudaErrorDevicesUnavailable", 13000, 13000, nullptr}, "other processes"},
           Cause{{802, "cudaErrorSystemNotReady", 13000, 13000, nullptr}, "nvidia-fabricmanager"},
           Cause{{803, "cudaErrorSystemDriverMismatch", 13000, 13000, nullptr}, "different"},
           Cause{{804, "cudaErrorCompatNotSupportedOnDevice", 13000, 13000, nullptr}, "compat"},
           Cause{{999, "cudaErrorUnknown", 13000, 13000, nullptr}, "(cudaErrorUnknown)"},
           Cause{{777, "cudaErrorOfLater", 13000, 13000, nullptr}, "(cudaErrorOfLater)"},
       }) {
    const std::string said = why_no_gpu(cause.found);
    EXPECT_THAT(said, HasSubstr(cause.expected)) << cause.found.error_name;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace warren::exec
