// SPDX-License-Identifier: Apache-2.0
#include "warren/memory/row_numbers.hpp"

#include "warren/core/error.hpp"

#include "memory/row_numbers_kernels.hpp"

namespace warren::memory {
namespace {

template <class Id>
void check_as(const exec::Stream& stream, const RowNumbers& numbers, std::uint64_t rows,
              const CheckedRows& to) {
  const detail::CheckRows<Id> kernel{static_cast<const Id*>(numbers.data), numbers.count, rows, to};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::launch_check<decltype(backend)>(stream, kernel);
  });
}

}  // namespace

void check_rows(const exec::Stream& stream, const RowNumbers& numbers, std::uint64_t rows,
                const CheckedRows& to) {
  require(numbers.width == 4 || numbers.width == 8, "row numbers have 32 or 64 bits");
  // A number of 64 bits without a sign is the same row as one with a sign, or none.
  if (numbers.width == 8) return check_as<std::int64_t>(stream, numbers, rows, to);
  if (numbers.is_signed) return check_as<std::int32_t>(stream, numbers, rows, to);
  check_as<std::uint32_t>(stream, numbers, rows, to);
}

}  // namespace warren::memory
