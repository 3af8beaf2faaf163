// SPDX-License-Identifier: Apache-2.0
// SpMM and SDDMM beside cuSPARSE's CSR algorithms, each timed with GPU events around some calls
// after a warm-up, its preparation excluded. Results are compared with each other.
//
//   bench_sparse --graph kron:22 --graph FILE --ks 16,32 --repeat 20 --out FILE
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <CLI/CLI.hpp>
#include <cusparse.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/trace.hpp"
#include "warren/exec/cuda_check.hpp"
#include "warren/exec/half.hpp"
#include "warren/sparse/matrix.hpp"
#include "warren/sparse/sddmm.hpp"
#include "warren/sparse/spmm.hpp"

#include "input_graph.hpp"
#include "report.hpp"

namespace warren::bench {
namespace {

using memory::Buffer;
using nlohmann::json;

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw Error(fmt::format("{}: {}", what, cusparseGetErrorString(status)));
}

graph::Graph load(const std::string& name, exec::ThreadPool& pool) {
  graph::ReadOptions read;
  read.build = {.symmetrize = true, .drop_self_loops = true};
  read.read_weights = false;
  return bench::input_graph(name, read, pool);
}

struct Runs {
  int repeat = 10;
  int calls = 20;
};

/// Median milliseconds of work(), by events around several calls: a device that works on one while
/// the next is launched shows what it takes itself.
template <class F>
double milliseconds(const exec::Stream& stream, const Runs& runs, F&& work) {
  auto* const handle = static_cast<cudaStream_t>(stream.native());
  cudaEvent_t begin = nullptr, end = nullptr;
  exec::cuda_check(cudaEventCreate(&begin), "cudaEventCreate");
  exec::cuda_check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (int run = 0; run <= runs.repeat; ++run) {
    exec::cuda_check(cudaEventRecord(begin, handle), "cudaEventRecord");
    for (int call = 0; call < runs.calls; ++call) work();
    exec::cuda_check(cudaEventRecord(end, handle), "cudaEventRecord");
    exec::cuda_check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float time = 0.0f;
    exec::cuda_check(cudaEventElapsedTime(&time, begin, end), "cudaEventElapsedTime");
    if (run > 0) times.push_back(time / static_cast<float>(runs.calls));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<Half> = CUDA_R_16F;
template <>
constexpr cudaDataType kType<BFloat16> = CUDA_R_16BF;
template <class T>
constexpr const char* kTypeName = "float32";
template <>
constexpr const char* kTypeName<Half> = "float16";
template <>
constexpr const char* kTypeName<BFloat16> = "bfloat16";

class Bench {
 public:
  Bench(const std::string& name, const Runs& runs, const sparse::SpmmOptions& options,
        const sparse::SpmmPlanOptions& plan)
      : name_(name),
        runs_(runs),
        options_(options),
        device_(exec::Device::cuda(0)),
        stream_(device_) {
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, static_cast<cudaStream_t>(stream_.native())),
          "cusparseSetStream");
    auto host = exec::Device::cpu(0);
    graph_ = load(name, host.pool());
    matrix_.emplace(stream_, graph_, sparse::Normalization{}, false);
    const double begin = now_seconds();
    plan_.emplace(stream_, matrix_->offsets(), plan);
    plan_milliseconds_ = (now_seconds() - begin) * 1e3;
    // 32-bit offsets, cuSPARSE's faster form.
    std::vector<std::int32_t> narrow(matrix_->offsets().begin(), matrix_->offsets().end());
    narrow_ = Buffer<std::int32_t>(device_, narrow.size());
    narrow_.upload(stream_, narrow);
    stream_.synchronize();
  }
  ~Bench() { cusparseDestroy(handle_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] double plan_milliseconds() const { return plan_milliseconds_; }
  [[nodiscard]] const graph::Graph& graph() const { return graph_; }

  template <class T>
  json spmm(std::uint64_t k) {
    const std::uint64_t n = graph_.vertices;
    Buffer<T> b = dense<T>(k, 1), c(device_, n * k), other(device_, n * k);
    const double ours = milliseconds(stream_, runs_, [&] {
      sparse::spmm<T>(stream_, matrix_->view(), *plan_, sparse::RowTable<T>(b.data(), k), c.data(),
                      k, k, options_);
    });
    json result{{"operation", "spmm"},
                {"graph", name_},
                {"k", k},
                {"type", kTypeName<T>},
                {"milliseconds", ours}};
    const auto [best, algorithm] = rival_spmm(b, other, k);
    result["cusparse_milliseconds"] = best;
    result["cusparse_algorithm"] = algorithm;
    result["difference"] = difference(c, other);
    return result;
  }

  json sddmm(std::uint64_t k) {
    const std::uint64_t n = graph_.vertices;
    Buffer<float> x = dense<float>(k, 1), y = dense<float>(k, 5);
    Buffer<float> out(device_, matrix_->entries()), other(device_, matrix_->entries());
    const double ours = milliseconds(stream_, runs_, [&] {
      sparse::sddmm<float>(stream_, matrix_->view(), *plan_, x.data(), k, y.data(), k, k,
                           out.data());
    });
    const float one = 1.0f, zero = 0.0f;
    cusparseSpMatDescr_t sampled = sparse_matrix(other.data());
    const cusparseDnMatDescr_t left = dense_matrix(x.data(), n, k);
    cusparseDnMatDescr_t right = nullptr;
    // Y transposed, k x n: row-major Y is it in column-major order.
    check(
        cusparseCreateDnMat(&right, static_cast<std::int64_t>(k), static_cast<std::int64_t>(n),
                            static_cast<std::int64_t>(k), y.data(), CUDA_R_32F, CUSPARSE_ORDER_COL),
        "cusparseCreateDnMat");
    std::size_t bytes = 0;
    constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    check(cusparseSDDMM_bufferSize(handle_, kPlain, kPlain, &one, left, right, &zero, sampled,
                                   CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes),
          "cusparseSDDMM_bufferSize");
    Buffer<std::byte> room(device_, std::max<std::size_t>(bytes, 1));
    check(cusparseSDDMM_preprocess(handle_, kPlain, kPlain, &one, left, right, &zero, sampled,
                                   CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, room.data()),
          "cusparseSDDMM_preprocess");
    const double rival = milliseconds(stream_, runs_, [&] {
      check(cusparseSDDMM(handle_, kPlain, kPlain, &one, left, right, &zero, sampled, CUDA_R_32F,
                          CUSPARSE_SDDMM_ALG_DEFAULT, room.data()),
            "cusparseSDDMM");
    });
    cusparseDestroyDnMat(left);
    cusparseDestroyDnMat(right);
    cusparseDestroySpMat(sampled);
    return {{"operation", "sddmm"},
            {"graph", name_},
            {"k", k},
            {"type", kTypeName<float>},
            {"milliseconds", ours},
            {"cusparse_milliseconds", rival},
            {"cusparse_algorithm", "default"},
            {"difference", difference(out, other)}};
  }

 private:
  template <class T>
  Buffer<T> dense(std::uint64_t k, std::uint64_t salt) {
    Buffer<T> result(device_, graph_.vertices * k);
    std::vector<T> values(std::min<std::size_t>(result.size(), std::size_t{1} << 22));
    for (std::uint64_t i = 0; i < values.size(); ++i)
      values[i] = from_float<T>(static_cast<float>((i * 7 + i / k * salt) % 17) - 8.0f);
    for (std::uint64_t at = 0; at < result.size(); at += values.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(values.size(), result.size() - at);
      exec::copy(stream_, result.data() + at, at == 0 ? values.data() : result.data(),
                 count * sizeof(T));
    }
    stream_.synchronize();
    return result;
  }

  cusparseSpMatDescr_t sparse_matrix(void* values, cudaDataType type = CUDA_R_32F) {
    cusparseSpMatDescr_t result = nullptr;
    const auto n = static_cast<std::int64_t>(graph_.vertices);
    check(cusparseCreateCsr(&result, n, n, static_cast<std::int64_t>(matrix_->entries()),
                            narrow_.data(), const_cast<Vertex*>(matrix_->view().column_ids), values,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
          "cusparseCreateCsr");
    return result;
  }

  template <class T>
  cusparseDnMatDescr_t dense_matrix(T* values, std::uint64_t rows, std::uint64_t columns) {
    cusparseDnMatDescr_t result = nullptr;
    check(cusparseCreateDnMat(
              &result, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
              static_cast<std::int64_t>(columns), values, kType<T>, CUSPARSE_ORDER_ROW),
          "cusparseCreateDnMat");
    return result;
  }

  /// The fastest of cuSPARSE's CSR algorithms.
  template <class T>
  std::pair<double, std::string> rival_spmm(Buffer<T>& b, Buffer<T>& c, std::uint64_t k) {
    const float one = 1.0f, zero = 0.0f;
    Buffer<T> ones(device_, matrix_->entries());
    ones.upload(stream_, std::vector<T>(ones.size(), from_float<T>(1.0f)));
    cusparseSpMatDescr_t a = sparse_matrix(ones.data(), kType<T>);
    const cusparseDnMatDescr_t right = dense_matrix(b.data(), graph_.vertices, k);
    const cusparseDnMatDescr_t result = dense_matrix(c.data(), graph_.vertices, k);
    double best = std::numeric_limits<double>::infinity();
    std::string algorithm;
    constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    for (const auto& [which, name] :
         {std::pair{CUSPARSE_SPMM_CSR_ALG1, "csr 1"}, std::pair{CUSPARSE_SPMM_CSR_ALG2, "csr 2"},
          std::pair{CUSPARSE_SPMM_CSR_ALG3, "csr 3"}}) {
      std::size_t bytes = 0;
      if (cusparseSpMM_bufferSize(handle_, kPlain, kPlain, &one, a, right, &zero, result,
                                  CUDA_R_32F, which, &bytes) != CUSPARSE_STATUS_SUCCESS)
        continue;
      Buffer<std::byte> room(device_, std::max<std::size_t>(bytes, 1));
      (void)cusparseSpMM_preprocess(handle_, kPlain, kPlain, &one, a, right, &zero, result,
                                    CUDA_R_32F, which, room.data());
      const double time = milliseconds(stream_, runs_, [&] {
        check(cusparseSpMM(handle_, kPlain, kPlain, &one, a, right, &zero, result, CUDA_R_32F,
                           which, room.data()),
              "cusparseSpMM");
      });
      if (time < best) {
        best = time;
        algorithm = name;
      }
    }
    cusparseDestroyDnMat(right);
    cusparseDestroyDnMat(result);
    cusparseDestroySpMat(a);
    return {best, algorithm};
  }

  /// Largest difference over the largest value.
  template <class T>
  double difference(const Buffer<T>& ours, const Buffer<T>& theirs) {
    std::vector<T> a(std::min<std::size_t>(ours.size(), std::size_t{1} << 24)), b(a.size());
    exec::copy(stream_, a.data(), ours.data(), a.size() * sizeof(T));
    exec::copy(stream_, b.data(), theirs.data(), a.size() * sizeof(T));
    stream_.synchronize();
    double most = 0.0, largest = 1e-30;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double x = to_float(a[i]);
      most = std::max(most, std::abs(x - static_cast<double>(to_float(b[i]))));
      largest = std::max(largest, std::abs(x));
    }
    return most / largest;
  }

  std::string name_;
  Runs runs_;
  sparse::SpmmOptions options_;
  exec::Device device_;
  exec::Stream stream_;
  cusparseHandle_t handle_ = nullptr;
  graph::Graph graph_;
  std::optional<sparse::Matrix> matrix_;
  std::optional<sparse::SpmmPlan> plan_;
  double plan_milliseconds_ = 0.0;
  Buffer<std::int32_t> narrow_;
};

void print(const json& row) {
  const double ours = row["milliseconds"];
  const double rival = row.value("cusparse_milliseconds", 0.0);
  fmt::print("{:<6} {:<28} {:>5} {:<8} {:>9.3f} ms {:>9.3f} ms {:>6.2f}x  {:.1e} {}\n",
             row["operation"].get<std::string>(), row["graph"].get<std::string>(),
             row["k"].get<std::uint64_t>(), row["type"].get<std::string>(), ours, rival,
             rival / ours, row.value("difference", 0.0), row.value("cusparse_algorithm", ""));
  std::fflush(stdout);
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren::bench;
  std::vector<std::string> graphs{"kron:22"};
  std::vector<std::uint64_t> ks{16, 32, 64, 128, 256};
  Runs runs;
  warren::sparse::SpmmOptions options;
  warren::sparse::SpmmPlanOptions plan;
  std::string out;
  CLI::App app("SpMM and SDDMM beside cuSPARSE");
  app.add_option("--graph", graphs, "Generators or files; symmetrised, without self-loops");
  app.add_option("--ks", ks, "Widths")->delimiter(',');
  app.add_option("--repeat", runs.repeat, "Timed runs");
  app.add_option("--calls", runs.calls, "Calls of a timed run");
  app.add_option("--threads", options.threads_per_block, "Threads of a block of SpMM");
  app.add_option("--entries", plan.entries,
                 "Most entries of a task of SpMM; 0: as the library chooses");
  app.add_option("--out", out, "JSON");
  CLI11_PARSE(app, argc, argv);
  json results = json::array();
  for (const std::string& name : graphs) {
    Bench bench(name, runs, options, plan);
    fmt::print("{}: {} vertices, {} entries, plan {:.2f} ms\n", name, bench.graph().vertices,
               bench.graph().edges(), bench.plan_milliseconds());
    for (const std::uint64_t k : ks) {
      for (const json& row : {bench.spmm<float>(k), bench.spmm<warren::Half>(k),
                              bench.spmm<warren::BFloat16>(k), bench.sddmm(k)}) {
        results.push_back(row);
        results.back()["plan_milliseconds"] = bench.plan_milliseconds();
        print(row);
      }
    }
  }
  write_report(out, results, warren::exec::DeviceKind::cuda);
  return 0;
}
