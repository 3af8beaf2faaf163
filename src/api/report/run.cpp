// SPDX-License-Identifier: Apache-2.0
#include "api/report/run.hpp"

#include "warren/api/report.hpp"
#include "warren/core/quantity.hpp"
#include "warren/exec/device.hpp"
#include "warren/stamp/stamp.hpp"
#include "warren/team/processes.hpp"

namespace warren {

const char* name_of(Edges edges) {
  switch (edges) {
    case Edges::device:
      return "device";
    case Edges::host:
      return "host";
    case Edges::compressed_host:
      return "compressed-host";
    case Edges::file:
      return "file";
  }
  return "device";
}

std::string place_of(const RunInfo& info) {
  const std::string ranks = counted(static_cast<std::uint64_t>(info.devices), "rank", "ranks");
  const auto* processes = team::Processes::current();
  std::string where = processes != nullptr ? " in processes" : "";
  if (info.device == DeviceKind::cuda)
    return fmt::format("{}, {}{}", exec::Device::cuda(0).model(), ranks, where);
  if (processes != nullptr && processes->hosts() > 1)
    where += fmt::format(" on {} hosts", processes->hosts());
  return fmt::format("cpu, {}{}, {}", ranks, where,
                     counted(static_cast<std::uint64_t>(info.threads), "thread", "threads"));
}

std::string to_json(const std::string& command, const RunInfo& info) {
  return api::written(api::document(command, info));
}

namespace api {

Json document(const std::string& command, const RunInfo& info) {
  Json json = Json::object();
  json["command"] = command;
  json["device"] = info.device == DeviceKind::cuda ? "cuda" : "cpu";
  json["devices"] = info.devices;
  json["devices_reason"] = info.devices_reason;
  if (const auto* processes = team::Processes::current()) {
    json["processes"] = processes->size();
    if (processes->hosts() > 1) json["hosts"] = processes->hosts();
  }
  json.update(Json::parse(stamp::origin(info.device, info.devices)));
  json["threads"] = info.threads;
  return json;
}

Json document(const std::string& command, const Graph& graph, const RunInfo& info) {
  Json json = document(command, info);
  json["vertices"] = graph.vertices();
  json["edges"] = graph.edges();
  json["seconds"] = info.run_seconds;
  return json;
}

void set_mode(Json& json, const RunInfo& info) {
  json["mode"] = info.mode == Mode::asynchronous ? "async" : "sync";
  if (!info.mode_reason.empty()) json["mode_reason"] = info.mode_reason;
  if (!info.report) return;
  const TaskReport& report = *info.report;
  json["tasks"] = report.tasks;
  json["rank_tasks"] = report.rank_tasks;
  json["rank_idle_seconds"] = report.rank_idle_seconds;
  json["expanded"] = report.expanded;
  if (report.redundancy > 0.0) json["redundancy"] = report.redundancy;
  json["spilled"] = report.spilled;
  json["persistent"] = report.is_persistent;
  json["rounds"] = report.rounds;
  const std::size_t ranks = report.rank_tasks.size();
  json["messages"] = Json::array();
  json["message_bytes"] = Json::array();
  for (std::size_t p = 0; p < ranks; ++p) {
    Json messages = Json::array(), bytes = Json::array();
    for (std::size_t q = 0; q < ranks; ++q) {
      messages.push_back(report.messages[p * ranks + q]);
      bytes.push_back(report.message_bytes[p * ranks + q]);
    }
    json["messages"].push_back(messages);
    json["message_bytes"].push_back(bytes);
  }
}

void set_bytes(Json& json, const RunInfo& info) {
  json["edges_placement"] = name_of(info.edges);
  if (info.edges == Edges::file) json["edges_reason"] = info.edges_reason;
  json["bytes_read"] = info.bytes_read;
  if (info.edges == Edges::file) json["file_wait_seconds"] = info.file_wait_seconds;
  set_bytes_between_hosts(json, info.bytes_between_hosts);
}

void set_bytes_between_hosts(Json& json, std::uint64_t bytes) {
  const auto* processes = team::Processes::current();
  if (processes != nullptr && processes->hosts() > 1) json["bytes_between_hosts"] = bytes;
}

std::string mode_text(const RunInfo& info) {
  std::string text = info.mode == Mode::asynchronous ? "asynchronous" : "synchronous";
  if (!info.mode_reason.empty()) text += fmt::format(" ({})", info.mode_reason);
  if (!info.report) return text;
  text += fmt::format(": {} tasks", thousands(info.report->tasks));
  if (info.report->redundancy > 0.0)
    text += fmt::format(", each vertex worked on {:.2f} times", info.report->redundancy);
  if (info.report->messages_sent > 0)
    text += fmt::format(", {} messages between ranks", thousands(info.report->messages_sent));
  return text;
}

Json verified(const RunInfo& info) {
  return info.verdict ? Json(info.verdict->correct) : Json(nullptr);
}

Json if_verified(bool is_verified, const Json& value) {
  return is_verified ? value : Json(nullptr);
}

void add_verified(Text& text, const RunInfo& info, const std::string& how) {
  if (!info.verdict) return;
  text.row("verified", "{}",
           info.verdict->correct ? "yes, " + how : "NO: " + info.verdict->message);
}

void add_lists(Text& text, const RunInfo& info) {
  if (info.edges != Edges::file) return;
  text.row("lists", "in the file ({}): {} read a run, {} waited for it", info.edges_reason,
           human_bytes(info.bytes_read), duration(info.file_wait_seconds));
}

double edge_rate(const RunInfo& info, double edges) {
  const double middle = median(info.run_seconds);
  return middle > 0.0 ? edges / middle : 0.0;
}

Json json_id(const VertexNames& names, Vertex v) {
  return names.are_words() ? Json(names.name(v)) : Json(names.number(v));
}

Json json_ids(const VertexNames& names, const std::vector<Vertex>& vertices) {
  Json ids = Json::array();
  for (const Vertex v : vertices) ids.push_back(json_id(names, v));
  return ids;
}

}  // namespace api
}  // namespace warren
