// SPDX-License-Identifier: Apache-2.0
#include "mode.hpp"

#include "text.hpp"

namespace warren::app {

Mode choose_mode(team::Team& team, const graph::Shard& shard, std::uint64_t reached,
                 std::uint64_t levels, bool is_weighted) {
  const traverse::ModeChoice choice =
      traverse::choose_mode(team, shard, reached, levels, is_weighted);
  return {choice.is_async, choice.reason};
}

void set_mode_fields(Json& json, const Mode& mode, const traverse::AsyncReport* report) {
  json["mode"] = mode.is_async ? "async" : "sync";
  if (!mode.reason.empty()) json["mode_reason"] = mode.reason;
  if (report == nullptr) return;
  const schedule::QueueReport& queue = report->queue;
  json["tasks"] = queue.tasks;
  json["rank_tasks"] = queue.rank_tasks;
  json["rank_idle_seconds"] = queue.rank_idle_seconds;
  json["expanded"] = report->expanded;
  if (report->redundancy > 0.0) json["redundancy"] = report->redundancy;
  json["spilled"] = queue.spilled;
  json["persistent"] = queue.is_persistent;
  json["rounds"] = queue.rounds;
  const std::size_t ranks = queue.rank_tasks.size();
  json["messages"] = Json::array();
  json["message_bytes"] = Json::array();
  for (std::size_t p = 0; p < ranks; ++p) {
    Json messages = Json::array(), bytes = Json::array();
    for (std::size_t q = 0; q < ranks; ++q) {
      messages.push_back(queue.messages[p * ranks + q]);
      bytes.push_back(queue.bytes[p * ranks + q]);
    }
    json["messages"].push_back(messages);
    json["message_bytes"].push_back(bytes);
  }
}

std::string mode_text(const Mode& mode, const traverse::AsyncReport* report) {
  std::string text = mode.is_async ? "asynchronous" : "synchronous";
  if (!mode.reason.empty()) text += fmt::format(" ({})", mode.reason);
  if (report == nullptr) return text;
  text += fmt::format(": {} tasks", thousands(report->queue.tasks));
  if (report->redundancy > 0.0)
    text += fmt::format(", each vertex worked on {:.2f} times", report->redundancy);
  if (report->queue.messages_sent > 0)
    text += fmt::format(", {} messages between ranks", thousands(report->queue.messages_sent));
  return text;
}

}  // namespace warren::app
