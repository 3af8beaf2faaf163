// SPDX-License-Identifier: Apache-2.0
// Kernels of `sparse` on the caller's arrays. A GPU's plans are made where the offsets are, so that
// no call waits for the GPU.
#include "warren/api/rows.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/memory/gather.hpp"
#include "warren/sparse/edge_ops.hpp"
#include "warren/sparse/sddmm.hpp"
#include "warren/sparse/spmm.hpp"

#include "api/library_words.hpp"
#include "api/teams.hpp"

namespace warren {
namespace {

/// Rows of a task that a group of a GPU's lanes multiplies: about so many entries.
std::uint32_t rows_each(const RowArrays& a) {
  constexpr std::uint64_t kEntries = 96;
  const std::uint64_t cost = a.rows == 0 ? 1 : a.entries / a.rows + 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kEntries / cost, 1, kEntries));
}

/// What is kept of each GPU and stream: its handle, and memory for plans. A plan is used again once
/// the work before it in the stream is done.
class Streams {
 public:
  template <class Work>
  void with(const ArrayPlace& place, Work&& work) {
    const std::scoped_lock lock(mutex_);
    Kept& kept = kept_.try_emplace({place.gpu, place.stream}, place).first->second;
    work(kept.stream, kept.plan);
  }

 private:
  struct Kept {
    explicit Kept(const ArrayPlace& place)
        : stream(exec::Stream::borrow(exec::Device::cuda(place.gpu), place.stream)) {}
    exec::Stream stream;
    sparse::SpmmPlan plan;
  };
  std::mutex mutex_;
  std::map<std::pair<int, void*>, Kept> kept_;
};

/// Never freed: at the end of the process the GPU's own may be gone by then.
Streams& streams() {
  static auto* all = new Streams;
  return *all;
}

sparse::MatrixView view_of(const RowArrays& a) {
  sparse::MatrixView view;
  view.rows = a.rows;
  view.offsets = a.offsets;
  view.column_ids = a.columns;
  view.values = a.values;
  view.value_ids = a.value_ids;
  view.row_scale = a.row_scale;
  view.column_scale = a.column_scale;
  view.self = a.self;
  return view;
}

/// Calls work(stream, plan) with a plan of the rows.
template <class Work>
void planned(const ArrayPlace& place, const RowArrays& a, Work&& work) {
  api::told_in_library_words([&] {
    if (a.rows == 0) return;
    if (place.gpu >= 0) {
      streams().with(place, [&](const exec::Stream& stream, sparse::SpmmPlan& plan) {
        plan.assign(stream, a.offsets, a.rows, rows_each(a));
        work(stream, plan);
      });
      return;
    }
    Session::standard().teams()->on_device([&](const exec::Device& device) {
      const exec::Stream stream(device);
      const sparse::SpmmPlan plan(stream, std::span(a.offsets, a.rows + 1));
      work(stream, plan);
    });
  });
}

/// Calls work(stream) with no plan.
template <class Work>
void placed(const ArrayPlace& place, const RowArrays& a, Work&& work) {
  api::told_in_library_words([&] {
    if (a.rows == 0) return;
    if (place.gpu >= 0) {
      streams().with(place, [&](const exec::Stream& stream, sparse::SpmmPlan&) { work(stream); });
      return;
    }
    Session::standard().teams()->on_device(
        [&](const exec::Device& device) { work(exec::Stream(device)); });
  });
}

}  // namespace

void rows_spmm(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads, std::uint64_t k,
               const float* b, float* c) {
  require(heads > 0 && k > 0, "rows_spmm: expected one head and one column or more");
  planned(place, a, [&](const exec::Stream& stream, const sparse::SpmmPlan& plan) {
    const std::uint64_t stride = heads * k;
    sparse::MatrixView view = view_of(a);
    for (std::uint64_t h = 0; h < heads; ++h) {
      if (a.values != nullptr) view.values = a.values + h * a.entries;
      sparse::spmm<float>(stream, view, plan, {b + h * k, stride}, c + h * k, stride, k);
    }
  });
}

void rows_sddmm(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads, std::uint64_t k,
                const float* x, const float* y, float* out) {
  require(heads > 0 && k > 0, "rows_sddmm: expected one head and one column or more");
  planned(place, a, [&](const exec::Stream& stream, const sparse::SpmmPlan& plan) {
    const std::uint64_t stride = heads * k;
    sparse::MatrixView view = view_of(a);
    view.values = nullptr;
    view.value_ids = nullptr;
    for (std::uint64_t h = 0; h < heads; ++h)
      sparse::sddmm<float>(stream, view, plan, x + h * k, stride, y + h * k, stride, k,
                           out + h * a.entries);
  });
}

void rows_softmax(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads, const float* x,
                  float* y) {
  placed(place, a, [&](const exec::Stream& stream) {
    sparse::edge_softmax(stream, view_of(a), sparse::RowPlan::all_rows(), heads, x, y);
  });
}

void rows_softmax_backward(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads,
                           const float* y, const float* dy, float* dx) {
  placed(place, a, [&](const exec::Stream& stream) {
    sparse::edge_softmax_backward(stream, view_of(a), sparse::RowPlan::all_rows(), heads, y, dy,
                                  dx);
  });
}

void rows_max(const ArrayPlace& place, const RowArrays& a, std::uint64_t k, const float* b,
              float* c, Vertex* arg) {
  placed(place, a, [&](const exec::Stream& stream) {
    sparse::segment_max(stream, view_of(a), sparse::RowPlan::all_rows(), k, b, c, arg);
  });
}

void rows_gather(const ArrayPlace& place, const void* table, std::uint64_t rows,
                 std::uint64_t row_bytes, const std::uint64_t* ids, std::uint64_t count,
                 void* out) {
  using Word = std::uint32_t;
  require(row_bytes > 0 && row_bytes % sizeof(Word) == 0,
          fmt::format("rows_gather: got rows of {} bytes, expected a multiple of 4", row_bytes));
  RowArrays found;
  found.rows = count;
  placed(place, found, [&](const exec::Stream& stream) {
    memory::GlobalView<Word> view;
    view.base[0] = static_cast<Word*>(const_cast<void*>(table));  // Views are for writers, too.
    view.cuts[1] = rows;
    view.width = row_bytes / sizeof(Word);
    memory::gather(stream, view, ids, count, static_cast<Word*>(out));
  });
}

}  // namespace warren
