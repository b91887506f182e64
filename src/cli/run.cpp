// SPDX-License-Identifier: Apache-2.0
#include "compatpack/cli/run.hpp"

#include <exception>
#include <new>
#include <system_error>

#include "compatpack/cli/options.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/io/digest.hpp"

namespace compatpack::cli {
namespace {

// sysexits.h: internal software error.
constexpr int kBug = 70;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>  // clang 14 does not deduce aggregates
Overloaded(Functions...)->Overloaded<Functions...>;

Result<int> run_command(const Invocation& invocation, const commands::Env& env,
                        commands::Console& console) {
  return std::visit(
      Overloaded{
          [&](const Message& message) -> Result<int> {
            (message.status == 0 ? env.out : env.err) << message.text << '\n';
            return message.status;
          },
          [&](const commands::ExtractOptions& options) {
            return commands::run_extract(options, env, console);
          },
          [&](const commands::InspectOptions& options) {
            return commands::run_inspect(options, env, console);
          },
          [&](const commands::ListOptions& options) {
            return commands::run_list(options, env, console);
          },
          [&](const commands::VerifyOptions& options) {
            return commands::run_verify(options, env, console);
          },
          [&](const commands::EnvOptions& options) { return commands::run_env(options, console); },
          [&](const commands::ModuleOptions& options) {
            return commands::run_module(options, console);
          },
          [&](const commands::ImageOptions& options) {
            return commands::run_image(options, env, console);
          },
          [&](const commands::CheckOptions& options) {
            return commands::run_check(options, env, console);
          },
          [&](const commands::ProbeOptions& options) {
            return commands::run_probe(options, env, console);
          },
          [&](const commands::RunOptions& options) {
            return commands::run_run(options, env, console);
          },
          [&](const commands::MatrixOptions& options) {
            return commands::run_matrix(options, env, console);
          },
      },
      invocation.command);
}

}  // namespace

int run(std::span<const std::string> arguments, const commands::Env& env) {
  const Invocation invocation = parse_arguments(arguments, env);
  commands::Console console(env, invocation.style);
  try {
    auto status = run_command(invocation, env, console);
    if (!status) {
      console.error(status.error());
      return exit_status(status.error().code);
    }
    env.out.flush();
    if (!env.out) {
      if (env.reader_has_gone && env.reader_has_gone()) {
        return exit_status(Errc::io);  // as of `| head`, which has what it wants
      }
      console.error(Error{.code = Errc::io,
                          .what = "cannot write the answer",
                          .subject = "stdout",
                          .hint = "what was to be done is done; only saying so failed"});
      return exit_status(Errc::io);
    }
    return *status;
  } catch (const std::bad_alloc&) {
    console.error(Error{.code = Errc::io, .what = "out of memory; nothing was written"});
    return exit_status(Errc::io);
  } catch (const io::DigestUnavailable& fault) {
    console.error(Error{.code = Errc::unsupported,
                        .what = "the bundle's checksums cannot be computed here",
                        .found = fault.what(),
                        .hint = "--no-verify does without them, and the receipt says so"});
    return exit_status(Errc::unsupported);
  } catch (const std::system_error& fault) {
    console.error(Error{.code = Errc::io, .what = "cannot go on", .found = fault.what()});
    return exit_status(Errc::io);
  } catch (const std::exception& fault) {
    console.error(Error{.code = Errc::io,
                        .what = "a bug in compatpack; nothing was written",
                        .found = fault.what(),
                        .hint = "please report it, with the command and the bundle's name"});
    return kBug;
  }
}

}  // namespace compatpack::cli
