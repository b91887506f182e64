// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/nv_manifest.hpp"

#include <doctest/doctest.h>

#include "support/sample_driver.hpp"

using namespace compatpack;
using namespace compatpack::formats;

namespace {

const std::string kHeader =
    "NVIDIA Accelerated Graphics Driver for Linux-x86_64\n"
    "535.54.03\n"
    " \n"
    "nvidia nvidia-uvm nvidia-modeset nvidia-drm \n"
    " \n"
    " \n"
    "./kernel/\n"
    "./kernel/precompiled/\n";

NvManifest parse(const std::string& rows) {
  auto manifest = parse_nv_manifest(kHeader + rows);
  REQUIRE(manifest);
  return *std::move(manifest);
}

ManifestEntry parse_one(const std::string& row) {
  CAPTURE(row);
  NvManifest manifest = parse(row + "\n");
  REQUIRE(manifest.entries.size() == 1);
  return std::move(manifest.entries[0]);
}

}  // namespace

TEST_CASE("nv_manifest: the header names driver and kernel modules") {
  const NvManifest manifest = parse("");

  CHECK(manifest.description == "NVIDIA Accelerated Graphics Driver for Linux-x86_64");
  CHECK(manifest.version == "535.54.03");
  CHECK(manifest.entries.empty());
  CHECK(manifest.ignored_count == 0);
}

TEST_CASE("nv_manifest: a library's row gives file, mode, type, width, folder and module") {
  const auto entry = parse_one("./32/libcuda.so.535.54.03 0755 CUDA_LIB COMPAT32 / MODULE:gpgpu");

  CHECK(entry.file.text() == "32/libcuda.so.535.54.03");
  CHECK(entry.mode == 0755);
  CHECK(entry.type == "CUDA_LIB");
  CHECK(entry.width == ManifestWidth::compat32);
  CHECK(entry.folder == "/");
  CHECK(entry.module == "gpgpu");
  CHECK_FALSE(entry.is_link());
  CHECK_FALSE(entry.target);
}

TEST_CASE("nv_manifest: words are told by what they are, wherever they stand") {
  struct Case {
    const char* row;
    ManifestWidth width;
    const char* folder;
    const char* target;  // nullptr: none
  };
  const auto none = ManifestWidth::none;
  const auto native = ManifestWidth::native;
  const Case cases[] = {
      {"libcuda.so 0000 CUDA_SYMLINK NATIVE / libcuda.so.1 MODULE:gpgpu", native, "/",
       "libcuda.so.1"},
      {"libcuda.so 0000 CUDA_SYMLINK / libcuda.so.1", none, "/", "libcuda.so.1"},
      {"libGL.so.1 0000 GLX_CLIENT_SYMLINK NATIVE libGL.so.384.59 NON_GLVND MODULE:opengl", native,
       "", "libGL.so.384.59"},
      {"libvdpau_nvidia.so 0000 VDPAU_SYMLINK NATIVE / vdpau/libvdpau_nvidia.so.384.59", native,
       "/", "vdpau/libvdpau_nvidia.so.384.59"},
      {"libnvidia-tls.so.384.59 0755 TLS_LIB NATIVE CLASSIC / MODULE:opengl", native, "/", nullptr},
      {"tls/libnvidia-tls.so.384.59 0755 TLS_LIB NATIVE NEW tls/", native, "tls/", nullptr},
      {"libglx.so.384.59 0755 GLX_MODULE_SHARED_LIB extensions MODULE:opengl", none, "extensions",
       nullptr},
      {"libwfb.so 0000 XMODULE_NEWSYM / libnvidia-wfb.so.1", none, "/", "libnvidia-wfb.so.1"},
      {"nvidia-uninstall 0000 UTILITY_BIN_SYMLINK nvidia-installer", none, "", "nvidia-installer"},
      {"nvidia.service 0000 SYSTEMD_UNIT_SYMLINK systemd-suspend.service.requires/", none,
       "systemd-suspend.service.requires/", nullptr},
      {"kernel/dkms.conf 0644 DKMS_CONF INHERIT_PATH_DEPTH:1 MODULE:resman", none, "", nullptr},
      {"libnew.so.1 0755 NEVER_SEEN_LIB NATIVE a/ b c d", native, "a/", nullptr},
  };
  for (const Case& c : cases) {
    const auto entry = parse_one(c.row);

    CHECK(entry.width == c.width);
    CHECK(entry.folder == c.folder);
    CHECK(entry.target ==
          (c.target == nullptr ? std::nullopt : std::optional<std::string>(c.target)));
  }
}

