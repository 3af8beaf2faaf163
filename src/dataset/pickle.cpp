// SPDX-License-Identifier: Apache-2.0
#include "dataset/pickle.hpp"

#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"

#include "dataset/free_memory.hpp"

namespace warren::learn {

using Kind = PickleNode::Kind;

const PickleNode* PickleNode::find(std::string_view key) const {
  for (const auto& [name, value] : pairs) {
    if (name->kind == Kind::bytes && name->bytes == key) return value;
  }
  return nullptr;
}

Pickle::Pickle(std::string_view bytes, std::string name) : name_(std::move(name)), bytes_(bytes) {
  read();
}

void Pickle::fail(const std::string& what) const {
  throw InputError(fmt::format("{}: byte {}: {}", name_, at_, printable(what)));
}

std::string_view Pickle::take(std::uint64_t count) {
  if (count > bytes_.size() - at_) fail("the pickle ends in the middle; it was cut off");
  const std::string_view part = bytes_.substr(at_, count);
  at_ += count;
  return part;
}

std::string_view Pickle::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) fail("the pickle ends in the middle; it was cut off");
  const std::string_view line = take(end - at_);
  ++at_;
  return line;
}

template <class T>
T Pickle::take_as() {
  T value;
  std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
  return value;
}

PickleNode& Pickle::push(Kind kind) {
  constexpr std::uint64_t kChecked = 1 << 16;  // Nodes of some MiB.
  if (nodes_.size() % kChecked == kChecked - 1)
    check_free_memory(name_, kChecked * sizeof(PickleNode));
  nodes_.emplace_back().kind = kind;
  stack_.push_back(&nodes_.back());
  return nodes_.back();
}

PickleNode* Pickle::pop() {
  if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()))
    fail("an operation takes more than there is: this is no pickle");
  PickleNode* node = stack_.back();
  stack_.pop_back();
  return node;
}

PickleNode& Pickle::top() {
  if (stack_.empty()) fail("an operation takes more than there is: this is no pickle");
  return *stack_.back();
}

PickleNode& Pickle::top_of(Kind kind) {
  PickleNode& node = top();
  if (node.kind != kind && node.kind != Kind::object)
    fail("something is added to what is no list and no dictionary: this is no pickle");
  return node;
}

std::vector<PickleNode*> Pickle::pop_to_mark() {
  if (marks_.empty()) fail("an operation asks for a mark that is not there: this is no pickle");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleNode*> above(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return above;
}

void Pickle::push_bytes(std::uint64_t count) {
  const std::string_view bytes = take(count);
  push(Kind::bytes).bytes = bytes;
}

void Pickle::push_global(std::string_view module, std::string_view name) {
  constexpr std::size_t kLongest = 256;
  if (module.size() > kLongest || name.size() > kLongest)
    fail("a module's or a class's name is too long: this is no pickle");
  push(Kind::global).bytes = texts_.emplace_back(fmt::format("{} {}", module, name));
}

void Pickle::push_items(std::uint64_t count) {
  std::vector<const PickleNode*> items(count);
  for (std::uint64_t i = count; i > 0; --i) items[i - 1] = pop();
  push(Kind::items).items = std::move(items);
}

void Pickle::read() {
  while (!is_done_) run(static_cast<unsigned char>(take(1)[0]));
}

void Pickle::run(unsigned char operation) {
  switch (operation) {
    case 0x80:  // PROTO
      (void)take(1);
      return;
    case 0x95:  // FRAME
      (void)take(8);
      return;
    case '(':
      marks_.push_back(stack_.size());
      return;
    case '0':
      (void)pop();
      return;
    case 'N':
      push(Kind::none);
      return;
    case '.':
      root_ = pop();
      is_done_ = true;
      return;
    default:
      break;
  }
  if (read_number(operation) || read_bytes(operation) || make_container(operation) ||
      use_memory(operation))
    return;
  make_object(operation);
}

bool Pickle::read_number(unsigned char operation) {
  const auto integer = [&](std::int64_t value) {
    push(Kind::integer).integer = value;
    return true;
  };
  switch (operation) {
    case 'J':
      return integer(take_as<std::int32_t>());
    case 'K':
      return integer(take_as<std::uint8_t>());
    case 'M':
      return integer(take_as<std::uint16_t>());
    case 0x88:  // NEWTRUE
      return integer(1);
    case 0x89:  // NEWFALSE
      return integer(0);
    case 'I':
    case 'L': {
      std::string_view text = take_line();
      if (text.ends_with('L')) text.remove_suffix(1);
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size())
        fail("a number is none, or needs more than 64 bits");
      return integer(value);
    }
    case 0x8a: {  // LONG1: little endian, with sign.
      const std::string_view digits = take(take_as<std::uint8_t>());
      if (digits.size() > 8) fail("a number needs more than 64 bits");
      std::uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
      for (std::size_t i = digits.size(); i > 0; --i)
        value = value << 8 | static_cast<unsigned char>(digits[i - 1]);
      return integer(static_cast<std::int64_t>(value));
    }
    case 'G': {  // Big endian.
      std::uint64_t bits = 0;
      for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
      push(Kind::real).real = std::bit_cast<double>(bits);
      return true;
    }
    default:
      return false;
  }
}

