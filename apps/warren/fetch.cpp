// SPDX-License-Identifier: Apache-2.0
// warren fetch: a public dataset by name, from where its authors publish it.
#include "warren/dataset/fetch.hpp"

#include <memory>

#include "warren/core/trace.hpp"

#include "command.hpp"
#include "option_rules.hpp"
#include "session.hpp"
#include "text.hpp"

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
  learn::FetchResult result;
  const double begin = now_seconds();
  {
    const auto progress = session.progress("fetching " + command.name);
    result = learn::fetch_dataset(command.name, command.options);
  }
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
  auto command = std::make_shared<FetchCommand>();
  CLI::App* fetch =
      add_command(program, "fetch", "Bring a public dataset into $WARREN_DATA or ~/.cache/warren");
  fetch
      ->add_option("name", command->name,
                   "cora, citeseer, pubmed, ogbn-arxiv, ogbn-products, ogbn-papers100M, reddit")
      ->type_name("NAME")
      ->required();
  fetch
      ->add_option("--from", command->options.from,
                   "Take the files from here instead of the authors' address (https, http, file)")
      ->type_name("ADDRESS");
  fetch->add_flag("--again", command->options.again, "Bring it also where it is there");
  add_common_options(*fetch, command->common);
  fetch->footer("Example:\n  warren fetch cora && warren train cora --model gcn");
  fetch->callback([command, &action] { action = [command] { return run_fetch(*command); }; });
}

}  // namespace warren::app
