// SPDX-License-Identifier: Apache-2.0
// The builders of tests/support for shell tests, and for whoever wants a bundle to try things on
// without NVIDIA's download. What it makes holds no NVIDIA code, and nothing in it runs.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/text.hpp"
#include "compatpack/base/version.hpp"

#include "support/compress.hpp"
#include "support/deb_file.hpp"
#include "support/elf_file.hpp"
#include "support/rpm_file.hpp"
#include "support/run_file.hpp"
#include "support/sample_driver.hpp"
#include "support/tar_file.hpp"

namespace {

using namespace compatpack::test;
namespace fs = std::filesystem;

constexpr std::string_view kUsage = R"(fixture_tool: makes bundles to test with

  fixture_tool nvidia-run   --out FILE [content] [header] [damage]
      --layout a|b           oldest headers (up to 313), or all later ones (b)
      --generator WORD       last word of the banner (1.6.0-nv9)
      --label TEXT  --embed N  N bytes of program between script and payload (0)
      --summed-from LINE     --no-check-commands
  fixture_tool upstream-run --out FILE [content] [header] [damage]
      --era 1.5|2.0|2.1|2.3|2.4.0|2.4.2|2.4.3|2.4.5|2.5|2.6|2.7   (2.4.5)
      --label TEXT  --licence FILE  --raw-licence FILE  --banner VERSION
      --sha256  --base64  --chunk FILE (compressed tar; again for more)
  fixture_tool deb          --out FILE [content]   with md5sums
  fixture_tool rpm          --out FILE [content]   with all digests
      --package NAME         (cuda-compat-12-4)
  fixture_tool tar          --out FILE [content]
      --link NAME=TARGET  --hardlink NAME=TARGET  --fifo NAME  --device NAME
      --folder NAME          put in as they come, names unchecked
  fixture_tool elf          --out FILE
      --arch x86_64|i386|aarch64|ppc64le|ppc64  --soname NAME  --needed NAME
      --version-need LIBRARY:VERSION  --note JSON  --executable  --stripped
      --rpath PATH  --runpath PATH
      --filler BYTES

  content:  --file NAME=PATH   one member from a file (again for more)
            --text NAME=TEXT   one member from the command line
            --from DIR         every file below DIR
            without any of them, a small driver:
            --version V (535.54.03)  --arch A (x86_64)  --no-compat32
            --manifest auto|none  --filler BYTES (20000)
            --compress xz|xz-nocheck|zstd|gzip|bzip2|lz4|none
                               (xz-nocheck for drivers up to 525, else zstd)
            --payload FILE     these bytes as they are, instead of all that
  header:   --field NAME=RAW   --without NAME     sums are made after these
  damage:   --crc TEXT  --md5 TEXT  --sha TEXT  --flip OFFSET  --trailing TEXT
            --crlf  --cut BYTES (the file's first so many)
)";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line as options in order; every one that nobody asks for is an error.
class Arguments {
 public:
  Arguments(int count, char** words) {
    for (int i = 2; i < count; ++i) {
      std::string_view word = words[i];
      if (!word.starts_with("--")) {
        throw UsageError("an option is expected, not \"" + std::string(word) + "\"");
      }
      const bool has_value = i + 1 < count && !std::string_view(words[i + 1]).starts_with("--");
      given_.push_back({std::string(word.substr(2)), has_value ? words[++i] : "", false});
    }
  }

  std::vector<std::string> all(std::string_view name) {
    std::vector<std::string> values;
    for (Given& one : given_) {
      if (one.name == name) {
        one.used = true;
        values.push_back(one.value);
      }
    }
    return values;
  }

  std::optional<std::string> last(std::string_view name) {
    const auto values = all(name);
    return values.empty() ? std::nullopt : std::optional(values.back());
  }

  std::string last(std::string_view name, std::string fallback) {
    return last(name).value_or(std::move(fallback));
  }

  bool has(std::string_view name) { return !all(name).empty(); }

  std::optional<std::size_t> number(std::string_view name) {
    const auto text = last(name);
    if (!text) {
      return std::nullopt;
    }
    const auto value = compatpack::parse_decimal(*text);
    if (!value) {
      throw UsageError("--" + std::string(name) + " takes a number, not \"" + *text + "\"");
    }
    return *value;
  }

  void refuse_the_rest() const {
    for (const Given& one : given_) {
      if (!one.used) {
        throw UsageError("option --" + one.name + " is not known here");
      }
    }
  }

