// SPDX-License-Identifier: Apache-2.0

// The whole program in one process: arguments in, exit status, stdout, stderr and files out.

#include "compatpack/cli/run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "compatpack/base/limits.hpp"

#include "support/compress.hpp"
#include "support/run_file.hpp"
#include "support/sample_driver.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using compatpack::formats::Compression;
using compatpack::test::NvidiaRun;
using compatpack::test::SampleDriverOptions;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

/// What the user sees: a folder, a host, a terminal if wanted.
class Session {
 public:
  std::string host_arch = "x86_64";
  std::string host_glibc = "2.36";
  bool terminal = false;
  bool no_color = true;
  int width = 80;
  bool interrupted = false;
  std::function<void()> while_reading = [] {};  ///< called for each block of a bundle
  std::chrono::milliseconds tick{0};            ///< by which the clock moves each time it is read

  [[nodiscard]] std::string at(const std::string& name) const {
    return (fs::canonical(temp_.path()) / name).string();
  }
  /// What stands in the folder, but for the bundle.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(temp_.path())) {
      names.push_back(one.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(at(name), std::ios::binary) << content;
    return at(name);
  }

  /// Runs the program. In what it prints, the folder's name becomes DIR.
  Outcome run(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    Clock::time_point now{};
    const commands::Env env{.out = out,
                            .err = err,
                            .err_is_terminal = terminal,
                            .width = width,
                            .no_color = no_color,
                            .host_arch = host_arch,
                            .host_glibc = host_glibc,
                            .interrupted =
                                [this] {
                                  while_reading();
                                  return interrupted;
                                },
                            .now =
                                [this, &now] {
                                  now += tick;
                                  return now;
                                }};
    const int status = cli::run(arguments, env);
    return {status, plain(out.str()), plain(err.str())};
  }

 private:
  [[nodiscard]] std::string plain(std::string text) const {
    const std::string folder = fs::canonical(temp_.path()).string();
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;) {
      text.replace(at, folder.size(), "DIR");
    }
    return text;
  }

  test::TempDir temp_;
};

NvidiaRun driver(const std::string& version = "535.54.03") {
  const SampleDriverOptions options{.version = version, .filler = 500};
  return NvidiaRun(test::compress(Compression::zstd,
                                  test::make_driver_tar(test::make_sample_driver(options))))
      .with_version(version);
}

/// A session with a driver at driver.run.
class DriverSession : public Session {
 public:
  explicit DriverSession(const NvidiaRun& run = driver()) : file(run.build()) {
    write("driver.run", file.bytes);
  }
  [[nodiscard]] std::string bundle() const { return at("driver.run"); }
  [[nodiscard]] std::string tree() const { return at("tree"); }

  /// extract driver.run --out tree, and more.
  Outcome extract(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"extract", bundle(), "--out", tree()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  test::RunFile file;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Every name below `folder` with its content, or where a link leads.
std::map<std::string, std::string> snapshot(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& one : fs::directory_iterator(folder)) {
    all[one.path().filename().string()] = one.is_symlink()
                                              ? "-> " + fs::read_symlink(one.path()).string()
                                              : content_of(one.path().string());
  }
  return all;
}

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (auto it = json.begin(); it != json.end(); ++it) {
    keys.push_back(it.key());
  }
  return keys;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("run: extract makes the tree and says what is in it") {
  DriverSession session;

  const Outcome outcome = session.extract();

  CHECK(outcome.status == 0);
  CHECK(outcome.out ==
        "DIR/tree: driver 535.54.03, CUDA 12.2, x86_64\n"
        "  libcuda.so.535.54.03                          1.4 kB  <- libcuda.so.1 <- libcuda.so\n"
        "  libcudadebugger.so.535.54.03                  1.4 kB  <- libcudadebugger.so.1\n"
        "  libnvidia-nvvm.so.535.54.03                   1.4 kB  <- libnvidia-nvvm.so.4\n"
        "  libnvidia-pkcs11-openssl3.so.535.54.03        1.4 kB\n"
        "  libnvidia-pkcs11.so.535.54.03                 1.4 kB\n"
        "  libnvidia-ptxjitcompiler.so.535.54.03         1.4 kB  <- libnvidia-ptxjitcompiler.so.1 "
        "<- libnvidia-ptxjitcompiler.so\n"
        "  verified: cksum and MD5 of its header\n"
        "  to use it: . DIR/tree/env.sh\n");
  CHECK(outcome.err.empty());
  CHECK(session.names() == Names{"driver.run", "tree"});
  const auto tree = snapshot(session.tree());
  CHECK(tree.at("libcuda.so") == "-> libcuda.so.1");
  CHECK(tree.at("libcuda.so.1") == "-> libcuda.so.535.54.03");
  CHECK(tree.at("env.sh").find(session.tree()) != std::string::npos);
  CHECK(tree.contains("compatpack.json"));
  CHECK(tree.contains("LICENSE"));
  CHECK_FALSE(tree.contains("libnvidia-ml.so.535.54.03"));
}

TEST_CASE("run: the same bundle and options again is up to date, and nothing is touched") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);
  const auto before = fs::last_write_time(session.tree());

  for (const Names& more : {Names{}, Names{"--force"}, Names{"--dry-run"}}) {
    const Outcome again = session.extract(more);
    CHECK(again.status == 0);
    CHECK(again.out == "DIR/tree: up to date\n");
    CHECK(again.err.empty());
  }
  CHECK(fs::last_write_time(session.tree()) == before);
}

