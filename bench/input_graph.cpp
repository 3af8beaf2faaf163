// SPDX-License-Identifier: Apache-2.0
#include "input_graph.hpp"

#include "warren/graph/generate.hpp"

namespace warren::bench {

graph::Graph input_graph(const std::string& name, const graph::ReadOptions& options,
                         exec::ThreadPool& pool) {
  const auto spec = graph::parse_generator(name, 1);
  if (!spec) return graph::read_graph(name, options, pool);
  return graph::build(*graph::make_source(*spec), graph::effective_options(*spec, options.build),
                      pool);
}

}  // namespace warren::bench