  /// Options in the order of the command line, for archives, whose members have one.
  void each(const std::map<std::string, std::function<void(const std::string&)>>& actions) {
    for (Given& one : given_) {
      if (const auto action = actions.find(one.name); action != actions.end()) {
        one.used = true;
        action->second(one.value);
      }
    }
  }

 private:
  struct Given {
    std::string name;
    std::string value;
    bool used;
  };
  std::vector<Given> given_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

std::pair<std::string, std::string> pair_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError("NAME=VALUE is expected, not \"" + text + "\"");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<SampleMember> members_below(const fs::path& folder) {
  std::vector<SampleMember> members;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      const bool runs = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
      members.push_back({entry.path().lexically_relative(folder).string(), read_file(entry.path()),
                         runs ? 0755U : 0644U});
    }
  }
  std::sort(members.begin(), members.end(),
            [](const SampleMember& a, const SampleMember& b) { return a.path < b.path; });
  return members;
}

std::vector<SampleMember> driver_members(Arguments& arguments) {
  SampleDriverOptions options;
  options.version = arguments.last("version", options.version);
  options.arch = arguments.last("arch", options.arch);
  options.compat32 = !arguments.has("no-compat32");
  options.filler = arguments.number("filler").value_or(options.filler);
  const std::string manifest = arguments.last("manifest", "auto");
  if (manifest != "auto" && manifest != "none") {
    throw UsageError("--manifest takes auto or none");
  }
  options.manifest = manifest == "auto";
  return make_sample_driver(options);
}

std::vector<SampleMember> given_members(Arguments& arguments) {
  std::vector<SampleMember> members;
  arguments.each({
      {"file",
       [&](const std::string& value) {
         const auto [name, path] = pair_of(value);
         members.push_back({name, read_file(path), 0755});
       }},
      {"text",
       [&](const std::string& value) {
         const auto [name, text] = pair_of(value);
         members.push_back({name, text, 0644});
       }},
      {"from",
       [&](const std::string& value) {
         for (SampleMember& member : members_below(value)) {
           members.push_back(std::move(member));
         }
       }},
  });
  return members;
}

/// The members that the options name, or those of a driver.
std::vector<SampleMember> content_of(Arguments& arguments) {
  auto members = given_members(arguments);
  return members.empty() ? driver_members(arguments) : members;
}

NamedCompression compression_of(Arguments& arguments, const std::string& usual) {
  const std::string name = arguments.last("compress", usual);
  const auto how = compression_named(name);
  if (!how) {
    throw UsageError("--compress does not know " + name);
  }
  return *how;
}

std::string make_package_deb(Arguments& arguments) {
  const auto members = content_of(arguments);
  const NamedCompression how = compression_of(arguments, "zstd");
  std::string sums;
  for (const SampleMember& member : members) {
    if (!member.path.ends_with('/')) {
      sums +=
          digest_of(compatpack::DigestAlgorithm::md5, member.content) + "  " + member.path + "\n";
    }
  }
  const std::string control = "Package: " + arguments.last("package", "cuda-compat-12-4") +
                              "\nVersion: " + arguments.last("version", "535.54.03") +
                              "-1\nArchitecture: amd64\nMaintainer: nobody\nDescription: test\n";
  TarFile facts;
  facts.file("./control", control).file("./md5sums", sums);
  return make_deb(facts.bytes(), compress(how.compression, make_driver_tar(members), how.options))
      .bytes();
}

std::string make_package_rpm(Arguments& arguments) {
  RpmFile rpm;
  constexpr std::uint32_t kName = 1000;
  constexpr std::uint32_t kVersion = 1001;
  rpm.header().text(kName, arguments.last("package", "cuda-compat-12-4"));
  rpm.header().text(kVersion, arguments.last("version", "535.54.03"));
  for (const SampleMember& member : content_of(arguments)) {
    if (!member.path.ends_with('/')) {
      rpm.file("/" + member.path, member.content, 0100000U | member.mode);
    }
  }
  return rpm.with_compression(compression_of(arguments, "zstd").compression).bytes();
}

struct Payload {
  std::string bytes;
  std::string compression;
};

Payload make_payload(Arguments& arguments) {
  if (const auto path = arguments.last("payload")) {
    return {read_file(*path), arguments.last("compress", "unknown")};
  }
  auto members = given_members(arguments);
  if (members.empty()) {
    members = driver_members(arguments);
  }
  // From 530 on NVIDIA packs with zstd, before that with xz.
  const auto version = compatpack::DriverVersion::parse(arguments.last("version", "535.54.03"));
  const bool xz_era = version && version->branch() < 530;
  const std::string name = arguments.last("compress", xz_era ? "xz-nocheck" : "zstd");
  const auto how = compression_named(name);
  if (!how) {
    throw UsageError("--compress does not know " + name);
  }
  return {compress(how->compression, make_driver_tar(members), how->options),
          name == "xz-nocheck" ? "xz" : name};
}