TEST_CASE("run: a checksum that is new to a tree is checked before it is called up to date") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);
  const std::string sha256 = test::reference_sha256(session.file.bytes);
  const std::string md5 = test::reference_md5(session.file.bytes);

  CHECK(session.extract({"--sha256", sha256}).out == "DIR/tree: up to date\n");
  CHECK(session.extract({"--md5", md5}).out == "DIR/tree: up to date\n");
  CHECK(session.extract({"--sha256", std::string(64, '0')}).status == 4);
  const Outcome wrong = session.extract({"--md5", std::string(32, '0')});
  CHECK(wrong.status == 4);
  CHECK(wrong.err ==
        "compatpack: error: DIR/driver.run: MD5 does not match the one in --md5\n"
        "  expected: 00000000000000000000000000000000 over bytes 0.." +
            std::to_string(session.file.bytes.size()) +
            "\n"
            "  found:    " +
            md5 +
            "\n"
            "  hint:     the download is damaged; fetch it again\n");
}

TEST_CASE("run: a bundle that no digest identifies is read to know that it is the same") {
  const NvidiaRun run = driver().with_md5(std::string(32, '0'));
  DriverSession session(run);
  REQUIRE(session.extract().status == 0);
  CHECK(session.extract().out == "DIR/tree: up to date\n");

  // Of the same size and header, but another.
  std::string other = session.file.bytes;
  other.back() = static_cast<char>(other.back() ^ 1);
  session.write("driver.run", other);

  CHECK(session.extract().status == 1);
}

TEST_CASE("run: another tree is refused, and replaced under --force only") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);
  session.write("driver.run", driver("550.54.15").build().bytes);

  const Outcome refused = session.extract();
  CHECK(refused.status == 1);
  CHECK(refused.out.empty());
  CHECK(refused.err.starts_with("compatpack: error: DIR/tree: target holds another tree\n"));
  CHECK(refused.err.ends_with("  hint:     --force replaces it\n"));
  CHECK(snapshot(session.tree()).contains("libcuda.so.535.54.03"));

  CHECK(session.extract({"--force"}).status == 0);
  const auto tree = snapshot(session.tree());
  CHECK(tree.contains("libcuda.so.550.54.15"));
  CHECK_FALSE(tree.contains("libcuda.so.535.54.03"));
  CHECK(session.names() == Names{"driver.run", "tree"});
}

TEST_CASE(
    "run: another prefix, and a bundle of the same size with another header, are another tree") {
  DriverSession session(driver().with_label("A driver"));
  REQUIRE(session.extract().status == 0);

  CHECK(session.extract({"--prefix", "/opt/compat"}).status == 1);
  // The CRC is a decimal number, so not every other label gives the same size.
  std::string other;
  for (char letter = 'B'; other.size() != session.file.bytes.size(); ++letter) {
    REQUIRE(letter <= 'Z');
    other = driver().with_label(std::string(1, letter) + " driver").build().bytes;
  }
  session.write("driver.run", other);
  CHECK(session.extract().status == 1);
}

