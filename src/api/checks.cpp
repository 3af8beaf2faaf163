// SPDX-License-Identifier: Apache-2.0
#include "warren/api/checks.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/sample/sampler.hpp"

namespace warren::api {

void check_choice(const std::string& option, const std::string& value,
                  const std::vector<std::string>& available) {
  if (std::ranges::find(available, value) != available.end()) return;
  throw UsageError(fmt::format("{} \"{}\" is unknown{}; there is: {}", option, value,
                               did_you_mean(value, available), fmt::join(available, ", ")));
}

void check_method(const std::string& method) {
  check_choice("--method", method, {"ranges", "random", "degree", "rabbit", "metis"});
}

void check_lists(Mode mode, Edges edges, const PlacementOptions& placement) {
  const bool are_plain = edges == Edges::device || edges == Edges::host;
  const std::string& method = placement.method;
  require(mode != Mode::asynchronous || are_plain,
          "--mode async reads plain lists in memory: give --edges device or host");
  if (edges == Edges::file && !method.empty() && method != "ranges")
    throw UsageError(fmt::format(
        "--method {}: lists are read in the file's order; leave it out with --edges file", method));
  require(!placement.cache || edges != Edges::device,
          "--cache is for lists that live elsewhere: give --edges host too");
  require(placement.cache.value_or(0) == 0 || edges == Edges::host,
          "--cache holds plain lists: give --edges host, as no compressed ones are held");
  if (!method.empty()) check_method(method);
}

void check_repeat(int repeat) {
  require(repeat >= 0,
          fmt::format("repeat: got {}, expected a number of timed runs, or 0", repeat));
}

void check_fanouts(const std::vector<std::int64_t>& fanouts) {
  require(!fanouts.empty(), "--fanout: got none, expected a number for each hop");
  for (const std::int64_t fanout : fanouts)
    require(fanout == -1 || fanout >= 1,
            fmt::format("--fanout {}: a hop takes 1 neighbour or more, or -1 for all", fanout));
  require(fanouts.size() <= sample::kMaxHops,
          fmt::format("--fanout: {} hops are more than {}", fanouts.size(), sample::kMaxHops));
}

std::string in_library_words(std::string_view message) {
  std::string text;
  bool is_option = false;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(message[i])) != 0;
    const bool begins_word = i == 0 || message[i - 1] == ' ' || message[i - 1] == '(';
    const bool is_named =
        i + 2 < message.size() && std::isalpha(static_cast<unsigned char>(message[i + 2])) != 0;
    const bool is_foreign = message.substr(0, i).ends_with("docker run ");
    if (begins_word && is_named && !is_foreign && message.substr(i).starts_with("--")) {
      is_option = true;
      ++i;
    } else if (is_option && message[i] == '-') {
      text += '_';
    } else {
      is_option = is_option && is_letter;
      text += message[i];
    }
  }
  return text;
}

}  // namespace warren::api