/// `size` bytes that begin as a program does, and hold what could mislead a reader: new lines, the
/// magic numbers of compressors, a line like an assignment.
std::string make_program(std::size_t size) {
  std::string program = ElfFile().as_executable().with_filler(size).bytes();
  program.insert(std::min<std::size_t>(program.size(), 300),
                 "\nskip=3\n\x28\xB5\x2F\xFD\n\xFD"
                 "7zXZ\n\x1F\x8B\n");
  program.resize(size);
  return program;
}

template <class Builder>
void apply_changes(Builder& run, Arguments& arguments) {
  for (const std::string& field : arguments.all("field")) {
    auto [name, raw] = pair_of(field);
    run.with_field(std::move(name), std::move(raw));
  }
  for (const std::string& name : arguments.all("without")) {
    run.without_field(name);
  }
  if (const auto crc = arguments.last("crc")) {
    run.with_crc(*crc);
  }
  if (const auto md5 = arguments.last("md5")) {
    run.with_md5(*md5);
  }
  if (const auto sha = arguments.last("sha")) {
    run.with_sha(*sha);
  }
  if (const auto offset = arguments.number("flip")) {
    run.with_flipped_byte(*offset);
  }
  if (const auto trailing = arguments.last("trailing")) {
    run.with_trailing(*trailing);
  }
  if (arguments.has("crlf")) {
    run.with_crlf();
  }
}

std::string make_nvidia_run(Arguments& arguments) {
  Payload payload = make_payload(arguments);
  const std::string layout = arguments.last("layout", "b");
  if (layout != "a" && layout != "b") {
    throw UsageError("--layout takes a or b");
  }
  NvidiaRun run(std::move(payload.bytes), layout == "a" ? NvidiaLayout::a : NvidiaLayout::b);
  run.with_compression(payload.compression)
      .with_version(arguments.last("version", "535.54.03"))
      .with_arch(arguments.last("arch", "x86_64"));
  if (const auto size = arguments.number("embed"); size && *size > 0) {
    run.with_program(make_program(*size));
  }
  if (const auto word = arguments.last("generator")) {
    run.with_generator(*word);
  }
  if (const auto label = arguments.last("label")) {
    run.with_label(*label);
  }
  if (const auto line = arguments.number("summed-from")) {
    run.with_summed_from(*line);
  }
  if (arguments.has("no-check-commands")) {
    run.without_check_commands();
  }
  apply_changes(run, arguments);
  return run.build().bytes;
}

MakeselfEra era_named(const std::string& name) {
  const std::map<std::string, MakeselfEra> eras = {
      {"1.5", MakeselfEra::v1_5},     {"2.0", MakeselfEra::v2_0},
      {"2.1", MakeselfEra::v2_1},     {"2.3", MakeselfEra::v2_3},
      {"2.4.0", MakeselfEra::v2_4_0}, {"2.4.2", MakeselfEra::v2_4_2},
      {"2.4.3", MakeselfEra::v2_4_3}, {"2.4.5", MakeselfEra::v2_4_5},
      {"2.5", MakeselfEra::v2_5},     {"2.6", MakeselfEra::v2_6},
      {"2.7", MakeselfEra::v2_7}};
  const auto found = eras.find(name);
  if (found == eras.end()) {
    throw UsageError("--era does not know " + name);
  }
  return found->second;
}

std::string make_upstream_run(Arguments& arguments) {
  Payload payload = make_payload(arguments);
  UpstreamRun run(std::move(payload.bytes), era_named(arguments.last("era", "2.4.5")));
  run.with_compression(payload.compression);
  for (const std::string& path : arguments.all("chunk")) {
    run.with_chunk(read_file(path));
  }
  if (const auto label = arguments.last("label")) {
    run.with_label(*label);
  }
  if (const auto path = arguments.last("licence")) {
    run.with_licence(read_file(*path));
  }
  if (const auto path = arguments.last("raw-licence")) {
    run.with_raw_licence(read_file(*path));
  }
  if (const auto banner = arguments.last("banner")) {
    run.with_banner(*banner);
  }
  if (arguments.has("sha256")) {
    run.with_sha256();
  }
  if (arguments.has("base64")) {
    run.with_base64();
  }
  apply_changes(run, arguments);
  return run.build().bytes;
}

