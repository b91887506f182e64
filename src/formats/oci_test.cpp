// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/oci.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::formats;

namespace {

const std::string kDigest(64, 'a');

std::string descriptor(std::string_view type, const std::string& digest = "sha256:" + kDigest,
                       const std::string& size = "7") {
  return R"({"mediaType":")" + std::string(type) + R"(","digest":")" + digest + R"(","size":)" +
         size + "}";
}

std::string manifest(const std::string& config, const std::string& layers,
                     const std::string& more = "") {
  return R"({"schemaVersion":2,"config":)" + config + R"(,"layers":[)" + layers + "]" + more + "}";
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

OciAddition addition() {
  return {.architecture = "arm64",
          .created = "1970-01-01T00:00:00Z",
          .created_by = "us",
          .layer = {std::string(kOciLayerType), kDigest, {7}},
          .labels = {{"b", "2"}, {"a", "1"}},
          .library_path = ""};
}

std::string rendered(std::string_view base, const OciAddition& what) {
  const auto config = render_oci_config(base, what);
  REQUIRE(config);
  return *config;
}

}  // namespace

TEST_CASE("oci: an image of one layer, to the last byte") {
  CHECK(render_oci_layout() == R"({"imageLayoutVersion":"1.0.0"})");
  CHECK(render_oci_index({std::string(kOciManifestType), kDigest, {7}}, "amd64", "latest") ==
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[)"
        R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:)" +
            kDigest +
            R"(","size":7,"platform":{"architecture":"amd64","os":"linux"},"annotations":)"
            R"({"org.opencontainers.image.ref.name":"latest"}}]})");
  CHECK(render_oci_manifest({{std::string(kOciConfigType), kDigest, {1}},
                             {{std::string(kOciLayerType), kDigest, {2}}},
                             {{"b", "2"}, {"a", "1"}}}) ==
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
        R"("config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:)" +
            kDigest +
            R"(","size":1},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar",)"
            R"("digest":"sha256:)" +
            kDigest + R"(","size":2}],"annotations":{"a":"1","b":"2"}})");
  CHECK(rendered("", addition()) ==
        R"({"created":"1970-01-01T00:00:00Z","architecture":"arm64","os":"linux",)"
        R"("config":{"Labels":{"a":"1","b":"2"}},"rootfs":{"type":"layers","diff_ids":["sha256:)" +
            kDigest + R"("]},"history":[{"created":"1970-01-01T00:00:00Z","created_by":"us"}]})");
}

TEST_CASE("oci: what is written is read again") {
  const auto index =
      parse_oci_index(render_oci_index({std::string(kOciManifestType), kDigest, {7}}, "386", "x"));
  REQUIRE(index);
  REQUIRE(index->size() == 1);
  CHECK(index->front().blob == OciDescriptor{std::string(kOciManifestType), kDigest, {7}});
  CHECK_FALSE(index->front().is_index);
  CHECK(index->front().platform == OciPlatform{"linux", "386"});

  const OciManifest before{{std::string(kOciConfigType), kDigest, {1}},
                           {{std::string(kOciLayerType), kDigest, {2}}},
                           {{"a", "1"}}};
  const auto after = parse_oci_manifest(render_oci_manifest(before));
  REQUIRE(after);
  CHECK(after->config == before.config);
  CHECK(after->layers == before.layers);
  CHECK(after->annotations == before.annotations);

  const auto facts = parse_oci_config(rendered("", addition()));
  REQUIRE(facts);
  CHECK(facts->platform == OciPlatform{"linux", "arm64"});
  CHECK(facts->layers == 1);
  CHECK(check_oci_layout(render_oci_layout()));
}

TEST_CASE("oci: a base's config keeps all that is not the layer's") {
  const std::string base =
      R"({"zeta":[1],"os":"linux","architecture":"amd64","created":"2020-01-01T00:00:00Z",)"
      R"("config":{"User":"7","Env":["A=b"],"Labels":{"own":"kept","a":"old"}},)"
      R"("rootfs":{"type":"layers","diff_ids":["sha256:1"]},"history":[{"empty_layer":true}]})";

  CHECK(rendered(base, addition()) ==
        R"({"zeta":[1],"os":"linux","architecture":"amd64","created":"1970-01-01T00:00:00Z",)"
        R"("config":{"User":"7","Env":["A=b"],"Labels":{"own":"kept","a":"1","b":"2"}},)"
        R"("rootfs":{"type":"layers","diff_ids":["sha256:1","sha256:)" +
            kDigest +
            R"("]},"history":[{"empty_layer":true},)"
            R"({"created":"1970-01-01T00:00:00Z","created_by":"us"}]})");
}

