// SPDX-License-Identifier: Apache-2.0
// The program: what was asked for, and the exit status that says how it went.
#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/stop.hpp"
#include "warren/stamp/stamp.hpp"
#include "warren/team/processes.hpp"

#include "command.hpp"
#include "session.hpp"

namespace warren::app {
namespace {

/// Where a command's ranks may be processes that a launcher started.
enum class RankProcesses { none, on_one_host, on_hosts };
struct CommandEntry {
  const char* name;
  void (*add)(CLI::App& program, Action& action);
  RankProcesses ranks = RankProcesses::none;
};
/// In the order in which they are told.
constexpr CommandEntry kCommands[] = {{"info", add_info, RankProcesses::on_hosts},
                                      {"convert", add_convert},
                                      {"stats", add_stats},
                                      {"partition", add_partition},
                                      {"bfs", add_bfs, RankProcesses::on_hosts},
                                      {"sssp", add_sssp, RankProcesses::on_hosts},
                                      {"cc", add_cc, RankProcesses::on_hosts},
                                      {"bc", add_bc, RankProcesses::on_one_host},
                                      {"core", add_core, RankProcesses::on_one_host},
                                      {"triangles", add_triangles, RankProcesses::on_one_host},
                                      {"pagerank", add_pagerank, RankProcesses::on_hosts},
                                      {"gather", add_gather, RankProcesses::on_hosts},
                                      {"spmm", add_spmm, RankProcesses::on_hosts},
                                      {"sddmm", add_sddmm, RankProcesses::on_hosts},
                                      {"lookup", add_lookup, RankProcesses::on_hosts},
                                      {"train", add_train, RankProcesses::on_hosts},
                                      {"predict", add_predict, RankProcesses::on_hosts},
                                      {"sample", add_sample, RankProcesses::on_hosts},
                                      {"fetch", add_fetch},
                                      {"bench", add_bench}};

/// Those whose ranks may be in so many places.
std::vector<std::string> commands(RankProcesses ranks) {
  std::vector<std::string> names;
  for (const CommandEntry& command : kCommands) {
    if (command.ranks >= ranks) names.emplace_back(command.name);
  }
  return names;
}

/// Throws UsageError for a command that is unknown. Options pass.
void check_command(const std::string& command) {
  const std::vector<std::string> all = commands(RankProcesses::none);
  if (command.starts_with('-') || std::ranges::find(all, command) != all.end()) return;
  if (command.empty()) {
    throw UsageError(fmt::format("no command was given; there is: {}; see 'warren --help'",
                                 fmt::join(all, ", ")));
  }
  throw UsageError(fmt::format("the command {} is unknown{}; there is: {}", command,
                               did_you_mean(command, all), fmt::join(all, ", ")));
}

/// The option or command that the first one that is not known was meant to be.
std::string nearest_name(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> options, commands;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const CLI::App* one : command->get_subcommands(nullptr)) commands.push_back(one->get_name());
  for (const std::string& word : command->remaining()) {
    if (word.starts_with("--")) return did_you_mean(word.substr(0, word.find('=')), options);
    if (!commands.empty()) return did_you_mean(word, commands);
  }
  return "";
}

void add_commands(CLI::App& program, Action& action) {
  program.set_version_flag("--version", std::string("warren ") + stamp::version());
  program.require_subcommand(1);
  program.footer(
      "Example:\n  warren bfs debian --source git --verify\n"
      "'warren COMMAND --help' tells a command's options, with an example.");
  for (const CommandEntry& command : kCommands) command.add(program, action);
}

/// What is wrong with the words of the command line.
std::string message_of(const CLI::ParseError& error, const CLI::App& program) {
  const auto named = program.get_subcommands();
  const std::string see = named.empty() ? "" : named.front()->get_name() + " ";
  return fmt::format("{}{}; see 'warren {}--help'", error.what(), nearest_name(program), see);
}

bool asks_for_help(int argc, char** argv) {
  return argc < 2 || std::any_of(argv + 1, argv + argc, [](std::string_view word) {
           return word == "--help" || word == "-h" || word == "--version";
         });
}

/// Of a rank that a launcher started: throws UsageError where `command` has no ranks that are
/// processes, and lets rank 0 say so.
void check_launch(const team::Launch& launch, const std::string& command) {
  const auto* found = std::ranges::find(kCommands, std::string_view(command), &CommandEntry::name);
  const RankProcesses ranks = found == std::end(kCommands) ? RankProcesses::none : found->ranks;
  std::string why;
  if (ranks == RankProcesses::none) {
    why = fmt::format(
        "{} has no ranks that are processes yet, and {} started {}: start one process, with "
        "--devices N where the command has ranks",
        command, launch.launcher, launch.size);
  } else if (launch.spans_hosts && ranks != RankProcesses::on_hosts) {
    std::vector<std::string> others = commands(RankProcesses::on_hosts);
    std::ranges::sort(others);
    why = fmt::format(
        "{} has no ranks on several hosts yet, and {} started {} ranks on more than one: start all "
        "on one host; {} run on several",
        command, launch.launcher, launch.size, fmt::join(others, ", "));
  }
  if (why.empty()) return;
  if (launch.rank > 0) throw team::RefusedError(why);
  check_command(command);
  throw UsageError(why);
}

/// Joins the other ranks, if a launcher started some and there is work.
void join_ranks(std::optional<ProgramRanks>& ranks, const std::optional<team::Launch>& launch,
                const std::string& command, int argc, char** argv) {
  if (!launch || asks_for_help(argc, argv)) return;
  check_launch(*launch, command);
  std::string words;
  for (int i = 1; i < argc; ++i) words += (i > 1 ? " " : "") + std::string(argv[i]);
  ranks.emplace(*launch, std::string("warren ") + stamp::version(), words);
}

ExitStatus parse_and_do(CLI::App& program, const Action& action, bool is_first, int argc,
                        char** argv) {
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version.
    std::ostringstream text;
    (void)program.exit(success, text, text);
    if (is_first) write_standard_output(text.str());
    return ExitStatus::done;
  }
  return action();
}

int run(int argc, char** argv) {
  CLI::App program("warren: computes on one graph across many memories.", "warren");
  const std::string command = argc > 1 ? argv[1] : "";
  std::optional<ProgramRanks> ranks;  // Left once it is said how the run went.
  try {
    const std::optional<team::Launch> launch = team::find_launch();
    join_ranks(ranks, launch, command, argc, argv);
    const bool is_first = !launch || launch->rank == 0;
    Action action;
    add_commands(program, action);
    check_command(command);
    const ExitStatus status = parse_and_do(program, action, is_first, argc, argv);
    check_stop();
    // A launcher ends all ranks when one of them fails: that is left to the one that reports.
    return is_first ? static_cast<int>(status) : 0;
  } catch (const CLI::ParseError& error) {
    return report_failure(ExitStatus::unusable, message_of(error, program));
  } catch (...) {
    return report_failure(
        [&](const std::string& message) { return memory_cure(command, message); });
  }
}

}  // namespace
}  // namespace warren::app

int main(int argc, char** argv) {
  const warren::ProgramSignals signals;  // Ends the process by what nobody catches, too.
  return warren::app::run(argc, argv);
}
