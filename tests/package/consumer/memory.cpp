// SPDX-License-Identifier: Apache-2.0
// An array over three ranks, of which each gathers rows of the others.
#include "warren/device/memory.hpp"

#include <cstdlib>
#include <iostream>
#include <vector>

#include "warren/memory.hpp"

using namespace warren;

int main() {
  int status = EXIT_SUCCESS;
  team::run_team({exec::DeviceKind::cpu, 3, 3}, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const std::vector<std::uint64_t> cuts{0, 10, 15, 30};
    memory::GlobalArray<float> rows(team, cuts, 4, memory::Placement::device);
    const memory::GlobalView<float>& view = rows.view();
    for (std::uint64_t i = 0; i < rows.local_size(); ++i)
      rows.local_data()[i] = static_cast<float>(view.first() * 4 + i);
    team.barrier();
    const std::vector<std::uint64_t> ids{29, 0, 12};
    memory::Buffer<std::uint64_t> asked(team.device(), ids.size());
    memory::Buffer<float> found(team.device(), ids.size() * 4);
    asked.upload(stream, std::span(ids));
    memory::gather(stream, view, asked.data(), ids.size(), found.data());
    const std::vector<float> host = found.to_host(stream);
    team.barrier();
    if (host[0] != 116 || host[4] != 0 || host[11] != 51) status = EXIT_FAILURE;
    if (team.rank() == 0) std::cout << "row 12 ends with " << host[11] << "\n";
  });
  return status;
}
