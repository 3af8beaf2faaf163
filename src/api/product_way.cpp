// SPDX-License-Identifier: Apache-2.0
#include "api/product_way.hpp"

#include "warren/core/log.hpp"
#include "warren/exec/memory.hpp"
#include "warren/sparse/tuner.hpp"

namespace warren::api {

sparse::DistributedOptions named_way(team::Team& team, const std::string& strategy) {
  sparse::DistributedOptions options;
  options.strategy = sparse::parse_strategy(strategy);
  if (options.strategy == sparse::Strategy::fused)
    options.workgroup = sparse::workgroup_of(team::known_links(team));
  return options;
}

sparse::DistributedOptions measured_way(team::Team& team, const exec::Stream& stream,
                                        const sparse::Rows& rows, memory::GlobalArray<float>& b,
                                        float* c) {
  exec::fill_bytes(stream, b.buffer().data(), 0, b.buffer().bytes());
  stream.synchronize();
  sparse::TuneOptions tune;
  tune.table = sparse::plan_table_path();
  const sparse::DistributedOptions best = sparse::tune<float>(team, rows, b, c, tune).best;
  if (team.rank() == 0) log_info("spmm: chose strategy " + sparse::name_of(best.strategy));
  return best;
}

}  // namespace warren::api