TEST_CASE("oci: a base without a history is not given half of one") {
  const std::string base =
      R"({"os":"linux","architecture":"amd64","config":null,"rootfs":{"diff_ids":["sha256:1"]}})";

  CHECK(rendered(base, addition()).find("history") == std::string::npos);
}

TEST_CASE("oci: LD_LIBRARY_PATH is put first, once, and has no empty element") {
  struct Case {
    const char* environment;
    const char* expected;
  };
  for (const Case& c :
       {Case{"null", R"(["LD_LIBRARY_PATH=/c"])"},
        Case{R"(["A=b"])", R"(["A=b","LD_LIBRARY_PATH=/c"])"},
        Case{R"(["LD_LIBRARY_PATH=/x:/y","A=b"])", R"(["LD_LIBRARY_PATH=/c:/x:/y","A=b"])"},
        Case{R"(["LD_LIBRARY_PATH="])", R"(["LD_LIBRARY_PATH=/c"])"},
        Case{R"(["LD_LIBRARY_PATH=/x:"])", R"(["LD_LIBRARY_PATH=/c:/x"])"},
        Case{R"(["LD_LIBRARY_PATH=::/x::/y"])", R"(["LD_LIBRARY_PATH=/c:/x:/y"])"},
        Case{R"(["LD_LIBRARY_PATH=/x:/c:/cc"])", R"(["LD_LIBRARY_PATH=/c:/x:/cc"])"},
        Case{R"(["LD_LIBRARY_PATH=/x","LD_LIBRARY_PATH=/y"])",
             R"(["LD_LIBRARY_PATH=/c:/x","LD_LIBRARY_PATH=/c:/y"])"},
        Case{R"(["LD_LIBRARY_PATH_OLD=/x"])",
             R"(["LD_LIBRARY_PATH_OLD=/x","LD_LIBRARY_PATH=/c"])"}}) {
    CAPTURE(c.environment);
    OciAddition what = addition();
    what.library_path = "/c";
    const std::string base = R"({"os":"linux","architecture":"amd64","config":{"Env":)" +
                             std::string(c.environment) + R"(},"rootfs":{"diff_ids":[]}})";

    CHECK(rendered(base, what).find(R"("Env":)" + std::string(c.expected)) != std::string::npos);
    CHECK(rendered(base, addition()).find(R"("Env":)" + std::string(c.environment)) !=
          std::string::npos);
  }
}

TEST_CASE("oci: who made the last layer is told, as far as the history says") {
  const auto made_by = [](const std::string& history) {
    const auto facts = parse_oci_config(
        R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[]},"history":)" + history +
        "}");
    REQUIRE(facts);
    return facts->made_by;
  };
  CHECK(made_by(R"([{"created_by":"a"},{"created_by":"b"}])") == "b");
  CHECK(made_by(R"([{"created_by":"a"},{}])").empty());
  CHECK(made_by(R"([{"created_by":null}])").empty());
  CHECK(made_by(R"([1])").empty());
  CHECK(made_by("[]").empty());
}

TEST_CASE("oci: null is as good as missing") {
  const auto index =
      parse_oci_index(R"({"manifests":[{"mediaType":")" + std::string(kOciManifestType) +
                      R"(","digest":"sha256:)" + kDigest + R"(","size":7,"platform":null}]})");
  REQUIRE(index);
  REQUIRE(index->size() == 1);
  CHECK_FALSE(index->front().platform);
  const std::string config = R"({"mediaType":")" + std::string(kOciConfigType) +
                             R"(","digest":"sha256:)" + kDigest + R"(","size":7})";
  const auto parsed = parse_oci_manifest(manifest(config, "", R"(,"annotations":null)"));
  REQUIRE(parsed);
  CHECK(parsed->annotations.empty());
}

