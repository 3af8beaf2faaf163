// SPDX-License-Identifier: Apache-2.0
// Python's pickle format as data: what a pickle would construct is described, nothing is called and
// nothing imported. Protocols 0 to 5 as far as arrays, dictionaries, lists and numbers need them.
// Memory and time are in proportion to the pickle's bytes: strings stay in the file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "warren/files/npy.hpp"

namespace warren::learn {

struct PickleNode {
  enum class Kind : std::uint8_t {
    none,
    integer,  ///< Booleans, too.
    real,
    bytes,  ///< Strings of any kind; text as UTF-8.
    items,  ///< A tuple or a list.
    pairs,  ///< A dictionary.
    global,
    object
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string_view bytes;  ///< Of a global: "module name".
  std::vector<const PickleNode*> items;
  std::vector<std::pair<const PickleNode*, const PickleNode*>> pairs;
  const PickleNode* callable = nullptr;   ///< Of an object: a global, called with `arguments`.
  const PickleNode* arguments = nullptr;  ///< Of an object.
  const PickleNode* state = nullptr;      ///< Of an object: what it is built up with, if anything.

  /// A dictionary's value; nullptr where there is none of that name.
  [[nodiscard]] const PickleNode* find(std::string_view key) const;
};

class Pickle {
 public:
  /// The bytes must outlive it. Throws InputError, naming file and byte, for what is no pickle, is
  /// cut off, or uses an operation that is not known here; MemoryError.
  Pickle(std::string_view bytes, std::string name);
  [[nodiscard]] const PickleNode& root() const { return *root_; }
  /// Bytes of the pickle. Lists that stand in it more than once can make more of it than this.
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[noreturn]] void fail(const std::string& what) const;

  /// A numpy.ndarray of numbers in C order, as if it were in a .npy file. Its elements lie in the
  /// bytes, or in this object. Throws InputError.
  [[nodiscard]] files::NpyArray array(const PickleNode* node, const char* what);

 private:
  void read();
  void run(unsigned char operation);
  bool read_number(unsigned char operation);
  bool read_bytes(unsigned char operation);
  bool make_container(unsigned char operation);
  bool use_memory(unsigned char operation);
  void make_object(unsigned char operation);

  [[nodiscard]] std::string_view take(std::uint64_t count);
  [[nodiscard]] std::string_view take_line();
  template <class T>
  [[nodiscard]] T take_as();
  PickleNode& push(PickleNode::Kind kind);
  PickleNode* pop();
  [[nodiscard]] PickleNode& top();
  /// What stands above the last mark, which goes.
  [[nodiscard]] std::vector<PickleNode*> pop_to_mark();
  /// Where items can be appended, or pairs set: objects may be lists and dictionaries.
  [[nodiscard]] PickleNode& top_of(PickleNode::Kind kind);
  void push_bytes(std::uint64_t count);
  void push_global(std::string_view module, std::string_view name);
  void push_items(std::uint64_t count);
  [[nodiscard]] std::string_view elements(const PickleNode* node, const char* what);

  std::string name_;
  std::string_view bytes_;
  std::uint64_t at_ = 0;
  bool is_done_ = false;
  std::deque<PickleNode> nodes_;  // Addresses stay.
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleNode*> memory_;
  const PickleNode* root_ = nullptr;
  std::deque<std::string> texts_;  // Of nodes whose bytes are not those of the file.
};

}  // namespace warren::learn