TEST_CASE("run: a tree that is not whole any more is made anew under --force only") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);
  fs::remove(session.at("tree/libcuda.so.1"));

  const Outcome refused = session.extract();
  CHECK(refused.status == 1);
  CHECK(refused.err ==
        "compatpack: error: DIR/tree: tree is not whole any more\n"
        "  found:    libcuda.so.1 is missing\n"
        "  hint:     --force makes it anew\n");

  CHECK(session.extract({"--force"}).status == 0);
  CHECK(fs::is_symlink(session.at("tree/libcuda.so.1")));
}

TEST_CASE(
    "run: a folder that compatpack did not make is never replaced, nor a file put into a tree") {
  DriverSession session;
  fs::create_directory(session.tree());
  session.write("tree/mine", "x");
  for (const Names& more : {Names{}, Names{"--force"}}) {
    const Outcome outcome = session.extract(more);
    CHECK(outcome.status == 1);
    CHECK(outcome.err ==
          "compatpack: error: DIR/tree: target holds something that compatpack did not make\n"
          "  expected: nothing, an empty folder, or a tree of compatpack's\n"
          "  found:    has files, and no compatpack.json\n"
          "  hint:     choose another --out; such a folder is never replaced\n");
  }
  fs::remove(session.at("tree/mine"));
  REQUIRE(session.extract().status == 0);
  session.write("tree/mine", "x");
  session.write("driver.run", driver("550.54.15").build().bytes);

  const Outcome outcome = session.extract({"--force"});

  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("tree holds a file that compatpack did not put there") !=
        std::string::npos);
  CHECK(fs::exists(session.at("tree/mine")));
}

