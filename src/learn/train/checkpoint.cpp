// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"
#include "warren/files/mapped_file.hpp"

namespace warren::learn {
namespace {

using Json = nlohmann::ordered_json;
// Of headers that are read: objects of the other kind are searched from their front for each key.
using ReadJson = nlohmann::json;

constexpr std::uint64_t kAlignment = 8;
constexpr const char* kFormat = "format";  // Absent: numbers of set_real() are their bits.
constexpr int kReadableReals = 2;

// As the format's own library has it.
constexpr std::uint64_t kLongestHeader = 100'000'000;

/// A number from 0 that is written as such: not -1, not 1.5.
std::uint64_t number_in(const ReadJson& value) {
  require(value.is_number_unsigned(), "its sizes are not all whole numbers from 0");
  return value.get<std::uint64_t>();
}

/// Where a tensor's elements lie behind the header.
struct Place {
  NamedTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

Place read_place(const std::string& name, const ReadJson& entry, std::uint64_t size) {
  const ReadJson &shape = entry.at("shape"), &place = entry.at("data_offsets");
  require(entry.at("dtype") == "F32" && shape.is_array() && shape.size() == 2 && place.is_array() &&
              place.size() == 2,
          name + " is no float32 matrix");
  Place found{{name, number_in(shape[0]), number_in(shape[1]), {}},
              number_in(place[0]),
              number_in(place[1])};
  std::uint64_t bytes = 0;
  const bool is_sound = !__builtin_mul_overflow(found.tensor.rows, found.tensor.columns, &bytes) &&
                        !__builtin_mul_overflow(bytes, sizeof(float), &bytes) &&
                        found.begin <= found.end && found.end <= size &&
                        found.end - found.begin == bytes;
  require(is_sound, name + "'s elements do not lie in the file");
  return found;
}

/// Elements of two tensors would make more of a file than its size.
void check_overlaps(const std::vector<Place>& places) {
  std::vector<const Place*> order;
  for (const Place& place : places)
    if (place.begin != place.end) order.push_back(&place);
  std::sort(order.begin(), order.end(),
            [](const Place* a, const Place* b) { return a->begin < b->begin; });
  for (std::size_t i = 1; i < order.size(); ++i)
    require(order[i - 1]->end <= order[i]->begin,
            fmt::format("{} and {} lie over each other", order[i - 1]->tensor.name,
                        order[i]->tensor.name));
}

/// Throws UsageError for a name that is twice in the header itself: the parser would take the last.
/// Its callback could tell, but looks at all names again after each value.
class Names final : public nlohmann::json_sax<ReadJson> {
 public:
  bool key(std::string& name) override {
    if (depth_ == 1) require(names_.insert(name).second, name + " is in it twice");
    return true;
  }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(ReadJson::binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const ReadJson::exception&) override {
    return false;  // The parser says it again.
  }

 private:
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::set<std::string> names_;
  std::uint64_t depth_ = 0;
};

/// Tensors in the order of their elements. Throws UsageError for what is wrong, ReadJson::exception
/// for what is no such header.
TensorFile parse_header(const char* text, std::uint64_t length, std::uint64_t size) {
  Names names;
  (void)ReadJson::sax_parse(text, text + length, &names);
  const ReadJson header = ReadJson::parse(text, text + length);
  TensorFile file;
  std::vector<Place> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      file.metadata = entry.get<std::map<std::string, std::string>>();
    } else {
      places.push_back(read_place(name, entry, size));
    }
  }
  check_overlaps(places);
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (Place& place : places) {
    place.tensor.values.resize((place.end - place.begin) / sizeof(float));
    if (!place.tensor.values.empty())
      std::memcpy(place.tensor.values.data(), text + length + place.begin, place.end - place.begin);
    file.tensors.push_back(std::move(place.tensor));
  }
  return file;
}

}  // namespace

const NamedTensor& TensorFile::tensor(const std::string& name, const std::string& path) const {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw InputError(fmt::format("{}: there is no {} in it: is it of another model?", path, name));
}

const std::string& TensorFile::text(const std::string& key, const std::string& path) const {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    throw InputError(fmt::format("{}: it does not say its {}: it is no checkpoint", path, key));
  return found->second;
}

std::uint64_t TensorFile::number(const std::string& key, const std::string& path) const {
  const std::string& value = text(key, path);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size())
    throw InputError(fmt::format("{}: its {} \"{}\" is no number", path, key, value));
  return number;
}

double TensorFile::real(const std::string& key, const std::string& path) const {
  if (!metadata.contains(kFormat)) return std::bit_cast<double>(number(key, path));
  const std::string& value = text(key, path);
  double real = 0.0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), real);
  if (error != std::errc{} || end != value.data() + value.size())
    throw InputError(fmt::format("{}: its {} \"{}\" is no number", path, key, value));
  return real;
}

void TensorFile::set_real(const std::string& key, double value) {
  metadata[kFormat] = std::to_string(kReadableReals);
  metadata[key] = fmt::format("{}", value);
}

namespace {

std::string header_of(const TensorFile& file) {
  Json header = Json::object();
  header["__metadata__"] = file.metadata;
  std::uint64_t at = 0;
  for (const NamedTensor& tensor : file.tensors) {
    const std::uint64_t bytes = tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", {tensor.rows, tensor.columns}},
                           {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  // Names of files need not be UTF-8.
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

void write_into(OutputFile& out, const TensorFile& file) {
  const std::string text = header_of(file);
  const std::uint64_t length = text.size();
  out.write(&length, sizeof length);
  out.write(text);
  for (const NamedTensor& tensor : file.tensors)
    out.write(tensor.values.data(), tensor.values.size() * sizeof(float));
}

}  // namespace

void write_tensors(const std::string& path, const TensorFile& file) {
  OutputFile out(path);
  write_into(out, file);
  out.commit();
}

void write_tensors(const std::vector<std::pair<std::string, TensorFile>>& files) {
  std::vector<std::unique_ptr<OutputFile>> outs;
  std::vector<OutputFile*> all;
  for (const auto& [path, file] : files) {
    all.push_back(outs.emplace_back(std::make_unique<OutputFile>(path)).get());
    write_into(*all.back(), file);
  }
  OutputFile::commit(all);
}

void check_room_for_tensors(const std::vector<std::pair<std::string, TensorFile>>& files) {
  std::vector<std::unique_ptr<OutputFile>> outs;
  for (const auto& [path, file] : files) {
    std::uint64_t bytes = sizeof(std::uint64_t) + header_of(file).size();
    for (const NamedTensor& tensor : file.tensors) bytes += tensor.values.size() * sizeof(float);
    outs.push_back(std::make_unique<OutputFile>(path));
    outs.back()->reserve(bytes);
  }
}

TensorFile read_tensors(const std::string& path) {
  const files::MappedFile mapped(path);
  std::uint64_t length = 0;
  if (mapped.size() >= sizeof length) std::memcpy(&length, mapped.data(), sizeof length);
  if (length == 0 || length > mapped.size() - sizeof length)
    throw InputError(path + ": this is no safetensors file, or it was cut off");
  if (length > kLongestHeader)
    throw InputError(fmt::format("{}: its header is of {} bytes; {} at most would be right", path,
                                 length, kLongestHeader));
  try {
    return parse_header(mapped.data() + sizeof length, length,
                        mapped.size() - sizeof length - length);
  } catch (const ReadJson::exception&) {
    throw InputError(path + ": its header is damaged: this is no safetensors file");
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace warren::learn
