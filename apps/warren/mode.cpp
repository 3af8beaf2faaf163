// SPDX-License-Identifier: Apache-2.0
#include "mode.hpp"

#include "warren/team/processes.hpp"

namespace warren::app {

void set_mode_fields(Json& json, const RunInfo& info) {
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

void set_byte_fields(Json& json, const RunInfo& info) {
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

void add_verified(Session& session, const RunInfo& info, const std::string& how) {
  if (!info.verdict) return;
  session.row("verified", "{}",
              info.verdict->correct ? "yes, " + how : "NO: " + info.verdict->message);
}

ExitStatus verification_status(const RunInfo& info, const std::string& what) {
  if (!info.verdict || info.verdict->correct) return ExitStatus::done;
  print_error(what.empty() ? info.verdict->message
                           : fmt::format("{}: {}", what, info.verdict->message));
  return ExitStatus::not_verified;
}

double median_seconds(const RunInfo& info) { return median(info.run_seconds); }

double edge_rate(const RunInfo& info, double edges) {
  const double middle = median_seconds(info);
  return middle > 0.0 ? edges / middle : 0.0;
}

}  // namespace warren::app