TEST_CASE("run: what appears at the target while the bundle is read is not replaced") {
  // Larger than what is read of a bundle before the target is looked at: its header's limit.
  const SampleDriverOptions large{.version = "550.54.15", .filler = 200'000};
  const std::string bytes =
      NvidiaRun(test::make_driver_tar(test::make_sample_driver(large))).build().bytes;
  REQUIRE(bytes.size() > Limits{}.header.value);
  for (const bool tree_before : {false, true}) {
    CAPTURE(tree_before);
    DriverSession session;
    if (tree_before) {
      REQUIRE(session.extract().status == 0);
    }
    session.write("driver.run", bytes);
    int reads = 0;
    session.while_reading = [&] {
      if (++reads == 2) {
        fs::remove_all(session.tree());
        fs::create_directory(session.tree());
        session.write("tree/mine", "x");
      }
    };

    const Outcome outcome = session.extract({"--force"});

    CHECK(outcome.status == 1);
    CHECK(reads > 2);
    CHECK(content_of(session.at("tree/mine")) == "x");
    CHECK(session.names() == Names{"driver.run", "tree"});
  }
}

TEST_CASE("run: --dry-run says what would be made, and writes nothing") {
  DriverSession session;

  const Outcome outcome = session.extract({"--dry-run"});

  CHECK(outcome.status == 0);
  CHECK(outcome.out.starts_with(
      "DIR/tree: driver 535.54.03, CUDA 12.2, x86_64 (dry run: nothing was written)\n"
      "  libcuda.so.535.54.03 "));
  CHECK(outcome.out.find("to use it") == std::string::npos);
  CHECK(session.names() == Names{"driver.run"});

  Outcome real = session.extract({"--json"});
  const Outcome dry = DriverSession().extract({"--json", "--dry-run"});
  Json would = Json::parse(dry.out);
  CHECK(would["status"] == "would extract");
  would["status"] = "extracted";
  CHECK(would["files"].size() == Json::parse(real.out)["files"].size());
  CHECK(would["links"] == Json::parse(real.out)["links"]);
}

TEST_CASE("run: two runs with the same options give byte-identical trees") {
  DriverSession session;
  REQUIRE(session.run({"extract", session.bundle(), "-o", session.at("a"), "--prefix", "/opt/c"})
              .status == 0);
  REQUIRE(session
              .run({"extract", session.bundle(), "-o", session.at("b"), "--prefix", "/opt/c",
                    "--jobs", "3"})
              .status == 0);

  CHECK(snapshot(session.at("a")) == snapshot(session.at("b")));
  CHECK(snapshot(session.at("a")).at("env.sh").find("/opt/c") != std::string::npos);
}

TEST_CASE("run: --json prints one document with the same keys each time") {
  DriverSession session;
  const Names keys{"status",         "tree",         "format",  "compatpack",
                   "driver_version", "cuda_version", "bundles", "verification_skipped",
                   "selection",      "prefix",       "files",   "links",
                   "left_out"};

  const Outcome first = session.extract({"--json"});
  const Outcome again = session.extract({"--json"});

  CHECK(first.status == 0);
  CHECK(first.err.empty());
  CHECK(keys_of(Json::parse(first.out)) == keys);
  CHECK(keys_of(Json::parse(again.out)) == keys);
  CHECK(Json::parse(first.out)["status"] == "extracted");
  CHECK(Json::parse(again.out)["status"] == "up to date");
  CHECK(Json::parse(first.out)["tree"] == "DIR/tree");
  CHECK(Json::parse(first.out)["bundles"][0]["sha256"] ==
        test::reference_sha256(session.file.bytes));
}

TEST_CASE("run: extract takes other components, globs and architectures as asked") {
  DriverSession session;

  const Outcome video = session.extract({"--components", "cuda,nvml", "--exclude", "*pkcs11*"});
  CHECK(video.status == 0);
  CHECK(video.err.starts_with("compatpack: warning: component nvml: "));
  CHECK(snapshot(session.tree()).contains("libnvidia-ml.so.1"));
  CHECK_FALSE(snapshot(session.tree()).contains("libnvidia-pkcs11.so.535.54.03"));

  CHECK(session.extract({"--arch", "i386", "--force"}).status == 0);
  CHECK(snapshot(session.tree()).contains("libcuda.so.1"));
  CHECK_FALSE(snapshot(session.tree()).contains("libcudadebugger.so.1"));
}

TEST_CASE("run: --include takes one glob each time, and leaves the bundle's name alone") {
  DriverSession session;

  const Outcome outcome = session.run({"extract", "--include", "nvidia-smi", "--include",
                                       "nvidia.icd", session.bundle(), "--out", session.tree()});

  CHECK(outcome.status == 0);
  CHECK(snapshot(session.tree()).contains("nvidia-smi"));
  CHECK(snapshot(session.tree()).contains("nvidia.icd"));
}

TEST_CASE("run: a bundle whose checksum does not match leaves nothing, with status 4") {
  DriverSession session(driver().with_flipped_byte(3'000));

  const Outcome outcome = session.extract();

  CHECK(outcome.status == 4);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("compatpack: error: DIR/driver.run: "));
  CHECK(outcome.err.find("does not match the one in its header\n  expected: ") !=
        std::string::npos);
  CHECK(session.names() == Names{"driver.run"});
}

TEST_CASE("run: --no-verify is said loudly and recorded") {
  DriverSession session(driver().with_md5(std::string(32, '1')));

  const Outcome outcome = session.extract({"--no-verify"});

  CHECK(outcome.status == 0);
  CHECK(outcome.err == "compatpack: warning: --no-verify: checksums are not compared\n");
  CHECK(outcome.out.find("  NOT VERIFIED: --no-verify was given\n") != std::string::npos);
  const Json receipt = Json::parse(content_of(session.at("tree/compatpack.json")));
  CHECK(receipt["verification_skipped"] == true);
  CHECK(receipt["bundles"][0]["verified"].empty());
  CHECK(session.extract().status == 1);
}

TEST_CASE("run: --require-checksum refuses a bundle of which nobody says anything") {
  DriverSession session(driver().with_crc("0000000000").with_md5(std::string(32, '0')));

  const Outcome refused = session.extract({"--require-checksum"});
  CHECK(refused.status == 3);
  CHECK(refused.err ==
        "compatpack: error: DIR/driver.run: nothing to verify the bundle against\n"
        "  expected: a checksum in the bundle, beside it or on the command line\n"
        "  found:    none, or only zeros\n"
        "  hint:     give --sha256 from where the bundle comes from\n");
  CHECK(session.names() == Names{"driver.run"});

  CHECK(session.extract().out.find("not verified: the bundle carries no checksums") !=
        std::string::npos);
  fs::remove_all(session.tree());
  session.write("driver.run.sha256", test::reference_sha256(session.file.bytes) + "  driver.run\n");
  const Outcome outcome = session.extract({"--require-checksum"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("  verified: SHA-256 of driver.run.sha256\n") != std::string::npos);
}

TEST_CASE("run: --sha256 is compared, and one that is no digest is a usage error") {
  DriverSession session;

  CHECK(session.extract({"--sha256", std::string(64, '0')}).status == 4);
  const Outcome malformed = session.extract({"--sha256", "abc"});
  CHECK(malformed.status == 2);
  CHECK(malformed.err ==
        "compatpack: error: --sha256: not a digest\n"
        "  expected: 64 hexadecimal digits\n"
        "  found:    abc\n");
  CHECK(session.names() == Names{"driver.run"});

  const Outcome good = session.extract({"--sha256", test::reference_sha256(session.file.bytes)});
  CHECK(good.status == 0);
  CHECK(good.out.find("SHA-256 of --sha256, cksum and MD5 of its header") != std::string::npos);
}

TEST_CASE("run: a checksum file beside the bundle that says nothing of it is a warning") {
  DriverSession session;
  session.write("driver.run.sha256sum", std::string(64, '0') + "  other.run\n");

  const Outcome outcome = session.extract();

  CHECK(outcome.status == 0);
  CHECK(outcome.err ==
        "compatpack: warning: driver.run.sha256sum beside the bundle is not used: it "
        "has no line for driver.run\n");
}

TEST_CASE("run: places where a tree cannot be are refused before the bundle is read") {
  DriverSession session;
  struct Case {
    std::string out;
    int status;
    const char* said;
  };
  for (const Case& c : {Case{"/usr/lib/compat", 1, "refusing to write into the system's library"},
                        Case{session.at("a:b"), 2, "LD_LIBRARY_PATH cannot carry this path"},
                        Case{session.at("driver.run/tree"), 1, "is not a folder"},
                        Case{"", 2, "--out: is empty"}}) {
    CAPTURE(c.out);
    const Outcome outcome = session.run({"extract", session.bundle(), "--out", c.out});
    CHECK(outcome.status == c.status);
    CHECK(outcome.err.find(c.said) != std::string::npos);
  }
  CHECK(session.extract({"--prefix", "relative"}).status == 2);
  CHECK(session.names() == Names{"driver.run"});
}

TEST_CASE("run: a hostile bundle leaves nothing behind, with status 3") {
  const std::string tar =
      test::TarFile().file("libcuda.so.535.54.03", "x").file("../evil", "x").bytes();
  DriverSession session{NvidiaRun(test::compress(Compression::gzip, tar))};

  const Outcome outcome = session.extract();

  CHECK(outcome.status == 3);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("found:    ../evil\n") != std::string::npos);
  CHECK(session.names() == Names{"driver.run"});
}

TEST_CASE("run: a host whose C library is too old is warned of") {
  DriverSession session;
  session.host_glibc = "2.12";

  CHECK(session.extract().err ==
        "compatpack: warning: the libraries need glibc 2.17, this host has 2.12\n");
}

TEST_CASE("run: --quiet prints errors only, and --verbose what was left out") {
  DriverSession session;
  session.host_glibc = "2.12";

  const Outcome quiet = session.extract({"--quiet"});
  CHECK(quiet.status == 0);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());

  fs::remove_all(session.tree());
  session.host_glibc = "2.36";
  const Outcome verbose = session.extract({"-v"});
  CHECK(verbose.err.find("compatpack: left out: libnvidia-ml.so.535.54.03: component nvml was not "
                         "asked for\n") != std::string::npos);

  session.write("driver.run", "no bundle");
  CHECK_FALSE(session.extract({"--quiet"}).err.empty());
}

TEST_CASE("run: a signal ends extract with status 1, and nothing is left") {
  DriverSession session;
  session.interrupted = true;

  const Outcome outcome = session.extract();

  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("interrupted; nothing was written") != std::string::npos);
  CHECK(session.names() == Names{"driver.run"});
}

