// SPDX-License-Identifier: Apache-2.0
// What the command line says would help.
#include <algorithm>
#include <array>

#include "warren/api/program.hpp"

namespace warren {

bool traverses(std::string_view command) {
  constexpr std::array<std::string_view, 7> kThese = {"bfs", "sssp", "cc",       "pagerank",
                                                      "bc",  "core", "triangles"};
  return std::ranges::find(kThese, command) != kThese.end();
}

std::string memory_cure(const std::string& command, const std::string& message) {
  if (message.find("--") != std::string::npos || command == "fetch") return "";
  if (command == "gather") return "; a smaller --rows, --k or --count would fit";
  if (command == "lookup") return "; a smaller --rows, --k or --batch would fit";
  if (command == "train") {
    return "; a smaller --hidden or fewer --layers would fit, and on GPUs more of them (--devices "
           "N)";
  }
  if (command == "sample") return "; a smaller --batch, --fanout or --in-flight would fit";
  if (message.find("pinned") != std::string::npos) {
    return "; a file converted with --compress and read with --edges compressed-host needs less";
  }
  if (message.find("cuda:") != std::string::npos && traverses(command)) {
    return "; --edges host keeps the neighbour lists in host memory, and more GPUs (--devices N) "
           "hold a "
           "smaller part each";
  }
  if (message.find("cuda:") != std::string::npos) {
    return "; more GPUs (--devices N) hold a smaller part each, and --device cpu uses the host";
  }
  return "; a smaller graph would fit, for ids with gaps --compact makes one";
}

}  // namespace warren
