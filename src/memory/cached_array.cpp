// SPDX-License-Identifier: Apache-2.0
#include "warren/memory/cached_array.hpp"

#include "warren/team/links.hpp"

#include "memory/cached_array_kernels.hpp"
#include "memory/row_move.hpp"

namespace warren::memory::detail {

void gather_cached(const exec::Stream& stream, const CachedRows& rows, const CachedGather& job) {
  if (job.count == 0) return;
  require((job.indices != nullptr || job.vertices != nullptr) && job.out != nullptr,
          "gather needs row numbers and a local array");
  const FindCached kernel{job, rows.slots, rows.host.rows(), rows.cached.rows()};
  exec::with_backend(stream.device(),
                     [&](auto backend) { find_cached<decltype(backend)>(stream, kernel); });
  RowMove move;
  move.indices = job.translated;
  move.count = job.count;
  move.count_at = job.count_at;
  move.local = static_cast<unsigned char*>(job.out);
  move.out_of_range = job.out_of_range;
  append_rows(rows.cached, move.table);
  append_rows(rows.host, move.table);
  choose_unit(move);
  run_move<Direction::gather>(stream, move);
}

bool links_favour_spreading(team::Team& team) {
  if (team.size() == 1 || !team.device().is_cuda()) return true;
  if (!team.kernels_may_wait()) return false;  // Ranks on one device, or without a direct path.
  const team::Links links = team::known_links(team);
  for (int a = 0; a < links.size(); ++a) {
    for (int b = 0; b < links.size(); ++b) {
      if (a != b && links.between(a, b).gigabytes_per_second <= links.host(b).gigabytes_per_second)
        return false;
    }
  }
  return true;
}

}  // namespace warren::memory::detail
