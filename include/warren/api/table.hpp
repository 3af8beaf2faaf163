// SPDX-License-Identifier: Apache-2.0
// Tables of rows (features, embeddings) that ranks share, and what is asked of them: rows by their
// numbers, and sums or means of bags of rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "warren/api/array.hpp"
#include "warren/api/array_view.hpp"
#include "warren/api/session.hpp"
#include "warren/api/traverse.hpp"
#include "warren/memory/host_array.hpp"

namespace warren {

/// A number that is no row of the table.
class RowError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Where the ranks of a call find a table's rows.
enum class TablePlacement : std::uint8_t {
  device,  ///< Spread over the ranks' devices, each of which reads all.
  host,    ///< In pinned host memory, which GPUs read in place.
  cached   ///< The same, and some rows on the devices as well.
};

struct TableOptions {
  TablePlacement placement = TablePlacement::device;
  /// Of TablePlacement::cached: the rows that the devices have, each once. Left out: the first
  /// tenth.
  std::optional<std::vector<std::uint64_t>> cached{};
  std::optional<DeviceKind> device{};  ///< Left out: the session's.
  int devices = 0;                     ///< Ranks. 0: the session's, else one.
  std::optional<Session> session{};    ///< Left out: Session::standard().
};

namespace api {

class TableState;

/// Rows as bytes, which `owner` keeps alive. Throws UsageError.
[[nodiscard]] std::shared_ptr<TableState> make_table(const ArrayView<unsigned char>& values,
                                                     std::shared_ptr<void> owner,
                                                     std::uint64_t rows, std::uint64_t row_bytes,
                                                     const TableOptions& options);
void release(TableState& table);
/// The number of elements in rows of `columns`. Throws UsageError where they are no whole rows.
[[nodiscard]] std::uint64_t rows_of(std::uint64_t elements, std::uint64_t columns);

struct GatheredRows {
  std::shared_ptr<ArrayMemory> memory;  ///< nullptr: none.
  std::uint64_t cached_hits = 0;
  RunInfo info;
};
[[nodiscard]] GatheredRows gather_rows(TableState& table, const IdsView& ids, bool own = false);

}  // namespace api

/// rows() x columns() elements, row-major. Copies share them. The elements are in host memory, or
/// on a GPU, and are not changed; what the ranks have of them is made by the first call, kept for
/// later ones, and freed with the last copy, by release(), or where memory is short. On the CPU the
/// ranks read the host's elements where they are, but for TablePlacement::cached; so does one rank
/// on a GPU those that are there, with TablePlacement::device. Calls run in the session and on the
/// ranks of the options. All functions may be called by several threads.
template <class T>
class Table {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Copies `values`. Throws UsageError for a size that is no whole number of rows, and for options
  /// that do not go together; MemoryError.
  Table(std::span<const T> values, std::uint64_t columns, const TableOptions& options = {})
      : Table(copied(values), columns, options) {}
  /// Keeps `values`, which must not be written from here on.
  Table(memory::HostArray<T> values, std::uint64_t columns, const TableOptions& options = {})
      : rows_(api::rows_of(values.size(), columns)), columns_(columns) {
    auto owner = std::make_shared<memory::HostArray<T>>(std::move(values));
    make(owner->span(), owner, options);
  }
  /// Keeps `values`, on a GPU or in host memory, which `owner` keeps alive; likewise.
  Table(const ArrayView<T>& values, std::shared_ptr<void> owner, std::uint64_t columns,
        const TableOptions& options = {})
      : rows_(api::rows_of(values.size(), columns)), columns_(columns) {
    make(values, std::move(owner), options);
  }

  /// For the parts of the library: another table's state as elements of T.
  Table(std::shared_ptr<api::TableState> state, std::uint64_t rows, std::uint64_t columns)
      : rows_(rows), columns_(columns), state_(std::move(state)) {}

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  /// Frees what the ranks have of it. The table can be used as before.
  void release() const { api::release(*state_); }

  /// For the parts of the library.
  [[nodiscard]] const std::shared_ptr<api::TableState>& state() const { return state_; }