TEST_CASE("run: inspect says what a bundle is, from its header") {
  DriverSession session;

  const Outcome outcome = session.run({"inspect", session.bundle()});

  CHECK(outcome.status == 0);
  CHECK(outcome.out.starts_with("bundle        DIR/driver.run, "));
  CHECK(outcome.out.find("\nformat        NVIDIA makeself 1.6.0-nv9\n"
                         "label         NVIDIA Accelerated Graphics Driver for Linux-x86_64 "
                         "535.54.03\n"
                         "driver        535.54.03\n"
                         "CUDA          12.2\n"
                         "architecture  x86_64\n"
                         "compression   zstd, from byte ") != std::string::npos);
  const Json json = Json::parse(session.run({"inspect", session.bundle(), "--json"}).out);
  CHECK(keys_of(json) == Names{"path", "size", "kind", "dialect", "label", "driver_version", "arch",
                               "compression", "base64", "signature", "payloads", "checksums",
                               "signed_by", "cuda_version"});
}

TEST_CASE("run: inspect --deep reads the libraries too") {
  DriverSession session(driver("575.57.08"));

  const Outcome outcome = session.run({"inspect", session.bundle(), "--deep"});

  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("architecture  i386, x86_64\n") != std::string::npos);
  CHECK(outcome.out.find("needs glibc   2.17\n"
                         "accepts hosts 535 550 570\n"
                         "contents      verified: cksum and MD5 of its header\n") !=
        std::string::npos);
  const Json json = Json::parse(session.run({"inspect", session.bundle(), "--deep", "--json"}).out);
  CHECK(json["host_branches"] == Json({535, 550, 570}));
  CHECK(json["libcuda_archs"] == Json({"i386", "x86_64"}));
  CHECK(session.names() == Names{"driver.run"});
}