bool Pickle::read_bytes(unsigned char operation) {
  switch (operation) {
    case 'U':   // SHORT_BINSTRING
    case 'C':   // SHORT_BINBYTES
    case 0x8c:  // SHORT_BINUNICODE
      push_bytes(take_as<std::uint8_t>());
      return true;
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
    case 'X':  // BINUNICODE
      push_bytes(take_as<std::uint32_t>());
      return true;
    case 0x8e:  // BINBYTES8
      push_bytes(take_as<std::uint64_t>());
      return true;
    default:
      return false;
  }
}

bool Pickle::make_container(unsigned char operation) {
  const auto add_pairs = [&](PickleNode& to, const std::vector<PickleNode*>& items) {
    if (items.size() % 2 != 0) fail("a dictionary's key has no value");
    for (std::size_t i = 0; i < items.size(); i += 2) to.pairs.emplace_back(items[i], items[i + 1]);
  };
  switch (operation) {
    case ')':
    case ']':
      push(Kind::items);
      return true;
    case '}':
      push(Kind::pairs);
      return true;
    case 0x85:  // TUPLE1, TUPLE2, TUPLE3
    case 0x86:
    case 0x87:
      push_items(operation - 0x84u);
      return true;
    case 't':
    case 'l': {
      const auto items = pop_to_mark();
      push(Kind::items).items.assign(items.begin(), items.end());
      return true;
    }
    case 'd': {
      const auto items = pop_to_mark();
      add_pairs(push(Kind::pairs), items);
      return true;
    }
    case 'a': {
      const PickleNode* item = pop();
      top_of(Kind::items).items.push_back(item);
      return true;
    }
    case 'e': {
      const auto items = pop_to_mark();
      auto& to = top_of(Kind::items).items;
      to.insert(to.end(), items.begin(), items.end());
      return true;
    }
    case 's': {
      PickleNode* value = pop();
      PickleNode* key = pop();
      add_pairs(top_of(Kind::pairs), {key, value});
      return true;
    }
    case 'u': {
      const auto items = pop_to_mark();
      add_pairs(top_of(Kind::pairs), items);
      return true;
    }
    default:
      return false;
  }
}

bool Pickle::use_memory(unsigned char operation) {
  const auto line_number = [&] {
    const std::string_view text = take_line();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) fail("a place is no number");
    return number;
  };
  const auto get = [&](std::uint64_t place) {
    const auto found = memory_.find(place);
    if (found == memory_.end()) fail(fmt::format("nothing was put at place {}", place));
    stack_.push_back(found->second);
    return true;
  };
  const auto put = [&](std::uint64_t place) {
    memory_[place] = &top();
    return true;
  };
  switch (operation) {
    case 'q':
      return put(take_as<std::uint8_t>());
    case 'r':
      return put(take_as<std::uint32_t>());
    case 'p':
      return put(line_number());
    case 0x94:  // MEMOIZE
      return put(memory_.size());
    case 'h':
      return get(take_as<std::uint8_t>());
    case 'j':
      return get(take_as<std::uint32_t>());
    case 'g':
      return get(line_number());
    default:
      return false;
  }
}

