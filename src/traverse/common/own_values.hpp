// SPDX-License-Identifier: Apache-2.0
// What an algorithm tells of each own vertex: as its memory holds it, or by a map of that. It is
// made where the memory lies, and copied to the host only for who wants it there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "warren/exec/launch.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/traverse/sssp.hpp"

#include "traverse/bfs/visit.hpp"
#include "traverse/sssp/sssp_metric.hpp"

namespace warren::traverse {

template <class T>
struct AsItIs {
  using From = T;
  using To = T;
  [[nodiscard]] WARREN_HD To operator()(From value) const { return value; }
};

struct DepthOfVisit {
  using From = Visit;
  using To = Vertex;
  [[nodiscard]] WARREN_HD To operator()(From visit) const {
    return visit.parent == kNoVertex ? kNoVertex : visit.depth;
  }
};
struct ParentOfVisit {
  using From = Visit;
  using To = Vertex;
  [[nodiscard]] WARREN_HD To operator()(From visit) const { return visit.parent; }
};

/// Of words with a depth above and a parent below; all bits are set where not reached.
struct HighHalf {
  using From = std::uint64_t;
  using To = Vertex;
  [[nodiscard]] WARREN_HD To operator()(From word) const { return static_cast<To>(word >> 32); }
};
struct LowHalf {
  using From = std::uint64_t;
  using To = Vertex;
  [[nodiscard]] WARREN_HD To operator()(From word) const {
    return static_cast<To>(word & 0xffffffffu);
  }
};

template <class Metric>
struct WholeDistanceOf {
  using From = typename Metric::Word;
  using To = std::uint64_t;
  From bound = Metric::kUnreached;  ///< What is as far counts as not reached.
  [[nodiscard]] WARREN_HD To operator()(From word) const {
    return word >= bound ? kUnreachedDistance : word;
  }
};
template <class Metric>
struct RealDistanceOf {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using From = typename Metric::Word;
  using To = double;
  From bound = Metric::kUnreached;  ///< What is as far counts as not reached.
  [[nodiscard]] WARREN_HD To operator()(From word) const {
    if (word >= bound) return kInfinity;
    if constexpr (std::is_same_v<Metric, RealMetric>) {
      return RealMetric::value(word);
    } else {
      return static_cast<double>(word);
    }
  }
};

/// value / divisor.
template <class Real>
struct Divided {
  using From = Real;
  using To = double;
  double divisor = 1.0;
  [[nodiscard]] WARREN_HD To operator()(From value) const {
    return static_cast<double>(value) / divisor;
  }
};
/// value * factor.
struct Multiplied {
  using From = double;
  using To = double;
  double factor = 1.0;
  [[nodiscard]] WARREN_HD To operator()(From value) const { return value * factor; }
};

template <class Map>
struct MapValues {
  const typename Map::From* from;
  typename Map::To* to;
  Map map;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    to[i] = map(from[i]);
  }
};

template <class Backend, class Map>
struct MapRun {
  static void run(const exec::Stream& stream, const MapValues<Map>& values, std::uint64_t count);
};
template <class Backend, class Map>
void MapRun<Backend, Map>::run(const exec::Stream& stream, const MapValues<Map>& values,
                               std::uint64_t count) {
  exec::launch<Backend, exec::Thread>(stream, count, values);
}

/// `count` values at `from`, in memory of the stream's device.
template <class Map>
struct OwnValues {
  using From = typename Map::From;
  using To = typename Map::To;

  const From* from = nullptr;
  std::uint64_t count = 0;
  Map map = {};

  /// To memory of the same device. Synchronises `stream`.
  void write(const exec::Stream& stream, To* to) const {
    write_part(stream, 0, count, to);
    stream.synchronize();
  }
  [[nodiscard]] std::vector<To> to_host(const exec::Stream& stream) const {
    std::vector<To> values(count);
    if (!stream.device().is_cuda()) {
      write(stream, values.data());
    } else if constexpr (std::is_same_v<Map, AsItIs<To>>) {
      exec::copy(stream, values.data(), from, count * sizeof(To));
      stream.synchronize();
    } else {
      // In parts, as the device may be nearly full.
      constexpr std::uint64_t kPart = std::uint64_t{1} << 22;
      const memory::Buffer<To> part(stream.device(), std::min(count, kPart));
      for (std::uint64_t first = 0; first < count; first += kPart) {
        const std::uint64_t size = std::min(kPart, count - first);
        write_part(stream, first, size, part.data());
        exec::copy(stream, values.data() + first, part.data(), size * sizeof(To));
      }
      stream.synchronize();
    }
    return values;
  }

 private:
  void write_part(const exec::Stream& stream, std::uint64_t first, std::uint64_t size,
                  To* to) const {
    if constexpr (std::is_same_v<Map, AsItIs<To>>) {
      exec::copy(stream, to, from + first, size * sizeof(To));
    } else {
      exec::with_backend(stream.device(), [&](auto backend) {
        MapRun<decltype(backend), Map>::run(stream, {from + first, to, map}, size);
      });
    }
  }
};

#if WARREN_HAS_CUDA
extern template struct MapRun<exec::Cuda, DepthOfVisit>;
extern template struct MapRun<exec::Cuda, ParentOfVisit>;
extern template struct MapRun<exec::Cuda, HighHalf>;
extern template struct MapRun<exec::Cuda, LowHalf>;
extern template struct MapRun<exec::Cuda, WholeDistanceOf<IntegerMetric<std::uint32_t>>>;
extern template struct MapRun<exec::Cuda, WholeDistanceOf<IntegerMetric<std::uint64_t>>>;
extern template struct MapRun<exec::Cuda, RealDistanceOf<IntegerMetric<std::uint32_t>>>;
extern template struct MapRun<exec::Cuda, RealDistanceOf<IntegerMetric<std::uint64_t>>>;
extern template struct MapRun<exec::Cuda, RealDistanceOf<RealMetric>>;
extern template struct MapRun<exec::Cuda, Divided<float>>;
extern template struct MapRun<exec::Cuda, Divided<double>>;
extern template struct MapRun<exec::Cuda, Multiplied>;
#endif

}  // namespace warren::traverse
