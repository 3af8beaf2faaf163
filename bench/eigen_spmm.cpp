// SPDX-License-Identifier: Apache-2.0
// Eigen's sparse product, rows by rows: the form that its own threads work on.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "cpu_spmm.hpp"

namespace warren::bench {
namespace {

using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor, std::int32_t>;
using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class EigenProduct final : public Rival {
 public:
  explicit EigenProduct(const PlainMatrix& a)
      : rows_(static_cast<Eigen::Index>(a.offsets.size()) - 1),
        matrix_(rows_, rows_, static_cast<Eigen::Index>(a.targets.size()), a.offsets.data(),
                a.targets.data(), a.values.data()) {}

  void multiply(const float* b, float* c, std::uint64_t k) const override {
    const auto columns = static_cast<Eigen::Index>(k);
    Eigen::Map<Dense> result(c, rows_, columns);
    result.noalias() = matrix_ * Eigen::Map<const Dense>(b, rows_, columns);
  }

 private:
  Eigen::Index rows_;
  Eigen::Map<const Sparse> matrix_;
};

}  // namespace

std::unique_ptr<Rival> make_eigen(const PlainMatrix& a, int threads) {
  Eigen::setNbThreads(threads);
  return std::make_unique<EigenProduct>(a);
}

}  // namespace warren::bench
