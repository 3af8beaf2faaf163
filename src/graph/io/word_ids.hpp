// SPDX-License-Identifier: Apache-2.0
// Ids that are words: each becomes the vertex of its turn, in the order in which the file names
// them first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warren::graph::io {

class WordIds {
 public:
  /// The number of a word, which is added unless it is there.
  std::uint64_t add(std::string_view word) {
    if (const auto found = numbers_.find(word); found != numbers_.end()) return found->second;
    const std::uint64_t number = words_.size();
    numbers_.emplace(words_.emplace_back(word), number);
    return number;
  }
  [[nodiscard]] std::uint64_t size() const { return words_.size(); }
  /// The number of a word; nothing if it was not added.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view word) const {
    const auto found = numbers_.find(word);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] const std::string& word(std::uint64_t number) const { return words_[number]; }
  /// All words by their numbers; none are left behind.
  [[nodiscard]] std::vector<std::string> take() {
    numbers_.clear();
    return {std::make_move_iterator(words_.begin()), std::make_move_iterator(words_.end())};
  }

 private:
  std::deque<std::string> words_;  // Does not move what the map refers to.
  std::unordered_map<std::string_view, std::uint64_t> numbers_;
};

}  // namespace warren::graph::io