TEST_CASE("oci: a config whose rootfs is no object is refused when it is read") {
  for (const char* const rootfs : {"[]", "1", R"("x")"}) {
    CAPTURE(rootfs);
    const auto facts = parse_oci_config(R"({"os":"linux","architecture":"amd64","rootfs":)" +
                                        std::string(rootfs) + "}");
    REQUIRE_FALSE(facts);
    CHECK(facts.error().code == Errc::corrupt);
    CHECK(facts.error().found == "no object: rootfs");
  }
}

TEST_CASE("oci: digests and sizes that are none are refused") {
  struct Case {
    std::string digest;
    std::string size;
    Errc code;
  };
  for (const Case& c :
       {Case{"sha256:../../x", "7", Errc::unsupported},
        Case{"sha256:" + std::string(64, 'A'), "7", Errc::unsupported},
        Case{"sha256:" + std::string(63, 'a'), "7", Errc::unsupported},
        Case{"sha256:" + std::string(65, 'a'), "7", Errc::unsupported},
        Case{"sha256:" + std::string(61, 'a') + "/..", "7", Errc::unsupported},
        Case{"sha512:" + kDigest, "7", Errc::unsupported}, Case{"sha256", "7", Errc::unsupported},
        Case{"", "7", Errc::unsupported}, Case{"sha256:" + kDigest, "-1", Errc::corrupt},
        Case{"sha256:" + kDigest, "1.5", Errc::corrupt},
        Case{"sha256:" + kDigest, "\"7\"", Errc::corrupt},
        Case{"sha256:" + kDigest, "1e99", Errc::corrupt}}) {
    CAPTURE(c.digest);
    CAPTURE(c.size);
    const auto config = descriptor(kOciConfigType);
    const auto good = parse_oci_manifest(manifest(config, descriptor(kOciLayerType)));
    CHECK(good);
    const auto read =
        parse_oci_manifest(manifest(config, descriptor(kOciLayerType, c.digest, c.size)));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == c.code);
    const auto index = parse_oci_index(R"({"manifests":[)" +
                                       descriptor(kOciManifestType, c.digest, c.size) + "]}");
    REQUIRE_FALSE(index);
    CHECK(index.error().code == c.code);
  }
}

TEST_CASE("oci: other kinds are refused by name, Docker's with the way out") {
  const auto config = descriptor(kOciConfigType);
  const auto layer = descriptor(kOciLayerType);
  const auto docker = parse_oci_manifest(manifest(
      config, layer, R"(,"mediaType":"application/vnd.docker.distribution.manifest.v2+json")"));
  REQUIRE_FALSE(docker);
  CHECK(docker.error().code == Errc::unsupported);
  CHECK(docker.error().hint == "make OCI's of it: skopeo copy --format oci FROM oci:LAYOUT");

  const auto listed =
      parse_oci_index(R"({"manifests":[)" +
                      descriptor("application/vnd.docker.distribution.manifest.v2+json") + "]}");
  REQUIRE_FALSE(listed);
  CHECK(listed.error().code == Errc::unsupported);
  CHECK_FALSE(listed.error().hint.empty());

  for (const char* const type :
       {"application/vnd.oci.image.layer.nondistributable.v1.tar", "application/x-tar", ""}) {
    CAPTURE(type);
    const auto read = parse_oci_manifest(manifest(config, descriptor(type)));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::unsupported);
    CHECK(read.error().hint.empty());
  }
  for (const char* const compression : {"", "+gzip", "+zstd"}) {
    CHECK(
        parse_oci_manifest(manifest(config, descriptor(std::string(kOciLayerType) + compression))));
  }
  const auto newer = check_oci_layout(R"({"imageLayoutVersion":"2.0.0"})");
  REQUIRE_FALSE(newer);
  CHECK(newer.error().code == Errc::unsupported);
}

TEST_CASE("oci: text that is no such document is corrupt, and nesting without end is a limit") {
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("{"), std::string("{}x"),
        std::string(R"({"manifests":{}})"), std::string(R"({"manifests":[1]})"),
        std::string(R"({"config":1,"layers":{},"os":1,"architecture":2,"rootfs":3,)"
                    R"("imageLayoutVersion":4,"manifests":5})"),
        std::string("{\"mediaType\":7}"), std::string("\xff\xfe")}) {
    CAPTURE(text);
    const auto manifest = parse_oci_manifest(text);
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().code == Errc::corrupt);
    const auto config = parse_oci_config(text);
    REQUIRE_FALSE(config);
    CHECK(config.error().code == Errc::corrupt);
    const auto layout = check_oci_layout(text);
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == Errc::corrupt);
    const auto changed = render_oci_config(text, addition());
    CHECK((text.empty() || !changed));
  }
  for (const int depth : {70, 1'000'000}) {
    const std::string deep =
        R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[]},"x":)" + nested(depth) +
        "}";
    const auto config = render_oci_config(deep, addition());
    REQUIRE_FALSE(config);
    CHECK(config.error().code == Errc::limit);
  }
  CHECK(render_oci_config(
      R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[]},"x":)" + nested(50) + "}",
      addition()));
}

