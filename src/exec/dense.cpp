// SPDX-License-Identifier: Apache-2.0
// The front of dense products, and those of the CPU: OpenBLAS does parts with one thread each,
// which our own threads share out, so that there is one set of threads and it is visible to the
// thread sanitizer.
#include "warren/exec/dense.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include <cblas.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/exec/dry_run.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/memory.hpp"

#include "exec/blas_buffers.hpp"
#include "exec/blas_workspace.hpp"

#if WARREN_HAS_CUDA
#include "exec/cuda/blas.hpp"
#endif

namespace warren::exec {
namespace {

constexpr std::uint64_t kMostSize = std::numeric_limits<int>::max();
// Below, a part is not worth a thread.
constexpr std::uint64_t kSmallPart = std::uint64_t{1} << 15;
// Products of a part after which the call may be ended: hundredths of a second.
constexpr std::uint64_t kLeastPiece = 256;  // Rows or terms: OpenBLAS packs operands for each.
constexpr std::uint64_t kMostProducts = std::uint64_t{1} << 29;

/// Keeps OpenBLAS from starting threads as the program is loaded. Runs before its own constructor,
/// which this file brings in.
[[gnu::constructor(101)]] void start_no_threads() { (void)setenv("OPENBLAS_NUM_THREADS", "1", 0); }

void one_thread_each() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

void sgemm(const DenseShape& s, std::uint64_t rows, std::uint64_t terms, float alpha,
           const float* a, const float* b, float beta, float* c) {
  const auto lda = static_cast<int>(std::max<std::uint64_t>(1, s.transpose_a ? s.m : s.k));
  const auto ldb = static_cast<int>(std::max<std::uint64_t>(1, s.transpose_b ? s.k : s.n));
  cblas_sgemm(CblasRowMajor, s.transpose_a ? CblasTrans : CblasNoTrans,
              s.transpose_b ? CblasTrans : CblasNoTrans, static_cast<int>(rows),
              static_cast<int>(s.n), static_cast<int>(terms), alpha, a, lda, b, ldb, beta, c,
              static_cast<int>(s.n));
}

/// f(begin, end) for [begin, end) cut so that a piece has kMostProducts, at `products` each.
template <class F>
void in_pieces_of(std::uint64_t begin, std::uint64_t end, std::uint64_t products, F&& f) {
  in_pieces(begin, end, std::max(kLeastPiece, kMostProducts / products), f);
}

/// Each thread has its rows of C.
void by_rows(ThreadPool& pool, const DenseShape& s, float alpha, const float* a, const float* b,
             float beta, float* c, std::uint64_t parts) {
  pool.parallel_for(0, parts, 1, [&](std::uint64_t p, std::uint64_t) {
    const std::uint64_t begin = s.m * p / parts;
    const std::uint64_t end = s.m * (p + 1) / parts;
    in_pieces_of(begin, end, s.n * s.k, [&](std::uint64_t first, std::uint64_t last) {
      sgemm(s, last - first, s.k, alpha, a + (s.transpose_a ? first : first * s.k), b, beta,
            c + first * s.n);
    });
  });
}

/// Each thread has its terms of every sum: for a small C of long operands (gradients of weights).
void by_terms(ThreadPool& pool, const DenseShape& s, float alpha, const float* a, const float* b,
              float beta, float* c, std::uint64_t parts) {
  const std::uint64_t size = s.m * s.n;
  std::vector<float> partial((parts - 1) * size);
  pool.parallel_for(0, parts, 1, [&](std::uint64_t p, std::uint64_t) {
    const std::uint64_t begin = s.k * p / parts;
    const std::uint64_t end = s.k * (p + 1) / parts;
    in_pieces_of(begin, end, size, [&](std::uint64_t first, std::uint64_t last) {
      const float kept = first != begin ? 1.0f : p == 0 ? beta : 0.0f;
      sgemm(s, s.m, last - first, alpha, a + (s.transpose_a ? first * s.m : first),
            b + (s.transpose_b ? first : first * s.n), kept,
            p == 0 ? c : partial.data() + (p - 1) * size);
    });
  });
  for (std::uint64_t p = 1; p < parts; ++p) {
    const float* from = partial.data() + (p - 1) * size;
    for (std::uint64_t i = 0; i < size; ++i) c[i] += from[i];
  }
}

void multiply_on_cpu(ThreadPool& pool, const DenseShape& s, float alpha, const float* a,
                     const float* b, float beta, float* c) {
  one_thread_each();
  const auto threads = static_cast<std::uint64_t>(pool.size());
  const std::uint64_t most = std::clamp<std::uint64_t>(s.m * s.n * s.k / kSmallPart, 1, threads);
  const BlasBuffers buffers(most);
  if (s.k > 4 * s.m && s.k >= most) return by_terms(pool, s, alpha, a, b, beta, c, most);
  by_rows(pool, s, alpha, a, b, beta, c, std::min(most, s.m));
}

// Rows that are widened to float at a time: few enough that they stay in a core's cache.
constexpr std::uint64_t kBlock = 128;

template <class T>
void widen(const T* from, std::uint64_t size, float* to) {
  for (std::uint64_t i = 0; i < size; ++i) to[i] = to_float(from[i]);
}

/// c = sums + beta c.
template <class C>
void put(const float* sums, std::uint64_t size, float beta, C* c) {
  if (beta == 0.0f) {
    for (std::uint64_t i = 0; i < size; ++i) c[i] = from_float<C>(sums[i]);
    return;
  }
  for (std::uint64_t i = 0; i < size; ++i) c[i] = from_float<C>(sums[i] + beta * to_float(c[i]));
}

/// Of 16 bits, each thread its rows of C.
template <class T, class C>
void narrow_by_rows(ThreadPool& pool, const DenseShape& s, float alpha, const T* a, const float* b,
                    float beta, C* c, std::uint64_t parts) {
  pool.parallel_for(0, parts, 1, [&](std::uint64_t p, std::uint64_t) {
    const std::uint64_t end = s.m * (p + 1) / parts;
    std::vector<float> wide(kBlock * s.k);
    std::vector<float> sums(kBlock * s.n);
    for (std::uint64_t r = s.m * p / parts; r < end; r += kBlock) {
      interrupt_point();
      const std::uint64_t rows = std::min(kBlock, end - r);
      widen(a + r * s.k, rows * s.k, wide.data());
      sgemm(s, rows, s.k, alpha, wide.data(), b, 0.0f, sums.data());
      put(sums.data(), rows * s.n, beta, c + r * s.n);
    }
  });
}

/// Of 16 bits, op(A) of long columns times B: each thread its terms.
template <class T, class C>
void narrow_by_terms(ThreadPool& pool, const DenseShape& s, float alpha, const T* a, const T* b,
                     float beta, C* c, std::uint64_t parts) {
  const std::uint64_t size = s.m * s.n;
  std::vector<float> partial(parts * size);
  pool.parallel_for(0, parts, 1, [&](std::uint64_t p, std::uint64_t) {
    const std::uint64_t end = s.k * (p + 1) / parts;
    std::vector<float> wide_a(kBlock * s.m);
    std::vector<float> wide_b(kBlock * s.n);
    for (std::uint64_t t = s.k * p / parts; t < end; t += kBlock) {
      interrupt_point();
      const std::uint64_t terms = std::min(kBlock, end - t);
      widen(a + t * s.m, terms * s.m, wide_a.data());
      widen(b + t * s.n, terms * s.n, wide_b.data());
      sgemm(s, s.m, terms, alpha, wide_a.data(), wide_b.data(), 1.0f, partial.data() + p * size);
    }
  });
  for (std::uint64_t p = 1; p < parts; ++p) {
    for (std::uint64_t i = 0; i < size; ++i) partial[i] += partial[p * size + i];
  }
  put(partial.data(), size, beta, c);
}

template <class T, class C>
void multiply_on_cpu(ThreadPool& pool, const DenseShape& s, float alpha, const T* a, const T* b,
                     float beta, C* c) {
  one_thread_each();
  const auto threads = static_cast<std::uint64_t>(pool.size());
  const std::uint64_t most = std::clamp<std::uint64_t>(s.m * s.n * s.k / kSmallPart, 1, threads);
  if (s.transpose_a && !s.transpose_b) {
    const BlasBuffers buffers(most);
    return narrow_by_terms(pool, s, alpha, a, b, beta, c, std::min(most, s.k));
  }
  std::vector<float> wide_b(s.k * s.n);
  widen(b, wide_b.size(), wide_b.data());
  if (!s.transpose_a) {
    const BlasBuffers buffers(most);
    return narrow_by_rows(pool, s, alpha, a, wide_b.data(), beta, c, std::min(most, s.m));
  }
  std::vector<float> wide_a(s.m * s.k);
  std::vector<float> sums(s.m * s.n);
  widen(a, wide_a.size(), wide_a.data());
  multiply_on_cpu(pool, s, alpha, wide_a.data(), wide_b.data(), 0.0f, sums.data());
  put(sums.data(), sums.size(), beta, c);
}

}  // namespace

struct DenseProducts::Library {
  explicit Library(const Device& device) : on(device) {}
  ~Library() { deallocate(on, MemoryKind::device, dry_workspace, kBlasWorkspace); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Device on;
  void* dry_workspace = nullptr;  // Of a dry run for a GPU.
#if WARREN_HAS_CUDA
  std::optional<cuda::Blas> blas;
#endif
};

DenseProducts::DenseProducts(const Device& device, const DenseOptions& options)
    : device_(device), options_(options) {
  if (!sizes_of(device).is_cuda()) return;
  library_ = std::make_unique<Library>(device);
#if WARREN_HAS_CUDA
  if (device.is_cuda()) {
    library_->blas.emplace(device, options.allow_tf32);
    return;
  }
#endif
  library_->dry_workspace = allocate(device, MemoryKind::device, kBlasWorkspace);
}

DenseProducts::~DenseProducts() = default;

template <class T, class C>
void DenseProducts::multiply(const Stream& stream, const DenseShape& shape, const T* a, const T* b,
                             C* c, float alpha, float beta) {
  if (DryRun::current() != nullptr && !device_.is_cuda()) return;
  require(stream.device() == device_, "a dense product on another device than its own");
  require(shape.m <= kMostSize && shape.n <= kMostSize && shape.k <= kMostSize,
          "a dense product's sizes must be below 2^31");
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) {
    require(beta == 0.0f || beta == 1.0f, "an empty sum is added to C with beta 0 or 1");
    if (beta == 0.0f) fill_bytes(stream, c, 0, shape.m * shape.n * sizeof(C));
    return;
  }
#if WARREN_HAS_CUDA
  if (device_.is_cuda())
    return library_->blas->multiply(stream, shape, {cuda::blas_type<T>(), cuda::blas_type<C>()}, a,
                                    b, c, alpha, beta);
#endif
  multiply_on_cpu(device_.pool(), shape, alpha, a, b, beta, c);
}

template void DenseProducts::multiply(const Stream&, const DenseShape&, const float*, const float*,
                                      float*, float, float);
template void DenseProducts::multiply(const Stream&, const DenseShape&, const Half*, const Half*,
                                      Half*, float, float);
template void DenseProducts::multiply(const Stream&, const DenseShape&, const BFloat16*,
                                      const BFloat16*, BFloat16*, float, float);
template void DenseProducts::multiply(const Stream&, const DenseShape&, const Half*, const Half*,
                                      float*, float, float);
template void DenseProducts::multiply(const Stream&, const DenseShape&, const BFloat16*,
                                      const BFloat16*, float*, float, float);

}  // namespace warren::exec
