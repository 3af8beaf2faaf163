// SPDX-License-Identifier: Apache-2.0
#include "sparse/parameter_search.hpp"

#include <map>
#include <optional>

namespace warren::sparse {
namespace {

class Search {
 public:
  Search(std::span<const std::size_t> sizes, const FoundPlace& start, std::uint32_t tries,
         const std::function<double(const ParameterPlace&)>& cost)
      : sizes_(sizes), cost_(cost), tries_(tries), best_(start) {
    known_[start.place] = start.cost;
  }

  FoundPlace run() {
    for (bool goes_on = true; goes_on && tries_ > 0;) {
      const std::uint32_t before = tries_;
      for (std::size_t axis = 0; axis < sizes_.size(); ++axis) move_along(axis);
      if (sizes_.size() > 1) retreat();
      if (tries_ == before) look_around();
      goes_on = tries_ != before;
    }
    return best_;
  }

 private:
  enum Direction : int { up = 1, down = -1 };

  /// `place` moved by `steps` values of a parameter; nothing where there is none.
  [[nodiscard]] std::optional<ParameterPlace> moved(ParameterPlace place, std::size_t axis,
                                                    int steps) const {
    const auto to = static_cast<std::ptrdiff_t>(place[axis]) + steps;
    if (to < 0 || to >= static_cast<std::ptrdiff_t>(sizes_[axis])) return std::nullopt;
    place[axis] = static_cast<std::size_t>(to);
    return place;
  }
  /// What was measured `steps` values from the best.
  [[nodiscard]] std::optional<double> known_beside(std::size_t axis, int steps) const {
    const auto place = moved(best_.place, axis, steps);
    const auto found = place ? known_.find(*place) : known_.end();
    return found == known_.end() ? std::nullopt : std::optional<double>(found->second);
  }
  /// Measures a place that has not been; true where it is the best.
  bool look(const std::optional<ParameterPlace>& place) {
    if (!place || tries_ == 0 || known_.contains(*place)) return false;
    --tries_;
    const double cost = known_[*place] = cost_(*place);
    if (!(cost < best_.cost)) return false;
    best_ = {*place, cost};
    return true;
  }
  void move(std::size_t axis, Direction direction, int stride) {
    while (look(moved(best_.place, axis, direction * stride))) {
    }
  }
  void move_along(std::size_t axis) {
    constexpr std::size_t kFew = 3;
    if (sizes_[axis] > kFew) {
      move(axis, up, 2);
      move(axis, down, 2);
      const auto above = known_beside(axis, 2);
      const auto below = known_beside(axis, -2);
      if (above && below) return move(axis, *above < *below ? up : down, 1);
    }
    move(axis, up, 1);
    move(axis, down, 1);
  }
  /// The first parameter's second best value, with the last one moved the other way first.
  void retreat() {
    const std::size_t last = sizes_.size() - 1;
    std::optional<FoundPlace> second;
    for (const auto& [place, cost] : known_) {
      if (place[0] != best_.place[0] && (!second || cost < second->cost)) second = {place, cost};
    }
    if (!second) return;
    ParameterPlace place = best_.place;
    place[0] = second->place[0];
    const int direction = place[0] > best_.place[0] ? -1 : 1;
    if (!look(moved(place, last, direction))) (void)look(moved(place, last, -direction));
  }
  void look_around() {
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      (void)look(moved(best_.place, axis, 1));
      (void)look(moved(best_.place, axis, -1));
    }
  }

  std::span<const std::size_t> sizes_;
  const std::function<double(const ParameterPlace&)>& cost_;
  std::uint32_t tries_;
  FoundPlace best_;
  std::map<ParameterPlace, double> known_;
};

}  // namespace

FoundPlace search_parameters(std::span<const std::size_t> sizes, const FoundPlace& start,
                             std::uint32_t tries,
                             const std::function<double(const ParameterPlace&)>& cost) {
  return Search(sizes, start, tries, cost).run();
}

}  // namespace warren::sparse
