// SPDX-License-Identifier: Apache-2.0
// warren fetch: a public dataset by name, from where its authors publish it.
#include "warren/dataset/fetch.hpp"

#include "warren/core/quantity.hpp"
#include "warren/core/trace.hpp"

#include "command.hpp"
#include "option_rules.hpp"
#include "session.hpp"

namespace warren::app {
namespace {

struct FetchCommand {
  CommonOptions common;
  std::string name;
  learn::FetchOptions options;
};

ExitStatus run_fetch(const FetchCommand& command) {
  Session session("fetch", command.common);
  session.warn_of_seed(false);
  warn_without_effect(command.common, {"--device", "--devices", "--threads", "--repeat"},
                      "fetch brings files, once");
  const double begin = now_seconds();
  const learn::FetchResult result = session.during("fetching " + command.name, [&] {
    return learn::fetch_dataset(command.name, command.options);
  });
  Json& json = session.json();
  json["seconds"] = std::vector<double>{now_seconds() - begin};
  json["dataset"] = command.name;
  json["folder"] = result.folder;
  json["files"] = result.files;
  json["bytes"] = result.bytes;
  json["was_there"] = result.was_there;
  if (result.was_there) {
    session.print("{}: all {} there, as fetched\n", result.folder,
                  counted(result.files, "file", "files"));
  } else {
    session.print(
        "{}: {} in {}; {}\n", result.folder, human_bytes(result.bytes),
        counted(result.files, "file", "files"),
        result.is_pinned
            ? "its sums are those of the published files"
            : "not all sums are published: they were recorded, and are checked from now on");
  }
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_fetch(CLI::App& program, Action& action) {
  const auto [fetch, command] = add_command<FetchCommand>(
      program, action, "fetch", "Bring a public dataset into $WARREN_DATA or ~/.cache/warren",
      "Example:\n  warren fetch cora && warren train cora --model gcn", run_fetch);
  add_text(fetch, "name", command.name,
           "cora, citeseer, pubmed, ogbn-arxiv, ogbn-products, ogbn-papers100M, reddit")
      ->required();
  add_text(fetch, "--from", command.options.from,
           "Take the files from here instead of the authors' address (https, http, file)",
           "ADDRESS");
  fetch.add_flag("--again", command.options.again, "Bring it also where it is there");
  add_common_options(fetch, command.common);
}

}  // namespace warren::app
