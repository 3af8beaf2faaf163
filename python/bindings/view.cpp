// SPDX-License-Identifier: Apache-2.0
// Arrays of other libraries where they are, and the streams on which they come.
#include "view.hpp"

#include <array>
#include <mutex>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "warren/core/error.hpp"
#include "warren/exec/current_device.hpp"
#include "warren/exec/memory.hpp"

namespace warren::python {
namespace {

/// A GPU's stream on which other libraries have their arrays for warren. Never freed: arrays may
/// outlive what the process destroys at its end.
const exec::Stream& arrival_stream(int gpu) {
  constexpr std::size_t kMost = 64;
  static std::mutex mutex;
  static auto* streams = new std::array<std::unique_ptr<exec::Stream>, kMost>;
  const exec::KeepCurrentDevice current;
  const exec::Device device = exec::Device::cuda(gpu);
  const std::scoped_lock lock(mutex);
  std::unique_ptr<exec::Stream>& stream = streams->at(static_cast<std::size_t>(gpu));
  if (stream == nullptr) stream = std::make_unique<exec::Stream>(device);
  return *stream;
}

const char* kind_of(const nb::dlpack::dtype& type) {
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return "int";
    case nb::dlpack::dtype_code::UInt:
      return "uint";
    case nb::dlpack::dtype_code::Float:
      return "float";
    case nb::dlpack::dtype_code::Bfloat:
      return "bfloat";
    case nb::dlpack::dtype_code::Complex:
      return "complex";
    case nb::dlpack::dtype_code::Bool:
      return "bool";
    default:
      return "unknown";
  }
}

}  // namespace

View::View(const nb::object& capsule) {
  if (!nb::try_cast(capsule, array_)) {
    PyErr_Clear();
    throw UsageError("what its __dlpack__ gives is no array of DLPack");
  }
  data_ = array_.data();
  type_ = array_.dtype();
  std::int64_t expected = 1;
  for (std::size_t d = array_.ndim(); d-- > 0;) {
    const auto length = static_cast<std::int64_t>(array_.shape(d));
    shape_.insert(shape_.begin(), length);
    is_contiguous_ = is_contiguous_ && (length == 1 || array_.stride(d) == expected);
    expected *= length;
  }
  is_contiguous_ = is_contiguous_ || expected == 0;
  if (array_.device_type() == nb::device::cpu::value) return;
  gpu_ = array_.device_id();
  stream_ = arrival_stream(gpu_).native();
}

View::View(std::uint64_t pointer, std::vector<std::int64_t> shape, int type_code, int type_bits,
           std::uint64_t stream, nb::object owner)
    : data_(reinterpret_cast<const void*>(pointer)),
      shape_(std::move(shape)),
      owner_(std::move(owner)) {
  type_.code = static_cast<std::uint8_t>(type_code);
  type_.bits = static_cast<std::uint8_t>(type_bits);
  type_.lanes = 1;
  const exec::KeepCurrentDevice current;
  gpu_ = exec::gpu_of(data_);
  if (gpu_ < 0) return;
  const exec::Stream& arrival = arrival_stream(gpu_);
  arrival.wait(gpu_, reinterpret_cast<void*>(stream));
  stream_ = arrival.native();
}

std::uint64_t View::size() const {
  std::uint64_t count = 1;
  for (const std::int64_t length : shape_) count *= static_cast<std::uint64_t>(length);
  return count;
}

std::string View::type() const {
  const char* const kind = kind_of(type_);
  if (type_.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bool)) return kind;
  return fmt::format("{}{}", kind, type_.bits);
}

IdsView View::ids() const {
  const bool is_signed = type_.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int);
  if (type_.bits == 64) return is_signed ? IdsView(of<std::int64_t>()) : of<std::uint64_t>();
  require(type_.bits == 32, "ids have 32 or 64 bits");
  return is_signed ? IdsView(of<std::int32_t>()) : of<std::uint32_t>();
}

nb::object View::to_numpy() const {
  std::vector<std::uint8_t> copied(bytes());
  unlocked([&] {
    const exec::KeepCurrentDevice current;
    const exec::Stream stream(gpu_ < 0 ? exec::Device::cpu(1) : exec::Device::cuda(gpu_));
    if (gpu_ >= 0) stream.wait(gpu_, stream_);
    exec::copy(stream, copied.data(), data_, copied.size());
    stream.synchronize();
  });
  return array_of(std::move(copied));
}

void bind_view(nb::module_& module) {
  module.def("gpu_count", &exec::cuda_device_count);
  module.def(
      "arrival_stream",
      [](int gpu) { return reinterpret_cast<std::uint64_t>(arrival_stream(gpu).native()); },
      nb::arg("gpu"), "On which other libraries have arrays of this GPU for warren.");
  nb::class_<View>(module, "View")
      .def(nb::init<const nb::object&>(), nb::arg("capsule"),
           nb::sig("def __init__(self, capsule: typing.Any) -> None"))
      .def(
          nb::init<std::uint64_t, std::vector<std::int64_t>, int, int, std::uint64_t, nb::object>(),
          nb::arg("pointer"), nb::arg("shape"), nb::arg("type_code"), nb::arg("type_bits"),
          nb::arg("stream"), nb::arg("owner"),
          nb::sig("def __init__(self, pointer: int, shape: list[int], type_code: int, "
                  "type_bits: int, stream: int, owner: typing.Any) -> None"))
      .def_prop_ro(
          "shape", [](const View& view) { return nb::tuple(nb::cast(view.shape())); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("size", &View::size)
      .def_prop_ro("dtype", &View::type)
      .def_prop_ro("gpu", &View::gpu)
      .def_prop_ro("is_contiguous", &View::is_contiguous)
      .def("numpy", &View::to_numpy,
           nb::sig("def numpy(self) -> numpy.typing.NDArray[numpy.uint8]"));
}

}  // namespace warren::python