 private:
  void make(const ArrayView<T>& values, std::shared_ptr<void> owner, const TableOptions& options) {
    const ArrayView<unsigned char> bytes(reinterpret_cast<const unsigned char*>(values.data()),
                                         values.size() * sizeof(T), values.gpu(), values.stream());
    state_ = api::make_table(bytes, std::move(owner), rows_, columns_ * sizeof(T), options);
  }
  static memory::HostArray<T> copied(std::span<const T> values) {
    memory::HostArray<T> array(values.size());
    if (!values.empty()) std::memcpy(array.data(), values.data(), values.size_bytes());
    return array;
  }

  std::uint64_t rows_, columns_;
  std::shared_ptr<api::TableState> state_;
};

template <class T>
struct GatherResult {
  Array<T>
      values;  ///< rows x columns, row-major: on a GPU after a call on GPUs, else in host memory.
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t cached_hits = 0;  ///< Of TablePlacement::cached: rows that were read on a device.
  RunInfo info;
};

/// out[i][:] = table[ids[i]][:] for each i. An id may come several times, and none may be given.
/// Each rank gathers an equal share of `ids`, in host memory or on a GPU. Moves bytes: the result
/// is the table's, bit for bit. Throws RowError, naming the place, for an id that is no row;
/// MemoryError. `own`: of ranks that are processes, each of which gives ids of its own and gets
/// their rows alone, at a time of its own; the first call all ranks make together. Throws
/// UsageError for it with several ranks in one process. (WholeGraph, section III-C.)
template <class T>
[[nodiscard]] GatherResult<T> gather(const Table<T>& table, const IdsView& ids, bool own = false) {
  api::GatheredRows found = api::gather_rows(*table.state(), ids, own);
  GatherResult<T> result;
  result.rows = ids.size();
  result.columns = table.columns();
  if (found.memory != nullptr)
    result.values = {std::move(found.memory), result.rows * result.columns};
  result.cached_hits = found.cached_hits;
  result.info = std::move(found.info);
  return result;
}

/// What becomes of a bag of rows.
enum class BagMode : std::uint8_t { sum, mean, max };

struct LookupOptions {
  BagMode mode = BagMode::mean;  ///< As torch.nn.functional.embedding_bag's default.
  /// Of BagMode::sum: a factor for each id; empty: 1.
  ArrayView<float> weights{};
  /// How rows of other ranks come into a sum: "pull", "owner-sum", "messages" (sparse/lookup.hpp),
  /// or "auto". Means, maxima and weighted sums are by "pull".
  std::string strategy = "auto";
};

template <class T>
struct LookupResult {
  Array<T>
      values;  ///< bags x columns, row-major: on a GPU after a call on GPUs, else in host memory.
  std::uint64_t bags = 0;
  std::uint64_t columns = 0;
  std::string strategy;          ///< That ran.
  std::uint64_t rows_moved = 0;  ///< Rows, or sums of rows, that came from other ranks.
  RunInfo info;
};

/// out[b][:] = the sum, or the mean, of weights[e] table[ids[e]][:] over the places e of bag b:
/// offsets[b] .. offsets[b + 1], `offsets` being one more than there are bags; or the largest
/// elements by column, NaN being none but where the bag's first row has it, as in PyTorch's
/// embedding_bag. An empty bag gives a row of zeros. `ids` and weights may be on a GPU. Sums are
/// float32, rounded to T at the end. Each rank looks up a share of the bags with about as many ids.
/// Repeats bit for bit on one device, number of ranks and strategy. For T = float, Half, BFloat16.
/// Throws RowError, naming the place, for an id that is no row; UsageError for offsets that do not
/// ascend from 0 to the number of ids, weights of another number or with another mode than
/// BagMode::sum, a strategy that is none or not for these, a table that is cached, and one of 2^32
/// - 1 rows or more; MemoryError. (MGG, section 7.3.)
template <class T>
[[nodiscard]] LookupResult<T> lookup(const Table<T>& table, const IdsView& ids,
                                     std::span<const EdgeOffset> offsets,
                                     const LookupOptions& options = {});

}  // namespace warren
