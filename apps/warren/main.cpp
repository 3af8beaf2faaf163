// SPDX-License-Identifier: Apache-2.0
// The program: what was asked for, and the exit status that says how it went.
#include <csignal>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/core/printable.hpp"

#include "command.hpp"
#include "options.hpp"

namespace warren::app {
namespace {

int fail(ExitStatus status, const std::string& message) {
  fmt::print(stderr, "warren: error: {}\n", printable(message));
  return static_cast<int>(status);
}

/// Which option would make it fit.
std::string memory_cure(const std::string& command, const std::string& message) {
  if (message.find("--") != std::string::npos) return "";
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
  const bool traverses =
      command == "bfs" || command == "pagerank" || command == "sssp" || command == "cc";
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

int run(int argc, char** argv) {
  CLI::App program("warren: computes on one graph across many memories.", "warren");
  program.set_version_flag("--version", std::string("warren ") + WARREN_VERSION);
  program.require_subcommand(1);
  program.footer(
      "Example:\n  warren bfs debian --source git --verify\n"
      "'warren COMMAND --help' tells a command's options, with an example.");
  Action action;
  add_info(program, action);
  add_convert(program, action);
  add_stats(program, action);
  add_partition(program, action);
  add_bfs(program, action);
  add_sssp(program, action);
  add_cc(program, action);
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
  try {
    check_command(argc > 1 ? argv[1] : "");
    program.parse(argc, argv);
    return static_cast<int>(action());
  } catch (const CLI::Success& success) {
    return program.exit(success);  // --help, --version.
  } catch (const CLI::ParseError& error) {
    const auto named = program.get_subcommands();
    const std::string command = named.empty() ? "" : named.front()->get_name() + " ";
    return fail(ExitStatus::unusable, fmt::format("{}{}; see 'warren {}--help'", error.what(),
                                                  nearest_name(program), command));
  } catch (const UsageError& error) {
    return fail(ExitStatus::unusable, error.what());
  } catch (const InputError& error) {
    return fail(ExitStatus::unusable, error.what());
  } catch (const MemoryError& error) {
    return fail(ExitStatus::not_enough_memory, error.what() + memory_cure(argv[1], error.what()));
  } catch (const std::bad_alloc&) {
    return fail(ExitStatus::not_enough_memory,
                "not enough memory on the host" + memory_cure(argv[1], ""));
  } catch (const std::exception& error) {
    return fail(ExitStatus::internal_failure, error.what());
  }
}

}  // namespace
}  // namespace warren::app

int main(int argc, char** argv) {
  // A file that may grow no further is an error that says so, not the end of the process.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return warren::app::run(argc, argv);
}