std::string make_tar(Arguments& arguments) {
  TarFile tar(TarFile::Flavour::gnu);
  bool any = false;
  const auto with_pair = [&](TarFile& (TarFile::*add)(std::string, std::string)) {
    return [&tar, &any, add](const std::string& value) {
      auto [name, target] = pair_of(value);
      (tar.*add)(std::move(name), std::move(target));
      any = true;
    };
  };
  const auto with_name = [&](TarFile& (TarFile::*add)(std::string)) {
    return [&tar, &any, add](const std::string& value) {
      (tar.*add)(value);
      any = true;
    };
  };
  const auto add_file = [&](std::string name, std::string content, unsigned mode) {
    tar.file(std::move(name), std::move(content), mode);
    any = true;
  };
  arguments.each({
      {"file",
       [&](const std::string& value) {
         auto [name, path] = pair_of(value);
         add_file(std::move(name), read_file(path), 0755);
       }},
      {"text",
       [&](const std::string& value) {
         auto [name, text] = pair_of(value);
         add_file(std::move(name), std::move(text), 0644);
       }},
      {"from",
       [&](const std::string& value) {
         for (SampleMember& member : members_below(value)) {
           add_file("./" + member.path, std::move(member.content), member.mode);
         }
       }},
      {"folder", [&](const std::string& name) { any = (tar.folder(name), true); }},
      {"link", with_pair(&TarFile::symlink)},
      {"hardlink", with_pair(&TarFile::hardlink)},
      {"fifo", with_name(&TarFile::fifo)},
      {"device", with_name(&TarFile::character_device)},
  });
  const std::string bytes = any ? tar.bytes() : make_driver_tar(driver_members(arguments));
  const std::string name = arguments.last("compress", "none");
  const auto how = compression_named(name);
  if (!how) {
    throw UsageError("--compress does not know " + name);
  }
  return compress(how->compression, bytes, how->options);
}

std::string make_elf(Arguments& arguments) {
  const std::map<std::string, ElfTarget> targets = {{"x86_64", kX86_64},
                                                    {"i386", kI386},
                                                    {"aarch64", kAarch64},
                                                    {"ppc64le", kPpc64le},
                                                    {"ppc64", kPpc64Big}};
  const std::string arch = arguments.last("arch", "x86_64");
  const auto target = targets.find(arch);
  if (target == targets.end()) {
    throw UsageError("--arch does not know " + arch);
  }
  ElfFile elf(target->second);
  elf.with_soname(arguments.last("soname", ""));
  for (const std::string& library : arguments.all("needed")) {
    elf.with_needed(library);
  }
  for (const std::string& need : arguments.all("version-need")) {
    const std::size_t colon = need.find(':');
    if (colon == std::string::npos) {
      throw UsageError("--version-need takes LIBRARY:VERSION");
    }
    elf.with_version_need(need.substr(0, colon), need.substr(colon + 1));
  }
  elf.with_rpath(arguments.last("rpath", ""));
  elf.with_runpath(arguments.last("runpath", ""));
  if (const auto json = arguments.last("note")) {
    elf.with_note(*json);
  }
  if (arguments.has("executable")) {
    elf.as_executable();
  }
  if (arguments.has("stripped")) {
    elf.without_sections();
  }
  elf.with_filler(arguments.number("filler").value_or(0));
  return elf.bytes();
}

int run(int count, char** words) {
  const std::map<std::string, std::string (*)(Arguments&)> commands = {
      {"nvidia-run", make_nvidia_run},
      {"upstream-run", make_upstream_run},
      {"deb", make_package_deb},
      {"rpm", make_package_rpm},
      {"tar", make_tar},
      {"elf", make_elf}};
  const std::string name = count > 1 ? words[1] : "";
  if (name == "--help") {
    std::cout << kUsage;
    return 0;
  }
  const auto command = commands.find(name);
  if (command == commands.end()) {
    throw UsageError(name.empty() ? "a command is expected" : "no such command: " + name);
  }
  Arguments arguments(count, words);
  const auto out = arguments.last("out");
  if (!out) {
    throw UsageError("--out FILE is expected");
  }
  const auto cut = arguments.number("cut");
  std::string bytes = command->second(arguments);
  arguments.refuse_the_rest();
  if (cut) {
    bytes.resize(std::min<std::size_t>(*cut, bytes.size()));
  }
  write_file(*out, bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    std::cerr << "fixture_tool: " << error.what() << "\n(fixture_tool --help says what there is)\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "fixture_tool: " << error.what() << '\n';
    return 1;
  }
}
