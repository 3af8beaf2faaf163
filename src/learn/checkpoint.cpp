// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/checkpoint.hpp"

#include <bit>
#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"

#include "graph/io/mapped_file.hpp"
#include "graph/io/output_file.hpp"

namespace warren::learn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kAlignment = 8;
constexpr const char* kFormat = "format";  // Absent: numbers of set_real() are their bits.
constexpr int kReadableReals = 2;

NamedTensor read_tensor(const std::string& name, const Json& entry, const char* data,
                        std::uint64_t size) {
  const auto shape = entry.at("shape").get<std::vector<std::uint64_t>>();
  const auto place = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
  require(entry.at("dtype") == "F32" && shape.size() == 2 && place.size() == 2,
          name + " is no float32 matrix");
  NamedTensor tensor{name, shape[0], shape[1], {}};
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  const bool is_sound = !__builtin_mul_overflow(shape[0], shape[1], &count) &&
                        !__builtin_mul_overflow(count, sizeof(float), &bytes) &&
                        place[0] <= place[1] && place[1] <= size && place[1] - place[0] == bytes;
  require(is_sound, name + "'s elements do not lie in the file");
  tensor.values.resize(count);
  if (bytes != 0) std::memcpy(tensor.values.data(), data + place[0], bytes);
  return tensor;
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

void write_into(graph::io::OutputFile& out, const TensorFile& file) {
  Json header;
  header["__metadata__"] = file.metadata;
  std::uint64_t at = 0;
  for (const NamedTensor& tensor : file.tensors) {
    const std::uint64_t bytes = tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", {tensor.rows, tensor.columns}},
                           {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  out.write(&length, sizeof length);
  out.write(text);
  for (const NamedTensor& tensor : file.tensors)
    out.write(tensor.values.data(), tensor.values.size() * sizeof(float));
}

}  // namespace

void write_tensors(const std::string& path, const TensorFile& file) {
  graph::io::OutputFile out(path);
  write_into(out, file);
  out.commit();
}

void write_tensors(const std::vector<std::pair<std::string, TensorFile>>& files) {
  std::vector<std::unique_ptr<graph::io::OutputFile>> outs;
  for (const auto& [path, file] : files) {
    outs.push_back(std::make_unique<graph::io::OutputFile>(path));
    write_into(*outs.back(), file);
  }
  for (const auto& out : outs) out->commit();
}

TensorFile read_tensors(const std::string& path) {
  const graph::io::MappedFile mapped(path);
  std::uint64_t length = 0;
  if (mapped.size() >= sizeof length) std::memcpy(&length, mapped.data(), sizeof length);
  if (length == 0 || length > mapped.size() - sizeof length)
    throw InputError(path + ": this is no safetensors file, or it was cut off");
  const char* text = mapped.data() + sizeof length;
  TensorFile file;
  try {
    const Json header = Json::parse(text, text + length);
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        file.tensors.push_back(
            read_tensor(name, entry, text + length, mapped.size() - sizeof length - length));
      }
    }
  } catch (const Json::exception&) {
    throw InputError(path + ": its header is damaged: this is no safetensors file");
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  return file;
}

}  // namespace warren::learn