void Pickle::make_object(unsigned char operation) {
  switch (operation) {
    case 'c': {
      const std::string_view module = take_line();
      const std::string_view name = take_line();
      push_global(module, name);
      return;
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleNode* name = pop();
      const PickleNode* module = pop();
      push_global(module->bytes, name->bytes);
      return;
    }
    case 'R':     // REDUCE
    case 0x81: {  // NEWOBJ
      const PickleNode* arguments = pop();
      const PickleNode* callable = pop();
      PickleNode& object = push(Kind::object);
      object.callable = callable;
      object.arguments = arguments;
      return;
    }
    case 'b': {
      const PickleNode* state = pop();
      top().state = state;
      return;
    }
    default:
      fail(
          fmt::format("operation 0x{:02x} is not one of those that arrays need: this is no "
                      "pickle, or one of something else",
                      operation));
  }
}

std::string_view Pickle::elements(const PickleNode* node, const char* what) {
  if (node->kind == Kind::bytes) return node->bytes;
  // Python 3 writes bytes in old protocols as text of which every letter stands for a byte.
  const bool is_encoded = node->kind == Kind::object && node->callable->bytes == "_codecs encode" &&
                          !node->arguments->items.empty();
  if (!is_encoded) fail(fmt::format("{}'s elements are no bytes", what));
  const std::string_view text = node->arguments->items[0]->bytes;
  std::string& bytes = texts_.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto letter = static_cast<unsigned char>(text[i]);
    if (letter >= 0x80 && i + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++i]);
      letter = static_cast<unsigned char>((letter & 0x03u) << 6 | (next & 0x3fu));
    }
    bytes.push_back(static_cast<char>(letter));
  }
  return bytes;
}

files::NpyArray Pickle::array(const PickleNode* node, const char* what) {
  const auto is_sound = [&] {
    if (node == nullptr || node->kind != Kind::object || node->state == nullptr) return false;
    const auto& state = node->state->items;
    if (!node->callable->bytes.ends_with("multiarray _reconstruct") || state.size() != 5)
      return false;
    const PickleNode* type = state[2];
    return type->kind == Kind::object && type->callable->bytes == "numpy dtype" &&
           !type->arguments->items.empty() && type->arguments->items[0]->bytes.size() >= 2;
  };
  if (!is_sound()) fail(fmt::format("{} is no array of NumPy", what));
  const auto& state = node->state->items;
  const std::string_view type = state[2]->arguments->items[0]->bytes;
  const auto* order = state[2]->state;
  const bool is_big = order != nullptr && order->items.size() > 1 && order->items[1]->bytes == ">";
  if (is_big || (state[3]->integer != 0 && state[1]->items.size() > 1))
    fail(fmt::format("{}'s elements are big endian or in Fortran's order; others can be read",
                     what));
  files::NpyArray array;
  array.kind = type[0];
  const auto [end, error] =
      std::from_chars(type.data() + 1, type.data() + type.size(), array.width);
  if (error != std::errc{} || end != type.data() + type.size() || array.width == 0 ||
      array.width > 16)
    fail(fmt::format("{}'s type \"{}\" is none of numbers", what, type));
  for (const PickleNode* size : state[1]->items) {
    if (size->kind != Kind::integer || size->integer < 0 || array.shape.size() == 8 ||
        __builtin_mul_overflow(array.count, static_cast<std::uint64_t>(size->integer),
                               &array.count))
      fail(fmt::format("{}'s shape is none", what));
    array.shape.push_back(static_cast<std::uint64_t>(size->integer));
  }
  const std::string_view bytes = elements(state[4], what);
  if (array.count > bytes.size() || bytes.size() != array.count * array.width)
    fail(fmt::format("{} has {} bytes for {} elements of {}", what, bytes.size(), array.count,
                     array.width));
  array.data = bytes.data();
  return array;
}

}  // namespace warren::learn
