// SPDX-License-Identifier: Apache-2.0
#include "api/ids.hpp"

#include "warren/memory/row_numbers.hpp"

#include "api/arrive.hpp"

namespace warren::api {
namespace {

memory::RowNumbers arrive(const exec::Stream& stream, const IdsView& ids, RankRequest& request) {
  if (request.first_bad.size() == 0)
    request.first_bad = memory::Buffer<std::uint64_t>(stream.device(), 1);
  constexpr int kAllBits = 0xff;
  exec::fill_bytes(stream, request.first_bad.data(), kAllBits, request.first_bad.bytes());
  return {api::arrive(stream, ids.bytes(), request.numbers), ids.size(), ids.width(),
          ids.is_signed()};
}

}  // namespace

const std::uint64_t* arrive_wide(const exec::Stream& stream, const IdsView& ids, std::uint64_t rows,
                                 RankRequest& request) {
  const memory::RowNumbers numbers = arrive(stream, ids, request);
  // The host has looked at its own.
  if (!ids.is_on_gpu() && ids.width() == sizeof(std::uint64_t))
    return static_cast<const std::uint64_t*>(numbers.data);
  memory::CheckedRows to;
  to.first_bad = request.first_bad.data();
  if (ids.width() != sizeof(std::uint64_t))
    to.wide = memory::at_least(stream, request.wide, ids.size());
  memory::check_rows(stream, numbers, rows, to);
  return to.wide != nullptr ? to.wide : static_cast<const std::uint64_t*>(numbers.data);
}

const Vertex* arrive_narrow(const exec::Stream& stream, const IdsView& ids, std::uint64_t rows,
                            RankRequest& request) {
  const memory::RowNumbers numbers = arrive(stream, ids, request);
  memory::CheckedRows to;
  to.first_bad = request.first_bad.data();
  to.narrow = memory::at_least(stream, request.narrow, ids.size());
  memory::check_rows(stream, numbers, rows, to);
  return to.narrow;
}

BadId find_bad(const exec::Stream& stream, const IdsView& ids, std::uint64_t first,
               const RankRequest& request) {
  BadId bad;
  if (ids.empty()) return bad;
  std::uint64_t place = 0;
  exec::copy(stream, &place, request.first_bad.data(), sizeof place);
  stream.synchronize();
  if (place == BadId::kNone) return bad;
  bad.place = first + place;
  const ArrayView<unsigned char> number = ids.part(place, 1).bytes();
  if (ids.width() == sizeof bad.number) {
    copy_bytes_in(stream, number, &bad.number);
    stream.synchronize();
    return bad;
  }
  std::int32_t narrow = 0;
  copy_bytes_in(stream, number, &narrow);
  stream.synchronize();
  bad.number = ids.is_signed() ? static_cast<std::uint64_t>(std::int64_t{narrow})
                               : std::uint64_t{static_cast<std::uint32_t>(narrow)};
  return bad;
}

BadId first_of(team::Team& team, const BadId& mine) {
  if (team.size() == 1) return mine;
  return team.all_reduce(mine,
                         [](const BadId& a, const BadId& b) { return b.place < a.place ? b : a; });
}

}  // namespace warren::api
