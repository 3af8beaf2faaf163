// SPDX-License-Identifier: Apache-2.0
#include "warren/memory/cached_array.hpp"

#include "warren/team/links.hpp"

#include "memory/cached_array_kernels.hpp"

namespace warren::memory::detail {

void gather_cached(const exec::Stream& stream, const CachedRows& rows, const CachedGather& cached,
                   OrderedGather& ordered) {
  const GatherJob& job = cached.job;
  if (job.count == 0) return;
  require((job.indices != nullptr || job.vertices != nullptr) && job.out != nullptr,
          "gather needs row numbers and a local array");
  const FindCached kernel{job,        cached.translated, cached.use,
                          rows.slots, rows.host.rows(),  rows.cached.rows()};
  exec::with_backend(stream.device(),
                     [&](auto backend) { find_cached<decltype(backend)>(stream, kernel); });
  GatherJob found = job;
  found.indices = cached.translated;
  found.vertices = nullptr;
  ordered.run(stream, {&rows.cached, &rows.host}, found);
}

bool links_favour_spreading(team::Team& team) {
  if (team.size() == 1) return true;
  if (!team.kernels_may_wait()) return false;  // Ranks on one device, or without a direct path.
  if (!team.device().is_cuda()) return true;
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
