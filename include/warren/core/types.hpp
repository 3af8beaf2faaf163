// SPDX-License-Identifier: Apache-2.0
// The integer types of a graph. Vertex ids are 32-bit (up to 2^32 - 1 vertices, the last value
// being kNoVertex), edge offsets are 64-bit everywhere, and products of sizes are computed in 64
// bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warren {

using Vertex = std::uint32_t;
using EdgeOffset = std::uint64_t;

/// Marks "no vertex": an unreached vertex's parent, an unreached vertex's depth.
inline constexpr Vertex kNoVertex = 0xffffffffu;
/// Largest number of vertices that a graph can have: every id must differ from kNoVertex.
inline constexpr std::uint64_t kMaxVertices = 0xffffffffull;
/// Most ranks in one team: bounds the pointer tables that kernels carry.
inline constexpr int kMaxRanks = 32;

}  // namespace warren

// Marks functions that both the host compiler and nvcc's device pass compile.
#if defined(__CUDACC__)
#define WARREN_HD __host__ __device__
#else
#define WARREN_HD
#endif

// Before a loop whose arrays must live in a GPU thread's registers.
#if defined(__CUDA_ARCH__)
#define WARREN_UNROLL _Pragma("unroll")
#else
#define WARREN_UNROLL
#endif

// Before a loop of few rounds or that few come to, which a GPU's compiler would write out.
#if defined(__CUDA_ARCH__)
#define WARREN_ROLLED _Pragma("unroll 1")
#else
#define WARREN_ROLLED
#endif

// Functions of many statements that a kernel calls in several places: one copy keeps kernels small.
#if defined(__CUDA_ARCH__)
#define WARREN_GPU_NOINLINE __noinline__
#else
#define WARREN_GPU_NOINLINE
#endif
