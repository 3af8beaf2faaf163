// SPDX-License-Identifier: Apache-2.0
// cuBLASLt numbers matrices by columns: C = A B by rows is C^T = B^T A^T by columns, so the
// operands change places. The library's choice of an algorithm is kept.
#include "exec/cuda/blas.hpp"

#include <bit>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/shared_library.hpp"

#include "exec/blas_workspace.hpp"

namespace warren::exec::cuda {
namespace {

constexpr std::uint64_t kWorkspace = kBlasWorkspace;
constexpr std::uint64_t kTurned = std::uint64_t{4} << 20;

struct Functions {
  decltype(&::cublasLtCreate) create = nullptr;
  decltype(&::cublasLtDestroy) destroy = nullptr;
  decltype(&::cublasLtMatmul) matmul = nullptr;
  decltype(&::cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&::cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&::cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&::cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&::cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&::cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&::cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&::cublasLtMatrixTransform) transform = nullptr;
  decltype(&::cublasLtMatrixTransformDescCreate) transform_create = nullptr;
  decltype(&::cublasLtMatrixTransformDescDestroy) transform_destroy = nullptr;
  decltype(&::cublasLtMatrixTransformDescSetAttribute) transform_set = nullptr;
  std::string reason;  // Why it cannot be used; empty when it can.
};

Functions load() {
  Functions lt;
  const std::string name = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
  SharedLibrary library({name, fmt::format("/usr/local/cuda/lib64/{}", name)});
  library.find(lt.create, "cublasLtCreate");
  library.find(lt.destroy, "cublasLtDestroy");
  library.find(lt.matmul, "cublasLtMatmul");
  library.find(lt.desc_create, "cublasLtMatmulDescCreate");
  library.find(lt.desc_destroy, "cublasLtMatmulDescDestroy");
  library.find(lt.desc_set, "cublasLtMatmulDescSetAttribute");
  library.find(lt.layout_create, "cublasLtMatrixLayoutCreate");
  library.find(lt.layout_destroy, "cublasLtMatrixLayoutDestroy");
  library.find(lt.preference_create, "cublasLtMatmulPreferenceCreate");
  library.find(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  library.find(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.find(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.find(lt.transform, "cublasLtMatrixTransform");
  library.find(lt.transform_create, "cublasLtMatrixTransformDescCreate");
  library.find(lt.transform_destroy, "cublasLtMatrixTransformDescDestroy");
  library.find(lt.transform_set, "cublasLtMatrixTransformDescSetAttribute");
  lt.reason = library.reason();
  return lt;
}

const Functions& lt() {
  static const Functions functions = load();
  return functions;
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("{} failed with status {}", call, static_cast<int>(status)));
}

/// Bytes that an address is a multiple of, as far as algorithms care.
std::uint32_t alignment_of(std::uint64_t address) {
  return std::uint32_t{1} << std::min(std::countr_zero(address | 256), 8);
}

/// Whether to multiply by B's columns: tensor cores take TF32 operands by their terms alone, and a
/// B by rows costs the product of many rows two fifths more time than by columns.
bool turns(const DenseShape& s, bool is_tf32) {
  constexpr std::uint64_t kManyRows = 4096;
  return is_tf32 && !s.transpose_a && !s.transpose_b && s.m >= kManyRows &&
         s.n * s.k <= kTurned / sizeof(float);
}

/// To one of eight sizes between powers of two; small ones stay.
std::uint64_t rounded_up(std::uint64_t size) {
  constexpr std::uint64_t kSmall = 4096;
  if (size <= kSmall) return size;
  const std::uint64_t step = std::bit_floor(size) / 8;
  return (size + step - 1) / step * step;
}

}  // namespace

struct Blas::Plan {
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t layout[3] = {};
  cublasLtMatmulAlgo_t algorithm{};

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    for (auto* one : layout) {
      if (one != nullptr) lt().layout_destroy(one);
    }
    if (desc != nullptr) lt().desc_destroy(desc);
  }
};

// TF32 came with tensor cores that take bfloat16.
Blas::Blas(const Device& device, bool allow_tf32)
    : device_(device),
      allow_tf32_(allow_tf32 && features_of(device.capability()).has_bfloat16_products) {
  if (!lt().reason.empty())
    throw DeviceError("dense products on a GPU need cuBLASLt of the CUDA toolkit: " + lt().reason);
  device.activate();
  workspace_ = allocate(device, MemoryKind::device, kWorkspace);
  check(lt().create(&handle_), "cublasLtCreate");
}

Blas::~Blas() {
  plans_.clear();
  if (handle_ != nullptr) lt().destroy(handle_);
  deallocate(device_, MemoryKind::device, turned_, kTurned);
  deallocate(device_, MemoryKind::device, workspace_, kWorkspace);
}

void Blas::lay_out(Plan& plan, const DenseShape& s, const BlasTypes& types) const {
  const bool is_float = types.operands == CUDA_R_32F;
  check(lt().desc_create(
            &plan.desc, is_float && allow_tf32_ ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
            CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  // The library's A is our B, and the other way round.
  const cublasOperation_t first = s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(lt().desc_set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first),
        "cublasLtMatmulDescSetAttribute");
  check(lt().desc_set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second),
        "cublasLtMatmulDescSetAttribute");
  const auto layout = [&](int i, std::uint64_t rows, std::uint64_t columns) {
    check(lt().layout_create(&plan.layout[i], i == 2 ? types.result : types.operands, columns, rows,
                             static_cast<std::int64_t>(columns)),
          "cublasLtMatrixLayoutCreate");
  };
  layout(0, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n);
  layout(1, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k);
  layout(2, s.m, s.n);
}

cublasLtMatmulAlgo_t Blas::choose(const DenseShape& s, const BlasTypes& types,
                                  const Key& key) const {
  Plan plan;
  lay_out(plan, s, types);
  cublasLtMatmulPreference_t preference = nullptr;
  check(lt().preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    lt().preference_set(preference, what, &value, sizeof value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(key[7]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(key[6]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(key[8]));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(key[8]));
  cublasLtMatmulHeuristicResult_t result{};
  int count = 0;
  const cublasStatus_t status =
      lt().heuristic(handle_, plan.desc, plan.layout[0], plan.layout[1], plan.layout[2],
                     plan.layout[2], preference, 1, &result, &count);
  lt().preference_destroy(preference);
  if (types.operands == CUDA_R_16BF && (status == CUBLAS_STATUS_NOT_SUPPORTED || count == 0) &&
      !features_of(device_.capability()).has_bfloat16_products) {
    throw UsageError(
        fmt::format("{} ({}) does not multiply matrices of bfloat16, which needs "
                    "compute capability 8.0: give type float16 or float32",
                    device_.name(), device_.model()));
  }
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (count == 0)
    throw DeviceError(
        fmt::format("cuBLASLt has no way to multiply {} x {} by {} x {}", s.m, s.k, s.k, s.n));
  return result.algo;
}

const Blas::Plan& Blas::plan(const DenseShape& s, const BlasTypes& types, const Key& key) {
  constexpr std::size_t kMostPlans = 1024;
  const auto found = plans_.find(key);
  if (found != plans_.end()) return *found->second;
  if (plans_.size() >= kMostPlans) plans_.clear();
  auto plan = std::make_unique<Plan>();
  lay_out(*plan, s, types);
  // Batches have another shape each: one choice serves all that are nearly as large.
  DenseShape rounded = s;
  Key about = key;
  about[0] = rounded.m = rounded_up(s.m);
  about[2] = rounded.k = rounded_up(s.k);
  auto choice = algorithms_.find(about);
  if (choice == algorithms_.end())
    choice = algorithms_.emplace(about, choose(rounded, types, about)).first;
  plan->algorithm = choice->second;
  return *plans_.emplace(key, std::move(plan)).first->second;
}

const void* Blas::turned(const Stream& stream, const DenseShape& s, const void* b) {
  // By columns, as the library sees them: from n x k to k x n.
  struct Turn {
    cublasLtMatrixTransformDesc_t desc = nullptr;
    cublasLtMatrixLayout_t from = nullptr, to = nullptr;
    ~Turn() {
      if (to != nullptr) lt().layout_destroy(to);
      if (from != nullptr) lt().layout_destroy(from);
      if (desc != nullptr) lt().transform_destroy(desc);
    }
  } turn;
  check(lt().transform_create(&turn.desc, CUDA_R_32F), "cublasLtMatrixTransformDescCreate");
  const cublasOperation_t transpose = CUBLAS_OP_T;
  check(lt().transform_set(turn.desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &transpose,
                           sizeof transpose),
        "cublasLtMatrixTransformDescSetAttribute");
  check(lt().layout_create(&turn.from, CUDA_R_32F, s.n, s.k, static_cast<std::int64_t>(s.n)),
        "cublasLtMatrixLayoutCreate");
  check(lt().layout_create(&turn.to, CUDA_R_32F, s.k, s.n, static_cast<std::int64_t>(s.k)),
        "cublasLtMatrixLayoutCreate");
  if (turned_ == nullptr) turned_ = allocate(device_, MemoryKind::device, kTurned);
  const float one = 1.0f, zero = 0.0f;
  check(lt().transform(handle_, turn.desc, &one, b, turn.from, &zero, nullptr, nullptr, turned_,
                       turn.to, static_cast<cudaStream_t>(stream.native())),
        "cublasLtMatrixTransform");
  return turned_;
}

void Blas::multiply(const Stream& stream, const DenseShape& s, const BlasTypes& types,
                    const void* a, const void* b, void* c, float alpha, float beta) {
  device_.activate();
  if (turns(s, types.operands == CUDA_R_32F && allow_tf32_)) {
    DenseShape by_columns = s;
    by_columns.transpose_b = true;
    return multiply(stream, by_columns, types, a, turned(stream, s, b), c, alpha, beta);
  }
  const auto aligned = [](const void* p) {
    return std::uint64_t{alignment_of(reinterpret_cast<std::uint64_t>(p))};
  };
  const Key key = {s.m,           s.n,
                   s.k,           s.transpose_a,
                   s.transpose_b, static_cast<std::uint64_t>(types.operands),
                   aligned(a),    aligned(b),
                   aligned(c),    static_cast<std::uint64_t>(types.result)};
  const Plan& p = plan(s, types, key);
  const auto run = [&](const cublasLtMatmulAlgo_t& algorithm) {
    return lt().matmul(handle_, p.desc, &alpha, b, p.layout[0], a, p.layout[1], &beta, c,
                       p.layout[2], c, p.layout[2], &algorithm, workspace_, kWorkspace,
                       static_cast<cudaStream_t>(stream.native()));
  };
  cublasStatus_t status = run(p.algorithm);
  // What was chosen for the rounded shape may not do for this one.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
    status = run(choose(s, types, key));
  check(status, "cublasLtMatmul");
}

}  // namespace warren::exec::cuda