TEST_CASE("nv_manifest: a mode has four digits, or five with setuid") {
  CHECK(parse_one("nvidia-modprobe 04755 NVIDIA_MODPROBE /usr/bin/").mode == 04755);
  CHECK(parse_one("LICENSE 0444 DOCUMENTATION NVIDIA_GLX-1.0/").mode == 0444);
}

TEST_CASE("nv_manifest: one name is two links where both widths have it") {
  const NvManifest manifest = parse(
      "libcuda.so.1 0000 CUDA_SYMLINK NATIVE / libcuda.so.535.54.03 MODULE:gpgpu\n"
      "libcuda.so.1 0000 CUDA_SYMLINK COMPAT32 / libcuda.so.535.54.03 MODULE:gpgpu\n");

  REQUIRE(manifest.entries.size() == 2);
  CHECK(manifest.entries[0].file == manifest.entries[1].file);
  CHECK(manifest.entries[0].width == ManifestWidth::native);
  CHECK(manifest.entries[1].width == ManifestWidth::compat32);
}

TEST_CASE("nv_manifest: it ends at the first empty line, and not at a blank one") {
  CHECK(parse("a 0644 X\n\nb 0644 X\n").entries.size() == 1);

  const NvManifest manifest = parse("a 0644 X\n \nb 0644 X");
  CHECK(manifest.entries.size() == 2);
  CHECK(manifest.ignored_count == 1);
}

TEST_CASE("nv_manifest: rows that cannot be read are put aside, with line and reason") {
  const NvManifest manifest = parse(
      "a 0644\n"
      "../../etc/passwd 0644 CUDA_LIB NATIVE\n"
      "/etc/ld.so.preload 0644 CUDA_LIB NATIVE\n"
      "b 0999 CUDA_LIB\n"
      "c 644 CUDA_LIB\n"
      "d 0644 cuda\n"
      "e 0644 CUDA_LIB\r\n"
      "good 0644 CUDA_LIB\n");

  REQUIRE(manifest.entries.size() == 1);
  CHECK(manifest.entries[0].file.text() == "good");
  CHECK(manifest.ignored_count == 7);
  REQUIRE(manifest.ignored.size() == 7);
  CHECK(manifest.ignored[1].line == 10);
  CHECK(manifest.ignored[1].reason == "the file's path leaves the payload");
  CHECK(manifest.ignored[1].text == "../../etc/passwd 0644 CUDA_LIB NATIVE");
}

TEST_CASE("nv_manifest: of many bad rows the first are kept and all are counted") {
  std::string rows;
  for (std::size_t i = 0; i < kManifestIgnoredMax + 50; ++i) {
    rows += std::string(1000, 'x') + "\n";
  }

  const NvManifest manifest = parse(rows);

  CHECK(manifest.ignored.size() == kManifestIgnoredMax);
  CHECK(manifest.ignored_count == kManifestIgnoredMax + 50);
  CHECK(manifest.ignored[0].text == std::string(200, 'x'));
}

TEST_CASE("nv_manifest: a header of fewer than eight lines, or without version, is corrupt") {
  for (const char* const text :
       {"", "a\n", "a\n1.0\n \n \n \n \n \n", "a\n \n \n \n \n \n \n \n"}) {
    CAPTURE(text);
    const auto manifest = parse_nv_manifest(text);
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().code == Errc::corrupt);
    CHECK(manifest.error().at);
  }
}

TEST_CASE("nv_manifest: more rows, or longer ones, than any driver has are refused") {
  std::string many = kHeader;
  for (std::size_t i = 0; i <= kManifestRowsMax; ++i) {
    many += "a 0644 X\n";
  }
  for (const std::string& text : {many, kHeader + std::string(kManifestRowMax + 1, 'x') + "\n"}) {
    const auto manifest = parse_nv_manifest(text);
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().code == Errc::limit);
  }
  many.resize(many.size() - 9);
  CHECK(parse_nv_manifest(many));
}

TEST_CASE("nv_manifest: the sample driver's manifest names what is in it") {
  for (const char* const version : {"384.59", "470.57.02", "535.54.03", "575.57.08", "590.44.01"}) {
    CAPTURE(version);
    const auto members = test::make_sample_driver({.version = version, .filler = 10});
    const auto find = [&](const std::string& path) {
      for (const auto& member : members) {
        if (member.path == path) {
          return true;
        }
      }
      return false;
    };
    for (const auto& member : members) {
      if (member.path != ".manifest") {
        continue;
      }
      const auto manifest = parse_nv_manifest(member.content);
      REQUIRE(manifest);
      CHECK(manifest->version == version);
      CHECK(manifest->ignored_count == 0);
      for (const auto& entry : manifest->entries) {
        CAPTURE(entry.file.text());
        CHECK(entry.is_link() == entry.target.has_value());
        CHECK((entry.is_link() || find(entry.file.text())));
      }
    }
  }
}