TEST_CASE("run: list names each member, whether it would be taken, and why not") {
  DriverSession session;

  const Outcome outcome = session.run({"list", session.bundle()});

  CHECK(outcome.status == 0);
  for (const char* const line : {"take   cuda         1.4 kB  libcuda.so.535.54.03\n",
                                 "leave  nvml         1.4 kB  libnvidia-ml.so.535.54.03  "
                                 "(component nvml was not asked for)\n",
                                 "read   -            ", "(built for i386)\n"}) {
    CAPTURE(line);
    CHECK(outcome.out.find(line) != std::string::npos);
  }
  const Json json = Json::parse(session.run({"list", session.bundle(), "--json"}).out);
  CHECK(keys_of(json) == Names{"bundle", "sha256", "signed_by", "arch", "members"});
  CHECK(keys_of(json["members"][0]) == Names{"path", "size", "take", "component", "reason"});
}

TEST_CASE("run: verify reads a whole bundle and writes nothing") {
  DriverSession session;

  const Outcome outcome = session.run({"verify", session.bundle()});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.starts_with("DIR/driver.run: whole, "));
  CHECK(outcome.out.find("  verified: cksum and MD5 of its header\n  SHA-256:  " +
                         test::reference_sha256(session.file.bytes) + "\n") != std::string::npos);
  CHECK(Json::parse(session.run({"verify", session.bundle(), "--json"}).out)["status"] ==
        "verified");
  CHECK(session.names() == Names{"driver.run"});

  const Outcome repair = session.run({"verify", session.bundle(), "--repair"});
  CHECK(repair.status == 2);

  session.write("driver.run", driver().with_flipped_byte(100).build().bytes);
  CHECK(session.run({"verify", session.bundle()}).status == 4);
}

TEST_CASE("run: verify compares a tree with its receipt, and --repair mends its links") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);

  const Outcome whole = session.run({"verify", session.tree()});
  CHECK(whole.status == 0);
  CHECK(whole.out == "DIR/tree: whole, driver 535.54.03, 10 files and 6 links\n");

  fs::remove(session.at("tree/libcuda.so.1"));
  fs::copy_file(session.at("tree/libcuda.so.535.54.03"), session.at("tree/libcuda.so.1"));
  const Outcome copied = session.run({"verify", session.tree()});
  CHECK(copied.status == 4);
  CHECK(copied.out.empty());
  CHECK(
      copied.err.starts_with("compatpack: error: DIR/tree/libcuda.so.1: is a file where a link "
                             "should be (a copy that followed links?)\n"
                             "  expected: a link to libcuda.so.535.54.03\n"
                             "  found:    a file of "));
  CHECK(copied.err.ends_with(" bytes\n  hint:     verify --repair mends it\n"));

  const Outcome repaired = session.run({"verify", session.tree(), "--repair"});
  CHECK(repaired.status == 0);
  CHECK(repaired.out ==
        "DIR/tree/libcuda.so.1: repaired\n"
        "DIR/tree: whole, driver 535.54.03, 10 files and 6 links\n");
  CHECK(fs::read_symlink(session.at("tree/libcuda.so.1")) == "libcuda.so.535.54.03");
}

