// SPDX-License-Identifier: Apache-2.0
// Tables with known elements, cut over teams.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/memory/global_array.hpp"

#include "support/on_device.hpp"

namespace warren::memory {

using testing_support::on_device;

template <class T>
T element(std::uint64_t row, std::uint64_t column) {
  return static_cast<T>((row * 613 + column * 31) % 60'001);
}

/// Uneven cuts, with an empty part for teams of three and more.
inline std::vector<std::uint64_t> uneven_cuts(int ranks, std::uint64_t rows) {
  std::vector<std::uint64_t> cuts = {0};
  for (int q = 1; q < ranks; ++q)
    cuts.push_back(q == 2 ? cuts.back()
                          : rows * static_cast<std::uint64_t>(q) /
                                static_cast<std::uint64_t>(ranks + 1));
  cuts.push_back(rows);
  return cuts;
}

/// `rows` x `width`, filled with element().
template <class T>
GlobalArray<T> make_table(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                          std::uint64_t width, Placement placement) {
  GlobalArray<T> table(team, uneven_cuts(team.size(), rows), width, placement);
  const std::uint64_t first = placement == Placement::replicated ? 0 : table.view().first();
  std::vector<T> values(table.buffer().size());
  for (std::uint64_t i = 0; i < values.size(); ++i)
    values[i] = element<T>(first + i / width, i % width);
  table.buffer().upload(stream, values);
  stream.synchronize();
  team.barrier();
  return table;
}

template <class T>
std::vector<T> whole_table(std::uint64_t rows, std::uint64_t width) {
  std::vector<T> values(rows * width);
  for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = element<T>(i / width, i % width);
  return values;
}

}  // namespace warren::memory
