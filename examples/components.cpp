// SPDX-License-Identifier: Apache-2.0
// A traversal of one's own: the components of an undirected graph, as tasks. Every vertex offers
// the smallest id that it knows of to its neighbours; whoever gets a smaller one than it had passes
// it on. Takes the number of ranks: example_components 4. For GPUs the graph would stand in device
// memory, and run() be called with exec::Cuda and a worker such as exec::Warp, in a .cu file.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "warren/memory/global_array.hpp"
#include "warren/schedule/run.hpp"

using namespace warren;

// A triangle with a tail of two, a triangle, and two vertices alone.
constexpr Vertex kVertices = 10;
constexpr EdgeOffset kOffsets[kVertices + 1] = {0, 2, 4, 7, 9, 10, 12, 14, 16, 16, 16};
constexpr Vertex kTargets[] = {1, 2, 0, 2, 0, 1, 3, 2, 4, 3, 6, 7, 5, 7, 5, 6};

struct Components {
  struct Task {
    Vertex vertex;
    Vertex label;
  };
  memory::GlobalView<Vertex> label;  // A row for each vertex, on the rank that owns it.

  WARREN_HD std::uint64_t seeds() const { return label.local_rows(); }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    const auto vertex = static_cast<Vertex>(label.first() + i);
    context.push(worker, worker.lane() == 0, label.rank, {vertex, vertex});
  }
  /// Lanes hold a task each; push() is called by all of them, with `has` false where there is
  /// nothing.
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    const bool is_news = active && label.atomic_min(task.vertex, task.label) > task.label;
    const EdgeOffset begin = is_news ? kOffsets[task.vertex] : 0;
    const EdgeOffset end = is_news ? kOffsets[task.vertex + 1] : 0;
    for (EdgeOffset edge = begin; worker.any(edge < end); ++edge) {
      const bool has = edge < end;
      const Vertex to = has ? kTargets[edge] : 0;
      context.push(worker, has, label.owner(to), {to, task.label});
    }
  }
};

int main(int count, char** arguments) {
  team::TeamOptions options;
  options.ranks = count > 1 ? std::atoi(arguments[1]) : 1;
  team::run_team(options, [](team::Team& team) {
    const exec::Stream stream(team.device());
    std::vector<std::uint64_t> cuts;  // Which rank owns which vertices.
    for (int q = 0; q <= team.size(); ++q)
      cuts.push_back(kVertices * static_cast<std::uint64_t>(q) /
                     static_cast<std::uint64_t>(team.size()));
    memory::GlobalArray<Vertex> label(team, cuts, 1, memory::Placement::device);
    exec::fill_bytes(stream, label.local_data(), 0xff, label.local_size() * sizeof(Vertex));
    stream.synchronize();

    schedule::TaskQueue<Components::Task> queue(team, {});
    const schedule::QueueReport report =
        schedule::run<exec::Cpu, exec::Serial>(team, stream, queue, Components{label.view()});

    std::map<Vertex, int> sizes;
    for (const Vertex found : label.to_host(team, stream)) ++sizes[found];
    if (team.rank() != 0) return;
    int largest = 0;
    for (const auto& [id, size] : sizes) largest = size > largest ? size : largest;
    std::printf("%zu components, the largest has %d vertices (%llu tasks, %llu messages)\n",
                sizes.size(), largest, static_cast<unsigned long long>(report.tasks),
                static_cast<unsigned long long>(report.messages_sent));
  });
}