TEST_CASE("run: verify tells a damaged tree from one with a file too many") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);
  session.write("tree/notes", "mine");

  const Outcome extra = session.run({"verify", session.tree()});
  CHECK(extra.status == 0);
  CHECK(extra.err == "compatpack: warning: DIR/tree/notes is not of this tree\n");

  std::string content = content_of(session.at("tree/libcuda.so.535.54.03"));
  content.back() = static_cast<char>(content.back() ^ 1);
  session.write("tree/libcuda.so.535.54.03", content);
  const Outcome damaged = session.run({"verify", session.tree(), "--repair"});
  CHECK(damaged.status == 4);
  CHECK(damaged.err.find("DIR/tree/libcuda.so.535.54.03: has other content\n") !=
        std::string::npos);
  CHECK(damaged.err.find("hint:     extract the bundle again with --force\n") != std::string::npos);
  const Json json = Json::parse(session.run({"verify", session.tree(), "--json"}).out);
  CHECK(json["status"] == "damaged");
  CHECK(json["faults"].size() == 2);
}

TEST_CASE("run: verify of a folder that is no tree says so") {
  Session session;
  fs::create_directory(session.at("folder"));
  session.write("folder/file", "x");

  const Outcome outcome = session.run({"verify", session.at("folder")});

  CHECK(outcome.status == 3);
  CHECK(outcome.err ==
        "compatpack: error: DIR/folder: not a compat tree\n"
        "  expected: a folder that `compatpack extract` made\n"
        "  found:    has files, and no compatpack.json\n");
}