TEST_CASE("oci: a list without end is a limit") {
  std::string many = descriptor(kOciManifestType);
  for (int i = 0; i < 1'000; ++i) {
    many += "," + descriptor(kOciManifestType);
  }
  const auto index = parse_oci_index(R"({"manifests":[)" + many + "]}");
  REQUIRE_FALSE(index);
  CHECK(index.error().code == Errc::limit);
}

TEST_CASE("oci: more members than any config has are a limit, as each costs a look at all") {
  const auto with_members = [](int count) {
    std::string config = R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[]})";
    for (int i = 0; i < count; ++i) {
      config += ",\"m" + std::to_string(i) + "\":0";
    }
    return render_oci_config(config + "}", addition());
  };

  CHECK(with_members(4'900));
  const auto many = with_members(5'000);
  REQUIRE_FALSE(many);
  CHECK(many.error().code == Errc::limit);
  CHECK(many.error().found == "more than 5000 members");
}

TEST_CASE("oci: values without end are a limit before anything is built of them") {
  for (const char* const value : {"{}", "[]", "0", "-1", "1.5", "true", "null", "\"\""}) {
    CAPTURE(value);
    const auto with_values = [value](int count) {
      std::string config =
          R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[]},"x":[null)";
      for (int i = 0; i < count; ++i) {
        config += std::string(",") + value;
      }
      return parse_oci_config(config + "]}");
    };

    CHECK(with_values(19'900));
    const auto many = with_values(20'000);
    REQUIRE_FALSE(many);
    CHECK(many.error().code == Errc::limit);
    CHECK(many.error().found == "more than 20000 values and members");
  }
}

TEST_CASE("oci: a manifest that is of no image is told, whatever its layers are") {
  const auto signature = parse_oci_manifest(
      manifest(descriptor("application/vnd.oci.empty.v1+json"), descriptor("application/x-sig")));
  REQUIRE(signature);
  CHECK_FALSE(is_image(*signature));
  CHECK(signature->layers.empty());
  CHECK_FALSE(parse_oci_manifest(
      manifest(descriptor("application/vnd.docker.container.image.v1+json"), "")));
}

TEST_CASE("oci: a config with a wrong type where something is to be put in is refused") {
  for (const char* const config : {R"({"Env":"A=b"})", R"({"Env":[1]})", R"({"Labels":[]})",
                                   R"({"Labels":{"a":1}})", "7", "[]"}) {
    CAPTURE(config);
    const auto read = parse_oci_config(R"({"os":"linux","architecture":"amd64","config":)" +
                                       std::string(config) + R"(,"rootfs":{"diff_ids":[]}})");
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::corrupt);
  }
  CHECK_FALSE(render_oci_config(
      R"({"os":"linux","architecture":"amd64","history":{},"rootfs":{"diff_ids":[]}})",
      addition()));
}

TEST_CASE("oci: architectures in the words of Go, and tags") {
  CHECK(oci_architecture("x86_64") == "amd64");
  CHECK(oci_architecture("i386") == "386");
  CHECK(oci_architecture("aarch64") == "arm64");
  CHECK(oci_architecture("ppc64le") == "ppc64le");
  CHECK_FALSE(oci_architecture("sparc"));
  for (const char* const good : {"latest", "550.54.15", "_x-Y.", "0"}) {
    CHECK(is_oci_tag(good));
  }
  CHECK(is_oci_tag(std::string(128, 'a')));
  for (const std::string& bad :
       {std::string(), std::string(129, 'a'), std::string(".a"), std::string("-a"),
        std::string("a/b"), std::string("a:b"), std::string("a b"), std::string("\xc3\xa9")}) {
    CAPTURE(bad);
    CHECK_FALSE(is_oci_tag(bad));
  }
}
