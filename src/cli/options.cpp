// SPDX-License-Identifier: Apache-2.0
#include "compatpack/cli/options.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include "compatpack/base/arch.hpp"
#include "compatpack/base/text.hpp"
#include "compatpack/formats/archive.hpp"
#include "compatpack/formats/codec.hpp"
#include "compatpack/io/digest.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "suggestion.hpp"

namespace compatpack::cli {
namespace {

using commands::Verbosity;

// More threads than this gain nothing: no driver's xz payload has more blocks than that.
constexpr unsigned kJobsMax = 256;

/// What CLI11 fills in: text as typed, turned into options when all of it is known.
struct Raw {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";
  std::string progress = "auto";
  std::string bundle;
  std::vector<std::string> bundles;
  commands::ReadingOptions reading;
  std::string components = "cuda";
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string arch;
  std::string out;
  std::string prefix;
  bool force = false;
  bool dry_run = false;
  bool no_verify = false;
  bool no_sync = false;
  bool deep = false;
  bool repair = false;
  std::string tree;
  std::string shell = "sh";
  std::string module_format = "lua";
  std::string image_format{name_of(pipeline::ImageFormat::layout)};
  bool volume = false;
  std::string base;
  std::string tag;
  bool library_path = false;
  commands::HostOptions host;
  std::string application;
  unsigned timeout_s = 60;
  std::vector<std::string> command;
  std::string cuda;
};

CLI::IsMember one_of(std::vector<std::string> words) { return CLI::IsMember(std::move(words)); }

std::vector<std::string> arch_names() {
  std::vector<std::string> names;
  for (const ArchRow& row : archs()) {
    names.emplace_back(row.name);
  }
  return names;
}

void add_common(CLI::App& command, Raw& raw) {
  auto* const group = command.add_option_group("Output");
  if (command.get_name() != "run") {  // whose output is the command's
    group->add_flag("--json", raw.json, "print one JSON document on stdout");
  }
  group->add_flag("-q,--quiet", raw.quiet, "print errors only");
  group->add_flag("-v,--verbose", raw.verbose, "say more, such as why a library was left out");
  group->add_option("--color", raw.color, "colour in messages: auto, always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void add_reading(CLI::App& command, Raw& raw) {
  auto* const group = command.add_option_group("Reading");
  group->add_option("--sha256", raw.reading.checksums.sha256, "SHA-256 that the bundle must have")
      ->type_name("HEX");
  group->add_option("--sha1", raw.reading.checksums.sha1, "SHA-1 that the bundle must have")
      ->type_name("HEX");
  group->add_option("--md5", raw.reading.checksums.md5, "MD5 that the bundle must have")
      ->type_name("HEX");
  group
      ->add_option("--checksum-file", raw.reading.checksums.checksum_file,
                   "file with a line for the bundle, as sha256sum writes it (BUNDLE.sha256sum, "
                   "BUNDLE.sha256 and BUNDLE.md5sum are used by themselves)")
      ->type_name("FILE");
  group->add_flag("--require-checksum", raw.reading.require_checksum,
                  "refuse a bundle that nothing can be verified against");
  group
      ->add_option("--keyring", raw.reading.keyring,
                   "check the bundle's OpenPGP signature with the public keys in this file")
      ->type_name("FILE");
  group->add_option("--jobs", raw.reading.jobs, "threads for decompression (default: one a core)")
      ->check(CLI::Range(1U, kJobsMax))
      ->type_name("N");
  group->add_option("--progress", raw.progress, "progress on stderr: auto, always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void add_bundle(CLI::App& command, Raw& raw, const char* what, bool is_required = true) {
  command.add_option("BUNDLE", raw.bundle, what)->required(is_required)->type_name("");
  add_reading(command, raw);
}

void add_member(CLI::App& command, Raw& raw) {
  command
      .add_option("--member", raw.reading.member,
                  "which of the bundles inside the bundle is meant, by its path or name")
      ->type_name("GLOB");
}

void add_selection(CLI::App& command, Raw& raw) {
  auto* const group = command.add_option_group("Selection");
  group
      ->add_option("--components", raw.components,
                   "comma-separated: cuda (default), nvml, opencl, video, graphics, optix, all")
      ->type_name("LIST");
  group
      ->add_option("--include", raw.include,
                   "also take members whose path or name matches; can be repeated")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  group
      ->add_option("--exclude", raw.exclude,
                   "leave out members whose path or name matches; can be repeated")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  group->add_option("--arch", raw.arch, "x86_64, i386, aarch64 or ppc64le (default: this host's)")
      ->check(one_of(arch_names()))
      ->type_name("ARCH");
}

void add_table(CLI::App& command, Raw& raw) {
  command
      .add_option("--table", raw.host.table,
                  "a newer table, in CSV with the columns compat_cuda, host_branch, status")
      ->type_name("FILE");
}

void add_host(CLI::App& command, Raw& raw) {
  auto* const group = command.add_option_group("Host");
  group
      ->add_option("--driver", raw.host.driver,
                   "judge a machine with this kernel driver, not this one")
      ->type_name("VERSION");
  group
      ->add_option("--gpu", raw.host.gpus,
                   "judge a machine with this GPU, such as \"A100\"; can be repeated, or A100,T4")
      ->type_name("NAME");
  group
      ->add_option("--host-root", raw.host.root,
                   "the folder that is the machine's / (default: /), such as a mounted image")
      ->type_name("DIR");
  add_table(*group, raw);
}

/// The subcommands, so that what was named can be told.
struct Commands {
  CLI::App* extract;
  CLI::App* inspect;
  CLI::App* list;
  CLI::App* verify;
  CLI::App* env;
  CLI::App* module;
  CLI::App* image;
  CLI::App* check;
  CLI::App* probe;
  CLI::App* run;
  CLI::App* matrix;
};

void add_host_commands(CLI::App& app, Raw& raw, Commands& all) {
  all.check = app.add_subcommand(
      "check", "say whether a tree, or what a bundle holds, is expected to work on this host");
  add_bundle(*all.check, raw, "a tree, a bundle, or nothing for the host alone", false);
  add_member(*all.check, raw);
  add_host(*all.check, raw);
  all.check
      ->add_option("--app", raw.application,
                   "a program: which driver libraries it asks for, and which files it would take")
      ->type_name("FILE");

  all.probe = app.add_subcommand(
      "probe", "try CUDA in a fresh process with a tree active: load, initialise, run a kernel");
  all.probe->add_option("TREE", raw.tree, "a tree, or nothing for the host's own driver")
      ->type_name("");
  all.probe->add_option("--timeout", raw.timeout_s, "seconds until it is given up (default: 60)")
      ->check(CLI::Range(1U, 86'400U))
      ->type_name("SECONDS");

  all.run = app.add_subcommand("run", "run a command with a tree active");
  all.run->add_option("TREE", raw.tree, "a tree that extract made")->required()->type_name("");
  all.run->add_option("CMD", raw.command, "the command and its arguments, after --")
      ->required()
      ->type_name("");
  all.run
      ->add_option("--host-root", raw.host.root,
                   "where the host's driver version is read (default: /)")
      ->type_name("DIR");

  all.matrix = app.add_subcommand(
      "matrix", "print which packages work on which host branches, by whose word");
  all.matrix->add_option("--cuda", raw.cuda, "only packages of this CUDA version")
      ->type_name("X.Y");
  all.matrix->add_option("--driver", raw.host.driver, "only hosts of this driver version or branch")
      ->type_name("VERSION");
  add_table(*all.matrix, raw);
}

void add_tree_commands(CLI::App& app, Raw& raw, Commands& all) {
  all.env = app.add_subcommand("env", "print code that activates a tree, for eval");
  all.env->add_option("TREE", raw.tree, "a tree that extract made")->required()->type_name("");
  all.env->add_option("--shell", raw.shell, "sh (default), fish or csh")
      ->check(one_of({"sh", "fish", "csh"}))
      ->type_name("SHELL");

  all.module = app.add_subcommand("module",
                                  "print a modulefile for a tree, for Lmod or Environment Modules");
  all.module->add_option("TREE", raw.tree, "a tree that extract made")->required()->type_name("");
  all.module
      ->add_option("--format", raw.module_format,
                   "lua (default), for Lmod, or tcl, for Environment Modules")
      ->check(one_of({"lua", "tcl"}))
      ->type_name("FORMAT");
  all.module
      ->add_option("--prefix", raw.prefix, "where the tree will live, if that is not where it is")
      ->type_name("PATH");
}

/// Bundles that become a tree, and what is taken of them.
void add_tree_source(CLI::App& command, Raw& raw, const char* what) {
  command.add_option("BUNDLE", raw.bundles, what)->required()->type_name("");
  add_reading(command, raw);
  add_member(command, raw);
  command.add_flag("--no-verify", raw.no_verify, "do not compare checksums; recorded");
  add_selection(command, raw);
}

void add_image(CLI::App& app, Raw& raw, Commands& all) {
  all.image = app.add_subcommand(
      "image", "write an OCI image, or a layer of one, that holds a tree; needs no Docker");
  add_tree_source(*all.image, raw, "a tree that extract made, or bundles as for extract");
  all.image->add_option("-o,--out", raw.out, "folder or file to make")
      ->required()
      ->type_name("PATH");
  all.image
      ->add_option("--format", raw.image_format,
                   "layout (default), a folder; archive, the same in one tar file; layer, the "
                   "tree alone in a tar file")
      ->check(one_of({pipeline::kImageFormats.begin(), pipeline::kImageFormats.end()}))
      ->type_name("FORMAT");
  all.image
      ->add_option("--prefix", raw.prefix,
                   "where the tree will be in the image (default: /usr/local/cuda/compat)")
      ->type_name("PATH");
  all.image->add_flag("--volume", raw.volume,
                      "put the tree at the image's root, to be mounted at --prefix");
  all.image
      ->add_option("--base", raw.base, "image layout (a folder) whose image the tree is added to")
      ->type_name("LAYOUT");
  all.image->add_option("--tag", raw.tag, "name of the image in the layout (default: latest)")
      ->type_name("NAME");
  all.image->add_flag("--ld-library-path", raw.library_path,
                      "set LD_LIBRARY_PATH in the image: the tree is used on every host");
  all.image->add_flag("-f,--force", raw.force, "replace a file, or a layout that compatpack made");
}

Commands add_commands(CLI::App& app, Raw& raw) {
  Commands all{};
  all.extract = app.add_subcommand("extract", "verify a bundle and make a compat tree of it");
  add_tree_source(*all.extract, raw,
                  "a .run, .deb or .rpm file, a tar archive, or a folder; several make one tree");
  all.extract->add_option("-o,--out", raw.out, "folder to make")->required()->type_name("DIR");
  all.extract
      ->add_option("--prefix", raw.prefix,
                   "where the tree will live, if that is not --out: for shells that cannot tell")
      ->type_name("PATH");
  all.extract->add_flag("-f,--force", raw.force, "replace a tree that compatpack made");
  all.extract->add_flag("-n,--dry-run", raw.dry_run, "verify and report, and write nothing");
  all.extract->add_flag("--no-sync", raw.no_sync,
                        "do not wait for the disk: for image builds, thrown away on failure");

  all.inspect = app.add_subcommand("inspect", "say what a bundle is, from its header");
  add_bundle(*all.inspect, raw, "a .run, .deb or .rpm file, or a tar archive");
  all.inspect->add_flag("--deep", raw.deep, "read the libraries too");
  add_member(*all.inspect, raw);

  all.list = app.add_subcommand("list", "list a bundle's members, and which extract would take");
  add_bundle(*all.list, raw, "a .run, .deb or .rpm file, or a tar archive");
  add_selection(*all.list, raw);

  all.verify = app.add_subcommand("verify",
                                  "check all checksums of a bundle, or a tree against its receipt");
  add_bundle(*all.verify, raw, "a bundle or a tree");
  all.verify->add_flag("--repair", raw.repair, "mend links and modes of a tree");

  add_tree_commands(app, raw, all);
  add_image(app, raw, all);
  add_host_commands(app, raw, all);
  for (CLI::App* const command :
       {all.extract, all.inspect, all.list, all.verify, all.env, all.module, all.image, all.check,
        all.probe, all.run, all.matrix}) {
    add_common(*command, raw);
    command->fallthrough(false);
  }
  return all;
}

/// CLI11 writes what a value is as "WHEN:{auto,always,never}" or "N:UINT in [1 - 256]".
void describe_value(std::string_view type, OptionReference& option) {
  option.value = type.substr(0, type.find(':'));
  const auto open = type.find('{');
  if (open != std::string_view::npos) {
    const std::string_view words = type.substr(open + 1, type.find('}') - open - 1);
    for (const std::string_view word : split(words, ',')) {
      option.choices.emplace_back(word);
    }
  }
}

OptionReference describe(const CLI::Option& option) {
  OptionReference reference{.text = option.get_description(), .is_required = option.get_required()};
  for (const std::string& name : option.get_snames()) {
    reference.names.push_back('-' + name);
  }
  for (const std::string& name : option.get_lnames()) {
    reference.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    describe_value(type, reference);
  }
  return reference;
}

/// Options of `app` alone, then those of its groups, which CLI11 has as commands without a name.
void describe_groups(const CLI::App& app, const std::string& title, CommandReference& into) {
  OptionGroup group{title, {}};
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_positional()) {
      into.arguments.push_back({option->get_name(), option->get_description(),
                                option->get_required(), option->get_items_expected_max() > 1});
    } else if (title.empty() || option != app.get_help_ptr()) {
      group.options.push_back(describe(*option));
    }
  }
  if (!group.options.empty()) {
    into.groups.push_back(std::move(group));
  }
  for (const CLI::App* const inner : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (inner->get_name().empty()) {
      describe_groups(*inner, inner->get_group(), into);
    }
  }
}

CommandReference describe(const CLI::App& app) {
  CommandReference command{.name = app.get_parent() == nullptr ? "" : app.get_name(),
                           .text = app.get_description()};
  describe_groups(app, "", command);
  return command;
}

/// Those that help texts name, in the order in which they were added.
std::vector<CommandReference> describe_commands(const CLI::App& app) {
  std::vector<CommandReference> commands;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {
      commands.push_back(describe(*command));
    }
  }
  return commands;
}

Invocation message(std::string text, int status) {
  while (text.ends_with('\n')) {
    text.pop_back();
  }
  return {.command = Message{std::move(text), status}};
}

/// `what` is one clause, or what render() gives. `hint` stands before the pointer to --help.
Invocation usage_error(const std::string& what, const std::string& command,
                       const std::string& hint = "") {
  std::string text = "compatpack: error: " + what;
  if (!text.ends_with('\n')) {
    text += '\n';
  }
  return message(text + "  hint:     " + hint + "compatpack " +
                     (command.empty() ? "" : command + " ") + "--help",
                 2);
}

/// "did you mean NAME? See ", or "" where no name is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  const auto name = nearest_name(word, names);
  return name ? "did you mean " + *name + "? See " : "";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CommandReference& command : describe_commands(app)) {
    names.push_back(command.name);
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const OptionGroup& group : describe(command).groups) {
    for (const OptionReference& option : group.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

Invocation explain(const CLI::ParseError& fault, const CLI::App& app,
                   std::span<const std::string> arguments) {
  const auto used = app.get_subcommands();
  if (used.empty()) {
    const auto word = std::find_if(arguments.begin(), arguments.end(),
                                   [](const std::string& one) { return !one.starts_with('-'); });
    if (word != arguments.end()) {
      return usage_error("no such command: " + printable(*word), "",
                         suggestion(*word, command_names(app)));
    }
    return usage_error(arguments.empty()
                           ? "a command is required"
                           : "no such option before a command: " + printable(arguments.front()),
                       "");
  }
  const std::string command = used.front()->get_name();
  const auto extras = app.remaining(true);
  // A slip in an option's name often leaves another without its value: the slip is what to name.
  const auto slip = std::find_if(extras.begin(), extras.end(),
                                 [](const std::string& one) { return one.starts_with('-'); });
  if (slip != extras.end()) {
    if (command == "run") {
      return usage_error("unexpected argument: " + printable(*slip), command,
                         "options of the command go behind --: compatpack run TREE -- CMD... See ");
    }
    const std::string name = slip->substr(0, slip->find('='));
    return usage_error("unexpected argument: " + printable(*slip), command,
                       suggestion(name, option_names(*used.front())));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr && !extras.empty()) {
    return usage_error("unexpected argument: " + printable(extras.front()), command);
  }
  return usage_error(printable(trim(fault.what())), command);
}

/// "auto" is what `by_itself` says.
bool is_wanted(const std::string& when, bool by_itself) {
  return when == "always" || (when == "auto" && by_itself);
}

Result<pipeline::SelectionRequest> selection_of(const Raw& raw, const commands::Env& env) {
  CP_TRY(auto selection, pipeline::parse_components(raw.components));
  selection.include = raw.include;
  selection.exclude = raw.exclude;
  selection.arch = raw.arch.empty() ? env.host_arch : raw.arch;
  return selection;
}

commands::TreeSource tree_source_of(Raw& raw, pipeline::SelectionRequest selection) {
  return {.bundles = std::move(raw.bundles),
          .reading = std::move(raw.reading),
          .selection = std::move(selection),
          .verify = raw.no_verify ? pipeline::Verify::nothing : pipeline::Verify::claims};
}

commands::ImageOptions image_options_of(Raw raw, pipeline::SelectionRequest selection) {
  const char* const choosing = raw.components != "cuda" ? "--components"
                               : !raw.include.empty()   ? "--include"
                               : !raw.exclude.empty()   ? "--exclude"
                               : !raw.arch.empty()      ? "--arch"
                               : raw.no_verify          ? "--no-verify"
                                                        : "";
  commands::ImageOptions options{.source = tree_source_of(raw, std::move(selection)),
                                 .choosing = choosing,
                                 .out = std::move(raw.out),
                                 .volume = raw.volume,
                                 .base = std::move(raw.base),
                                 .library_path = raw.library_path,
                                 .force = raw.force};
  for (const auto format : {pipeline::ImageFormat::archive, pipeline::ImageFormat::layer}) {
    if (raw.image_format == name_of(format)) {
      options.format = format;
    }
  }
  if (!raw.prefix.empty()) {
    options.prefix = std::move(raw.prefix);
  }
  if (!raw.tag.empty()) {
    options.tag = std::move(raw.tag);
  }
  return options;
}

pipeline::Shell shell_named(const std::string& name) {
  if (name == "fish") {
    return pipeline::Shell::fish;
  }
  return name == "csh" ? pipeline::Shell::csh : pipeline::Shell::sh;
}

Invocation invocation_of(const Commands& commands, Raw raw, const commands::Env& env) {
  Invocation invocation;
  invocation.style = {.verbosity = raw.quiet     ? Verbosity::quiet
                                   : raw.verbose ? Verbosity::verbose
                                                 : Verbosity::normal,
                      .json = raw.json,
                      .color = is_wanted(raw.color, env.err_is_terminal && !env.no_color),
                      .progress = !raw.quiet && is_wanted(raw.progress, env.err_is_terminal)};
  if (*commands.extract || *commands.image || *commands.list) {
    auto selection = selection_of(raw, env);
    if (!selection) {
      return usage_error(render(selection.error()), *commands.extract ? "extract"
                                                    : *commands.image ? "image"
                                                                      : "list");
    }
    if (*commands.image) {
      invocation.command = image_options_of(std::move(raw), *std::move(selection));
      return invocation;
    }
    if (*commands.list) {
      invocation.command = commands::ListOptions{{std::move(raw.bundle), std::move(raw.reading)},
                                                 *std::move(selection)};
      return invocation;
    }
    invocation.command = commands::ExtractOptions{
        .source = tree_source_of(raw, *std::move(selection)),
        .out = std::move(raw.out),
        .prefix = std::move(raw.prefix),
        .force = raw.force,
        .dry_run = raw.dry_run,
        .durability = raw.no_sync ? io::Durability::none : io::Durability::synced};
  } else if (*commands.inspect) {
    invocation.command =
        commands::InspectOptions{{std::move(raw.bundle), std::move(raw.reading)}, raw.deep};
  } else if (*commands.verify) {
    invocation.command =
        commands::VerifyOptions{{std::move(raw.bundle), std::move(raw.reading)}, raw.repair};
  } else if (*commands.module) {
    invocation.command = commands::ModuleOptions{
        std::move(raw.tree), std::move(raw.prefix),
        raw.module_format == "tcl" ? pipeline::ModuleFormat::tcl : pipeline::ModuleFormat::lua};
  } else if (*commands.check) {
    invocation.command = commands::CheckOptions{{std::move(raw.bundle), std::move(raw.reading)},
                                                std::move(raw.host),
                                                std::move(raw.application)};
  } else if (*commands.probe) {
    invocation.command = commands::ProbeOptions{std::move(raw.tree), raw.timeout_s};
  } else if (*commands.run) {
    invocation.command =
        commands::RunOptions{std::move(raw.tree), std::move(raw.command), std::move(raw.host.root)};
  } else if (*commands.matrix) {
    invocation.command = commands::MatrixOptions{std::move(raw.cuda), std::move(raw.host.driver),
                                                 std::move(raw.host.table)};
  } else {
    invocation.command = commands::EnvOptions{std::move(raw.tree), shell_named(raw.shell)};
  }
  return invocation;
}

/// A variable of a script that is not set must not mean that an option was not given, such as a
/// checksum. Each value is looked at but those of a command that is run.
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* const option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_items_expected_max() > 0 && option->get_name() != "CMD") {
      option->check([](const std::string& value) { return value.empty() ? "is empty" : ""; });
    }
  }
  for (CLI::App* const inner : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_empty_values(*inner);
  }
}

/// The program's version, and those of the libraries that read bundles: a report of a fault needs
/// both.
std::string version_text() {
  return "compatpack " + std::string(pipeline::compatpack_version()) + "\nlibarchive " +
         formats::archive_library_version() + ", liblzma " + formats::xz_library_version() +
         ", libzstd " + formats::zstd_library_version() + ", zlib " +
         formats::gzip_library_version() + ", bzip2 " + formats::bzip2_library_version() +
         ", lz4 " + formats::lz4_library_version() + ", OpenSSL " + io::digest_library_version();
}

/// The whole command line. What it reads goes into `raw`, which must outlive it.
class CommandLine {
 public:
  explicit CommandLine(Raw& raw)
      : app_(
            "Makes CUDA forward-compatibility trees out of NVIDIA driver bundles, without root "
            "and without running anything in them",
            "compatpack") {
    app_.set_help_flag("-h,--help", "print this help");
    app_.set_version_flag("--version", version_text(), "print versions, its libraries' too");
    app_.require_subcommand(1);
    commands_ = add_commands(app_, raw);
    refuse_empty_values(app_);
  }

  CLI::App& app() { return app_; }
  const Commands& commands() const { return commands_; }

 private:
  CLI::App app_;
  Commands commands_{};
};

}  // namespace

Reference reference() {
  Raw raw;
  CommandLine line(raw);
  return {describe(line.app()), describe_commands(line.app())};
}

Invocation parse_arguments(std::span<const std::string> arguments, const commands::Env& env) {
  Raw raw;
  raw.reading.jobs = std::clamp(std::thread::hardware_concurrency(), 1U, kJobsMax);
  CommandLine line(raw);
  CLI::App& app = line.app();

  // CLI11 takes the last argument first.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    const auto used = app.get_subcommands();
    return message(used.empty() ? help_text({describe(app), describe_commands(app)})
                                : help_text(describe(*used.front())),
                   0);
  } catch (const CLI::CallForVersion& version) {
    return message(version.what(), 0);
  } catch (const CLI::ParseError& fault) {
    return explain(fault, app, arguments);
  }
  return invocation_of(line.commands(), std::move(raw), env);
}

}  // namespace compatpack::cli
