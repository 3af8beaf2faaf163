// SPDX-License-Identifier: Apache-2.0
// The README's program: the same search by a call.
#include <cstdlib>
#include <iostream>

#include <warren/warren.hpp>

int main() {
  const warren::Graph grid = warren::read("grid:30x20");
  const warren::BfsResult found = warren::bfs(grid, {.source = 0});  // GPUs, where there are some.
  std::cout << found.reached << ", depth " << found.max_depth << "\n";
  return found.reached == 600 && found.max_depth == 48 ? EXIT_SUCCESS : EXIT_FAILURE;
}
