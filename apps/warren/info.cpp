// SPDX-License-Identifier: Apache-2.0
// warren info: the devices, how they are linked, and what this program was built with.

#include "warren/api/machine.hpp"
#include "warren/core/error.hpp"

#include "option_rules.hpp"
#include "session.hpp"

namespace warren::app {
namespace {

struct InfoCommand : CommonOptions {
  bool check = false;
};

/// With as many ranks as --check takes where nobody says.
CommonOptions with_ranks(const InfoCommand& options) {
  CommonOptions asked = options;
  if (!options.check || options.devices != 0) return asked;
  const bool is_cpu = options.device_name == "cpu" || exec::cuda_device_count() == 0;
  asked.devices = check_ranks(is_cpu ? DeviceKind::cpu : DeviceKind::cuda);
  return asked;
}

/// Runs the checks, a line each. False if one failed.
bool check(Session& session) {
  const CheckOptions options{.devices = session.ranks(), .session = session.library()};
  const std::vector<CheckResult> results =
      session.during("checking", [&] { return check_machine(options); });
  session.add(to_json(results));
  session.print("{}", to_text(results));
  return have_passed(results);
}

ExitStatus run_info(const InfoCommand& options) {
  Session session("info", with_ranks(options));
  session.warn_of_seed(false);
  if (!options.check) {
    if (!is_one_of_several())
      warn_without_effect(options, {"--devices"}, "info tells of all devices");
    if (options.devices != 1)
      warn_without_effect(options, {"--no-peer"}, "info looks at links alone, but for --check");
  }
  warn_without_effect(options, {"--repeat"}, "info measures once");
  const bool has_ranks = is_one_of_several();
  require(!has_ranks || !options.check,
          "--check tries the devices of one process: start one, with --devices N");
  const Machine machine =
      session.during("measuring links", [&] { return look_at_machine(session.library()); });
  session.json().update(Json::parse(to_json(machine)));
  session.print("{}", to_text(machine));
  const bool is_right = !options.check || check(session);
  session.finish();
  return is_right ? ExitStatus::done : ExitStatus::not_verified;
}

}  // namespace

void add_info(CLI::App& program, Action& action) {
  const auto [info, options] =
      add_command<InfoCommand>(program, action, "info", "Devices, their links, and versions",
                               "Example:\n  warren info --json -\n  warren info --check", run_info);
  info.add_flag("--check", options.check,
                "Try memory, copies, barriers and every algorithm: a line each (exit status 4)");
  add_common_options(info, options);
}

}  // namespace warren::app