TEST_CASE("run: env prints code that sources the tree's script, even under --quiet") {
  DriverSession session;
  REQUIRE(session.extract().status == 0);

  for (const Names& more : {Names{}, Names{"--quiet"}}) {
    Names arguments{"env", session.tree()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = session.run(arguments);
    CHECK(outcome.status == 0);
    CHECK(outcome.out == "_compatpack_at='DIR/tree'; . 'DIR/tree/env.sh'\n");
  }
  CHECK(session.run({"env", session.tree(), "--shell", "fish"}).out ==
        "set -g _compatpack_at 'DIR/tree'; source 'DIR/tree/env.fish'\n");
  CHECK(session.run({"env", session.at("no")}).status == 1);
}

TEST_CASE("run: help and version are answers, on stdout with status 0") {
  Session session;
  for (const Names& arguments :
       {Names{"--help"}, Names{"extract", "--help"}, Names{"verify", "-h"}, Names{"--version"}}) {
    const Outcome outcome = session.run(arguments);
    CHECK(outcome.status == 0);
    CHECK_FALSE(outcome.out.empty());
    CHECK(outcome.err.empty());
  }
  CHECK(session.run({"--version"}).out.starts_with("compatpack "));
  CHECK(session.run({"extract", "--help"}).out.find("--components") != std::string::npos);
}

TEST_CASE("run: bad usage is status 2, on stderr, with the nearest name") {
  Session session;
  struct Case {
    Names arguments;
    std::string err;
  };
  for (const Case& c : {
           Case{{"extrat", "x.run"},
                "compatpack: error: no such command: extrat\n"
                "  hint:     did you mean extract? See compatpack --help\n"},
           Case{{},
                "compatpack: error: a command is required\n"
                "  hint:     compatpack --help\n"},
           Case{{"--ouut"},
                "compatpack: error: no such option before a command: --ouut\n"
                "  hint:     compatpack --help\n"},
           Case{{"frobnicate"},
                "compatpack: error: no such command: frobnicate\n"
                "  hint:     compatpack --help\n"},
           Case{{"extract", "x.run", "--ouut", "tree"},
                "compatpack: error: unexpected argument: --ouut\n"
                "  hint:     did you mean --out? See compatpack extract --help\n"},
           Case{{"extract", "x.run", "--out", "tree", "--compnents=cuda"},
                "compatpack: error: unexpected argument: --compnents=cuda\n"
                "  hint:     did you mean --components? See compatpack extract --help\n"},
           Case{{"list", "x.run", "y.run"},
                "compatpack: error: unexpected argument: y.run\n"
                "  hint:     compatpack list --help\n"},
           Case{{"extract", "x.run", "y.run", "--out", "tree", "--sha256", std::string(64, '0')},
                "compatpack: error: an option that is about one bundle\n"
                "  expected: one bundle with --sha256, --sha1, --md5 or --member\n"
                "  found:    2 bundles\n"
                "  hint:     --checksum-file takes a list, as sha256sum writes it\n"},
           Case{{"extract", "x.run"},
                "compatpack: error: --out is required\n"
                "  hint:     compatpack extract --help\n"},
           Case{{"extract", "x.run", "--out", "tree", "--components", "cdua"},
                "compatpack: error: --components: no such component\n"
                "  expected: cuda, nvml, opencl, video, graphics, optix, all\n"
                "  found:    cdua\n"
                "  hint:     compatpack extract --help\n"},
       }) {
    CAPTURE(c.err);
    const Outcome outcome = session.run(c.arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == c.err);
  }
  for (const Names& arguments : {Names{}, Names{"extract", "x", "--out", "y", "--jobs", "0"},
                                 Names{"extract", "x", "--out", "y", "--arch", "sparc"},
                                 Names{"list", "x", "--color", "mauve"}, Names{"--no-such"}}) {
    const Outcome outcome = session.run(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.starts_with("compatpack: error: "));
  }
}

TEST_CASE("run: control characters of a bad argument do not reach the terminal") {
  Session session;

  const Outcome outcome = session.run({"inspect", "--\x1b[31m"});

  CHECK(outcome.status == 2);
  CHECK(outcome.err.find('\x1b') == std::string::npos);
}

TEST_CASE("run: the progress line is drawn on a terminal, cut to its width, and erased") {
  DriverSession session;
  session.terminal = true;
  session.tick = std::chrono::milliseconds(600);
  session.width = 20;

  const Outcome outcome = session.extract();

  CHECK(outcome.status == 0);
  const std::string begin = "\r\x1b[K";
  REQUIRE(outcome.err.starts_with(begin + "reading "));
  CHECK(outcome.err.ends_with(begin));
  CHECK(outcome.err.find("100%") == std::string::npos);
  std::istringstream lines(outcome.err);
  for (std::string drawn; std::getline(lines, drawn, '\r');) {
    CHECK(drawn.size() < 3 + 20);
  }
}

TEST_CASE(
    "run: no progress line in the first half second, without a terminal, or where not wanted") {
  struct Case {
    bool terminal;
    int tick_ms;
    Names more;
    bool drawn;
  };
  for (const Case& c :
       {Case{true, 1, {}, false}, Case{false, 600, {}, false},
        Case{true, 600, {"--progress", "never"}, false}, Case{true, 600, {"--quiet"}, false},
        Case{false, 600, {"--progress", "always"}, true}}) {
    CAPTURE(c.terminal);
    CAPTURE(c.tick_ms);
    DriverSession session;
    session.terminal = c.terminal;
    session.tick = std::chrono::milliseconds(c.tick_ms);
    CHECK(session.extract(c.more).err.empty() != c.drawn);
  }
}

TEST_CASE("run: colour is on the word error alone, and NO_COLOR is honoured") {
  Session session;
  session.terminal = true;
  session.no_color = false;

  CHECK(session.run({"verify", session.at("no")})
            .err.starts_with("compatpack: \x1b[1;31merror\x1b[0m: DIR/no: "));
  session.no_color = true;
  CHECK(session.run({"verify", session.at("no")}).err.starts_with("compatpack: error: DIR/no: "));
  CHECK(session.run({"verify", session.at("no"), "--color", "always"})
            .err.starts_with("compatpack: \x1b[1;31merror"));

  DriverSession driver;
  CHECK(driver.extract({"--no-verify", "--color", "always"})
            .err.starts_with("compatpack: warning: "));
}
