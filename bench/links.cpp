// SPDX-License-Identifier: Apache-2.0
// Measures and prints the links between the devices of this machine.
//
//   bench_links --device cuda --devices 4 --out FILE
#include "warren/team/links.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "report.hpp"

int main(int argc, char** argv) {
  using namespace warren;
  std::string device = "cpu";
  int devices = 1;
  std::string out;
  CLI::App app{"Measures the links between devices"};
  app.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--devices", devices, "How many, from 0");
  app.add_option("--out", out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<exec::Device> list;
    for (int i = 0; i < devices; ++i)
      list.push_back(device == "cuda" ? exec::Device::cuda(i) : exec::Device::cpu());
    const team::Links links = team::measure_links(list);
    nlohmann::json results = nlohmann::json::array();
    const auto report = [&](const std::string& from, const std::string& to,
                            const team::Link& link) {
      fmt::print("{:>7} -> {:7} {:9.1f} GB/s {:8.2f} us\n", from, to, link.gigabytes_per_second,
                 link.microseconds);
      results.push_back({{"from", from},
                         {"to", to},
                         {"gigabytes_per_second", link.gigabytes_per_second},
                         {"microseconds", link.microseconds}});
    };
    for (int a = 0; a < devices; ++a) {
      const auto name = [&](int i) { return fmt::format("{}:{}", device, i); };
      for (int b = 0; b < devices; ++b) report(name(a), name(b), links.between(a, b));
      report("host", name(a), links.host(a));
    }
    for (const auto& group : links.workgroups())
      fmt::print("workgroup: {}\n", fmt::join(group, " "));
    const std::string model = list.empty() ? "" : list.front().model();
    bench::write_report(out, {{"benchmark", "links"}, {"model", model}, {"results", results}},
                        device == "cuda" ? exec::DeviceKind::cuda : exec::DeviceKind::cpu, devices);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_links: {}\n", error.what());
    return 1;
  }
}
