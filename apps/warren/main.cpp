// SPDX-License-Identifier: Apache-2.0
// The program: what was asked for, and the exit status that says how it went.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/core/stop.hpp"
#include "warren/stamp/stamp.hpp"
#include "warren/team/processes.hpp"

#include "command.hpp"
#include "options.hpp"

namespace warren::app {
namespace {

int fail(ExitStatus status, const std::string& message) {
  end_other_ranks(message);
  print_last_error(message, static_cast<int>(status));
  return static_cast<int>(status);
}
/// Of what only this rank may have met.
int fail_here(ExitStatus status, const std::string& message) {
  return fail(status, is_one_of_several() ? message + this_rank() : message);
}

/// Which option would make it fit.
std::string memory_cure(const std::string& command, const std::string& message) {
  if (message.find("--") != std::string::npos || command == "fetch") return "";
  if (command == "gather") return "; a smaller --rows, --k or --count would fit";
  if (command == "lookup") return "; a smaller --rows, --k or --batch would fit";
  if (command == "train") {
    return "; a smaller --hidden or fewer --layers would fit, and on GPUs more of them (--devices "
           "N)";
  }
  if (command == "sample") return "; a smaller --batch, --fanout or --in-flight would fit";
  if (message.find("pinned") != std::string::npos) {
    return "; a file converted with --compress and read with --edges compressed-host needs less";
  }
  const bool traverses = command == "bfs" || command == "pagerank" || command == "sssp" ||
                         command == "cc" || command == "bc" || command == "core" ||
                         command == "triangles";
  if (message.find("cuda:") != std::string::npos && traverses) {
    return "; --edges host keeps the neighbour lists in host memory, and more GPUs (--devices N) "
           "hold a "
           "smaller part each";
  }
  if (message.find("cuda:") != std::string::npos) {
    return "; more GPUs (--devices N) hold a smaller part each, and --device cpu uses the host";
  }
  return "; a smaller graph would fit, for ids with gaps --compact makes one";
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
  add_info(program, action);
  add_convert(program, action);
  add_stats(program, action);
  add_partition(program, action);
  add_bfs(program, action);
  add_sssp(program, action);
  add_cc(program, action);
  add_bc(program, action);
  add_core(program, action);
  add_triangles(program, action);
  add_pagerank(program, action);
  add_gather(program, action);
  add_spmm(program, action);
  add_sddmm(program, action);
  add_lookup(program, action);
  add_train(program, action);
  add_predict(program, action);
  add_sample(program, action);
  add_fetch(program, action);
  add_bench(program, action);
}

/// Of what is being thrown: its message, and the status that it ends the program with.
int report(const CLI::App& program, const std::string& command) {
  if (const int signal = stop_signal(); signal != 0) {
    print_last_error(interruption(signal), status_of_signal(signal));
    return status_of_signal(signal);
  }
  try {
    throw;
  } catch (const CLI::ParseError& error) {
    const auto named = program.get_subcommands();
    const std::string see = named.empty() ? "" : named.front()->get_name() + " ";
    return fail(ExitStatus::unusable, fmt::format("{}{}; see 'warren {}--help'", error.what(),
                                                  nearest_name(program), see));
  } catch (const ClosedPipeError&) {
    return status_of_signal(SIGPIPE);  // Whoever read from it has had enough: no message.
  } catch (const team::RefusedError&) {
    // Rank 0 says why. A launcher ends it as soon as another rank has ended.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return static_cast<int>(ExitStatus::unusable);
  } catch (const UsageError& error) {
    return fail(ExitStatus::unusable, error.what());
  } catch (const InputError& error) {
    return fail_here(ExitStatus::unusable, error.what());
  } catch (const MemoryError& error) {
    return fail_here(ExitStatus::not_enough_memory,
                     error.what() + memory_cure(command, error.what()));
  } catch (const ThreadError& error) {
    return fail_here(ExitStatus::not_enough_memory, error.what());
  } catch (const std::bad_alloc&) {
    return fail_here(ExitStatus::not_enough_memory,
                     "not enough memory on the host" + memory_cure(command, ""));
  } catch (const std::system_error& error) {
    const bool is_memory = error.code() == std::errc::not_enough_memory;
    return fail_here(is_memory ? ExitStatus::not_enough_memory : ExitStatus::internal_failure,
                     error.what());
  } catch (const TeamError& error) {
    if (is_one_of_several()) return status_of_other_rank();
    return fail(ExitStatus::internal_failure, error.what());
  } catch (const std::exception& error) {
    return fail_here(ExitStatus::internal_failure, error.what());
  }
}

bool asks_for_help(int argc, char** argv) {
  return argc < 2 || std::any_of(argv + 1, argv + argc, [](std::string_view word) {
           return word == "--help" || word == "-h" || word == "--version";
         });
}

/// Of a rank that a launcher started: throws UsageError where `command` has no ranks that are
/// processes, and lets rank 0 say so.
void check_launch(const team::Launch& launch, const std::string& command) {
  const RankProcesses ranks = rank_processes(command);
  std::string why;
  if (ranks == RankProcesses::none) {
    why = fmt::format(
        "{} has no ranks that are processes yet, and {} started {}: start one process, with "
        "--devices N where the command has ranks",
        command, launch.launcher, launch.size);
  } else if (launch.spans_hosts && ranks != RankProcesses::on_hosts) {
    why = fmt::format(
        "{} has no ranks on several hosts yet, and {} started {} ranks on more than one: start all "
        "on one host; {} run on several",
        command, launch.launcher, launch.size, fmt::join(commands_on_hosts(), ", "));
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
  } catch (...) {
    return report(program, command);
  }
}

}  // namespace
}  // namespace warren::app

int main(int argc, char** argv) {
  const warren::ProgramSignals signals;  // Ends the process by what nobody catches, too.
  return warren::app::run(argc, argv);
}
