// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/decoder.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/compress.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using namespace compatpack::test;
using namespace std::string_literals;
using io::MemorySource;

namespace {

constexpr std::array kRead = {Compression::gzip,    Compression::xz,    Compression::lzma,
                              Compression::zstd,    Compression::bzip2, Compression::lz4,
                              Compression::compress};

struct Decoded {
  std::string bytes;
  std::optional<Error> error;
  Compression compression = Compression::none;
  std::uint64_t trailing = 0;
};

/// Decodes all of `source` in reads of `block` bytes; stops, as if that were an end, at 4 MiB.
Decoded decode_from(io::Source& source, const DecoderOptions& options = {},
                    std::size_t block = 4096) {
  constexpr std::size_t kMax = std::size_t{4} << 20U;
  Decoded decoded;
  auto decoder = open_decoder(source, options);
  if (!decoder) {
    decoded.error = decoder.error();
    return decoded;
  }
  decoded.compression = (*decoder)->compression();
  std::vector<std::byte> buffer(block);
  while (decoded.bytes.size() < kMax) {
    const auto got = (*decoder)->read(buffer);
    if (!got) {
      decoded.error = got.error();
      break;
    }
    if (*got == 0) {
      break;
    }
    decoded.bytes += as_text(std::span(buffer).first(*got));
  }
  decoded.trailing = (*decoder)->trailing().value;
  return decoded;
}

Decoded decode(std::string_view stream, const DecoderOptions& options = {},
               std::size_t block = 4096) {
  MemorySource source(as_bytes(stream));
  return decode_from(source, options, block);
}

std::string text_of(const std::optional<Error>& error) { return error ? render(*error) : ""; }

/// Gives what it holds, then once an error that only it could give, and then ends.
class FailingSource final : public io::Source {
 public:
  explicit FailingSource(std::string_view bytes) : inner_(as_bytes(bytes)) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    CP_TRY(const std::size_t got, inner_.read(into));
    if (got == 0 && !failed_) {
      failed_ = true;
      return Error{.code = Errc::io, .what = "the disk is gone", .at = ByteOffset{7}};
    }
    return got;
  }

 private:
  MemorySource inner_;
  bool failed_ = false;
};

}  // namespace

TEST_CASE("decoder: the first bytes name the compression") {
  struct Case {
    std::string head;
    Compression compression;
  };
  const Case cases[] = {
      {"", Compression::none},
      {"./usr/lib/libcuda.so"s, Compression::none},
      {"\x1f\x8b"s, Compression::gzip},
      {"\xfd\x37\x7a\x58\x5a\x00"s, Compression::xz},
      {"\xfd\x37\x7a\x58\x5a\x01"s, Compression::none},
      {"\x28\xb5\x2f\xfd"s, Compression::zstd},
      {"BZh1", Compression::bzip2},
      {"BZh9", Compression::bzip2},
      {"BZh0", Compression::none},
      {"BZh", Compression::none},
      {"\x04\x22\x4d\x18"s, Compression::lz4},
      {"\x02\x21\x4c\x18"s, Compression::lz4},
      {"\x1f\x9d\x90"s, Compression::compress},
      {"\x89LZO\x00\x0d\x0a\x1a\x0a"s, Compression::lzop},
      {"LZIP\x01"s, Compression::lzip},
      {"BZ3v1", Compression::bzip3},
      {"\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff"s, Compression::lzma},
      {"\x5d\x00\x00\x80\x00\x10\x00\x00\x00\x00\x00\x00\x00"s, Compression::lzma},
      {"\x5d\x00\x00\xc0\x00\x10\x00\x00\x00\x00\x00\x00\x00"s, Compression::lzma},
      {"\x5d\x01\x00\x80\x00\x10\x00\x00\x00\x00\x00\x00\x00"s, Compression::none},  // dictionary
      {"\x5d\x00\x00\x80\x00\x10\x00\x00\x00\x40\x00\x00\x00"s, Compression::none},  // 256 GiB
      {"\x5d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"s, Compression::none},  // a tar of "]"
      {skippable_frame("x"), Compression::zstd},
      {skippable_frame("x") + "\x28\xb5\x2f\xfd", Compression::zstd},
      {skippable_frame("x") + skippable_frame("") + "\x04\x22\x4d\x18", Compression::lz4},
      {skippable_frame(std::string(200, 'x')).substr(0, kSniffSize), Compression::zstd},
  };
  for (const Case& c : cases) {
    CAPTURE(c.head);
    CHECK(name_of(sniff_compression(as_bytes(c.head))) == name_of(c.compression));
  }
}

TEST_CASE("decoder: every format gives back what was compressed") {
  for (const Compression compression : kRead) {
    CAPTURE(name_of(compression));
    for (const std::size_t size : {0U, 1U, 1000U, 700'000U}) {
      CAPTURE(size);
      const std::string text = sample_text(size);
      const std::string stream = compress(compression, text);

      const Decoded decoded = decode(stream, {}, 64 * 1024);

      CHECK(text_of(decoded.error) == "");
      CHECK(decoded.compression == compression);
      CHECK((decoded.bytes == text));
    }
  }
}

TEST_CASE("decoder: small reads on both sides change nothing") {
  const std::string text = sample_text(20'000);
  for (const Compression compression : kRead) {
    CAPTURE(name_of(compression));
    const std::string stream = compress(compression, text) +
                               (compression == Compression::xz ? compress(compression, text) : "");
    const std::string expected = compression == Compression::xz ? text + text : text;
    for (const unsigned jobs : {1U, 3U}) {
      MemorySource memory(as_bytes(stream));
      SlowSource slow(memory, 1);

      const Decoded decoded = decode_from(slow, {.jobs = jobs}, 1);

      CHECK(text_of(decoded.error) == "");
      CHECK((decoded.bytes == expected));
    }
  }
}

TEST_CASE("decoder: what is not compressed is handed through") {
  for (const std::size_t size : {0U, 5U, 63U, 64U, 65U, 400'000U}) {
    const std::string text = "tar " + sample_text(size);
    for (const std::size_t block : {3U, 100'000U}) {
      const Decoded decoded = decode(text, {}, block);

      CHECK_FALSE(decoded.error);
      CHECK(decoded.compression == Compression::none);
      CHECK((decoded.bytes == text));
    }
  }
  const Decoded nothing = decode("");
  CHECK_FALSE(nothing.error);
  CHECK(nothing.bytes.empty());
}

TEST_CASE("decoder: after the end it goes on saying so") {
  for (const Compression compression : kRead) {
    const std::string stream = compress(compression, "hello");
    MemorySource source(as_bytes(stream));
    auto decoder = open_decoder(source);
    REQUIRE(decoder);
    CHECK(io::drain(**decoder)->value == 5);

    std::array<std::byte, 8> into{};
    CHECK(*(*decoder)->read(into) == 0);
    CHECK(*(*decoder)->read(into) == 0);
  }
}

// Each row is what the format's own tool does with -dc, run by hand: gzip 1.12, xz 5.4.1,
// zstd 1.5.4, bzip2 1.0.8, lz4 1.9.4, and xz --format=lzma.
TEST_CASE("decoder: what follows a stream is taken as the format's own tool takes it") {
  const auto a = [](Compression c) { return compress(c, "first "); };
  const auto b = [](Compression c) { return compress(c, "second"); };
  enum class Outcome { both, first, ignored, early, refused };
  struct Case {
    std::string name;
    Compression compression;
    std::string tail;
    Outcome outcome;
  };
  const auto gz = Compression::gzip;
  const auto xz = Compression::xz;
  const auto lzma = Compression::lzma;
  const auto zst = Compression::zstd;
  const auto bz2 = Compression::bzip2;
  const auto lz4 = Compression::lz4;
  const Case cases[] = {
      {"gzip, another", gz, b(gz), Outcome::both},
      {"gzip, zeros", gz, std::string(513, '\0'), Outcome::first},
      {"gzip, text", gz, "garbage\n", Outcome::ignored},                       // exit status 2
      {"gzip, zeros and another", gz, "\0\0\0\0"s + b(gz), Outcome::ignored},  // 2
      {"gzip, half a magic number", gz, "\x1f", Outcome::early},
      {"gzip, a magic number", gz, "\x1f\x8b", Outcome::early},
      {"gzip, half a header", gz, b(gz).substr(0, 8), Outcome::early},
      {"xz, another", xz, b(xz), Outcome::both},
      {"xz, 512 zeros", xz, std::string(512, '\0'), Outcome::first},
      {"xz, 3 zeros", xz, std::string(3, '\0'), Outcome::refused},
      {"xz, 4 zeros and another", xz, "\0\0\0\0"s + b(xz), Outcome::both},
      {"xz, 5 zeros and another", xz, "\0\0\0\0\0"s + b(xz), Outcome::refused},
      {"xz, text", xz, "garbage\n", Outcome::refused},
      {"xz, long text", xz, "garbage, and more of it than a header is long\n", Outcome::refused},
      {"xz, half a magic number", xz, "\xfd\x37", Outcome::early},
      {"xz, half a header", xz, b(xz).substr(0, 8), Outcome::early},
      {"lzma, another", lzma, b(lzma), Outcome::refused},
      {"lzma, zeros", lzma, std::string(4, '\0'), Outcome::refused},
      {"lzma, text", lzma, "garbage\n", Outcome::refused},
      {"zstd, another", zst, b(zst), Outcome::both},
      {"zstd, zeros", zst, std::string(512, '\0'), Outcome::refused},
      {"zstd, text", zst, "garbage\n", Outcome::refused},
      {"zstd, lz4", zst, b(lz4), Outcome::refused},  // the tool is built to read that too
      {"zstd, a skipped frame", zst, skippable_frame("abc"), Outcome::first},
      {"zstd, a skipped frame and another", zst, skippable_frame("abc") + b(zst), Outcome::both},
      {"zstd, half a skipped frame", zst, skippable_frame("abc").substr(0, 9), Outcome::early},
      {"zstd, a quarter of one", zst, skippable_frame("abc").substr(0, 2), Outcome::early},
      {"zstd, half a magic number", zst, "\x28\xb5", Outcome::early},
      {"bzip2, another", bz2, b(bz2), Outcome::both},
      {"bzip2, text", bz2, "garbage\n", Outcome::ignored},
      {"bzip2, zeros", bz2, std::string(512, '\0'), Outcome::ignored},
      {"bzip2, half a magic number", bz2, "BZ", Outcome::early},
      {"bzip2, a header", bz2, "BZh9", Outcome::early},
      {"lz4, another", lz4, b(lz4), Outcome::both},
      {"lz4, text", lz4, "garbage\n", Outcome::refused},
      {"lz4, zeros", lz4, std::string(512, '\0'), Outcome::refused},
      {"lz4, zstd", lz4, b(zst), Outcome::refused},
      {"lz4, a skipped frame and another", lz4, skippable_frame("abc") + b(lz4), Outcome::both},
      {"lz4, half a magic number", lz4, "\x04\x22", Outcome::early},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (const unsigned jobs : {1U, 2U}) {
      const Decoded decoded = decode(a(c.compression) + c.tail, {.jobs = jobs});

      CAPTURE(text_of(decoded.error));
      CHECK(decoded.bytes == (c.outcome == Outcome::both ? "first second" : "first "));
      CHECK(decoded.trailing == (c.outcome == Outcome::ignored ? c.tail.size() : 0));
      const bool fails = c.outcome == Outcome::early || c.outcome == Outcome::refused;
      REQUIRE(decoded.error.has_value() == fails);
      if (fails) {
        CHECK(decoded.error->code == Errc::corrupt);
        CHECK(ends_early(*decoded.error) == (c.outcome == Outcome::early));
      }
    }
  }
}

TEST_CASE("decoder: frames to be skipped may come first") {
  for (const Compression compression : {Compression::zstd, Compression::lz4}) {
    const std::string frame = skippable_frame("abc");

    CHECK(decode(frame + frame + compress(compression, "hello")).bytes == "hello");
  }
  const Decoded none = decode(skippable_frame("abc"));
  CHECK_FALSE(none.error);
  CHECK(none.bytes.empty());
}

TEST_CASE("decoder: a stream cut short anywhere says that it ends early") {
  const std::string text = sample_text(300);
  for (const Compression compression : kRead) {
    const std::string whole = compress(compression, text, {.level = 1});
    for (std::size_t size = 1; size < whole.size(); ++size) {
      for (const unsigned jobs : {1U, 2U}) {
        if (jobs > 1 && compression != Compression::xz) {
          continue;
        }
        CAPTURE(name_of(compression));
        CAPTURE(size);
        const Decoded decoded = decode(whole.substr(0, size), {.jobs = jobs});

        if (compression == Compression::compress && size >= 3) {
          // The format has no end: what is there is decoded, as uncompress does.
          CHECK_FALSE(decoded.error);
          CHECK(text.starts_with(decoded.bytes));
          continue;
        }
        if (compression == Compression::lzma && size < 13) {
          CHECK(decoded.compression == Compression::none);  // it has no magic number to be cut
          continue;
        }
        REQUIRE(decoded.error);
        CHECK(ends_early(*decoded.error));
        CHECK(decoded.error->at == ByteOffset{size > 6 ? size : decoded.error->at->value});
        CHECK(text.starts_with(decoded.bytes));
      }
    }
  }
}

TEST_CASE("decoder: the message of a stream cut short") {
  std::string stream = compress(Compression::xz, sample_text(2000));
  stream.resize(500);

  Decoded decoded = decode(stream);

  REQUIRE(decoded.error);
  decoded.error->subject = "driver.run";
  CHECK(render(*decoded.error) ==
        "driver.run: xz stream ends early\n"
        "  at:       byte 500 of the compressed payload\n"
        "  expected: the rest of the stream\n"
        "  found:    end of file\n");
}

TEST_CASE("decoder: a changed byte is an error, or changes nothing, where there is a check") {
  const std::string text = sample_text(300);
  struct Case {
    Compression compression;
    CompressOptions options;
    bool checked;
  };
  std::vector<Case> cases;
  for (const Compression compression : kRead) {
    const bool checked = compression != Compression::lzma && compression != Compression::compress;
    cases.push_back({compression, {.level = 1}, checked});
  }
  cases.push_back({Compression::xz, {.level = 1, .check = Check::none}, false});
  cases.push_back({Compression::xz, {.level = 1, .check = Check::sha256, .block_size = 100}, true});
  cases.push_back({Compression::lz4, {.level = 1, .check = Check::none}, false});
  cases.push_back({Compression::zstd, {.level = 1, .check = Check::none}, false});
  for (const Case& c : cases) {
    const std::string whole = compress(c.compression, text, c.options);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned mask : {0x01U, 0x20U, 0xffU}) {
        CAPTURE(name_of(c.compression));
        CAPTURE(at);
        CAPTURE(mask);
        std::string changed = whole;
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ mask);

        const Decoded decoded = decode(changed, {.jobs = c.options.block_size == 0 ? 1U : 2U});

        if (c.checked && !decoded.error && decoded.compression == c.compression) {
          CHECK(decoded.bytes == text);
        }
      }
    }
  }
}

TEST_CASE("decoder: a wrong checksum is told from other damage where the library can") {
  const std::string text = sample_text(1000);
  struct Case {
    Compression compression;
    std::size_t from_end;  // a byte of the checksum
    const char* message;
  };
  const Case cases[] = {
      {Compression::gzip, 8, "gzip stream does not match its own checksum\n"},
      {Compression::zstd, 1, "zstd stream does not match its own checksum\n"},
      {Compression::lz4, 1, "lz4 stream does not match its own checksum\n"},
      {Compression::bzip2, 1, "bzip2 stream is damaged\n"},
  };
  for (const Case& c : cases) {
    std::string stream = compress(c.compression, text);
    char& byte = stream[stream.size() - c.from_end];
    byte = static_cast<char>(~byte);

    const Decoded decoded = decode(stream);

    REQUIRE(decoded.error);
    CHECK(decoded.error->code == Errc::corrupt);
    CHECK(text_of(decoded.error).starts_with(c.message));
  }
}

TEST_CASE("decoder: of a damaged xz header nothing is quoted") {
  std::string stream = compress(Compression::xz, "hello");
  stream[9] = static_cast<char>(~stream[9]);  // of the header's CRC32
  for (const unsigned jobs : {1U, 2U}) {
    CHECK(text_of(decode(stream, {.jobs = jobs}).error) ==
          "xz stream is damaged\n  at:       byte 12 of the compressed payload\n");
  }
}

TEST_CASE("decoder: damage is placed") {
  const std::string first = compress(Compression::gzip, sample_text(2000));
  std::string stream = first + compress(Compression::gzip, "second");
  stream[first.size() + 3] = '\xff';  // reserved flags

  const Decoded decoded = decode(stream);

  CHECK(text_of(decoded.error) ==
        "gzip stream is damaged\n"
        "  at:       byte " +
            std::to_string(first.size() + 4) +
            " of the compressed payload\n"
            "  found:    unknown header flags set\n");
}

TEST_CASE("decoder: an error comes again, and one of the source beneath comes as it is") {
  for (const Compression compression : kRead) {
    CAPTURE(name_of(compression));
    const std::string stream = compress(compression, sample_text(1000));
    FailingSource failing(std::string_view(stream).substr(0, stream.size() / 2));
    auto decoder = open_decoder(failing);
    REQUIRE(decoder);

    const auto first = io::drain(**decoder);
    const auto second = io::drain(**decoder);

    REQUIRE_FALSE(first);
    CHECK(render(first.error()) == "the disk is gone\n  at:       byte 7\n");
    REQUIRE_FALSE(second);
    CHECK(render(second.error()) == render(first.error()));
  }
}

TEST_CASE("decoder: every kind of check that xz has is read, and none as well") {
  const std::string text = sample_text(5000);
  for (const Check check : {Check::none, Check::crc32, Check::crc64, Check::sha256}) {
    for (const std::size_t block_size : {0U, 1000U}) {
      const std::string stream =
          compress(Compression::xz, text, {.check = check, .block_size = block_size});
      for (const unsigned jobs : {1U, 2U}) {
        CHECK(decode(stream, {.jobs = jobs}).bytes == text);
      }
    }
  }
}

TEST_CASE("decoder: a kind of check that liblzma lacks is refused by its number") {
  const std::string stream = with_check_id(compress(Compression::xz, "hello"), 5);
  for (const unsigned jobs : {1U, 2U}) {
    const Decoded decoded = decode(stream, {.jobs = jobs});

    REQUIRE(decoded.error);
    CHECK(decoded.error->code == Errc::unsupported);
    CHECK(decoded.error->found == "a check of type 5");
  }
}

TEST_CASE("decoder: threads give the same bytes") {
  const std::string text = sample_text(1'500'000);
  const std::string blocks = compress(Compression::xz, text, {.level = 0, .block_size = 100'000});
  const std::string one_block = compress(Compression::xz, text, {.level = 0});
  for (const unsigned jobs : {0U, 1U, 2U, 4U, 100'000U}) {
    CAPTURE(jobs);
    CHECK((decode(blocks, {.jobs = jobs}).bytes == text));
    CHECK((decode(one_block, {.jobs = jobs}).bytes == text));
    CHECK((decode(blocks + one_block, {.jobs = jobs}).bytes == text + text));
  }
}

TEST_CASE("decoder: threads that do not fit into the memory allowed are not started") {
  const std::string text = sample_text(1'500'000);
  const std::string blocks = compress(Compression::xz, text, {.level = 0, .block_size = 700'000});

  const Decoded decoded = decode(blocks, {.jobs = 4, .memory_max = {512U << 10U}});

  CHECK(text_of(decoded.error) == "");
  CHECK((decoded.bytes == text));
}

TEST_CASE("decoder: damage in one block of many is found with threads as without") {
  const std::string text = sample_text(1'000'000);
  std::string blocks = compress(Compression::xz, text, {.level = 0, .block_size = 100'000});
  char& byte = blocks[blocks.size() / 2];
  byte = static_cast<char>(~byte);
  for (const unsigned jobs : {1U, 4U}) {
    const Decoded decoded = decode(blocks, {.jobs = jobs});

    REQUIRE(decoded.error);
    CHECK(decoded.error->code == Errc::corrupt);
    CHECK(decoded.error->expected == "valid data with a CRC64 check");
    CHECK(decoded.bytes.size() < text.size());
    CHECK(text.starts_with(decoded.bytes));
  }
}

TEST_CASE("decoder: a stream that asks for too much memory is refused at once") {
  const auto message = [](const std::string& stream, const DecoderOptions& options) {
    return text_of(decode(stream, options).error);
  };
  const std::string xz =
      with_dictionary(compress(Compression::xz, "hello"), Compression::xz, 3, 29);
  for (const unsigned jobs : {1U, 2U}) {
    CHECK(message(xz, {.jobs = jobs}) ==
          "xz stream asks for too much memory\n"
          "  at:       byte 0 of the compressed payload\n"
          "  expected: at most 256 MiB\n"
          "  found:    1537 MiB\n");
  }
  const std::string lzma =
      with_dictionary(compress(Compression::lzma, "hello"), Compression::lzma, 3, 29);
  CHECK(message(lzma, {}) ==
        "lzma stream asks for too much memory\n"
        "  at:       byte 13 of the compressed payload\n"
        "  expected: at most 256 MiB\n"
        "  found:    1537 MiB\n");
  CHECK(message(compress(Compression::zstd, "hello", {.window_log = 28}), {}) ==
        "zstd stream asks for too much memory\n"
        "  at:       byte 0 of the compressed payload\n"
        "  expected: at most 128 MiB\n"
        "  found:    256 MiB\n");
}

TEST_CASE("decoder: a later block that asks for too much memory is refused as well") {
  const std::string stream =
      compress(Compression::xz, "hello") +
      with_dictionary(compress(Compression::xz, "hello"), Compression::xz, 3, 29);
  for (const unsigned jobs : {1U, 2U}) {
    const Decoded decoded = decode(stream, {.jobs = jobs});

    CHECK(decoded.bytes == "hello");
    CHECK(decoded.error.value().code == Errc::limit);
  }
}

TEST_CASE("decoder: the memory allowed is the caller's to set") {
  const std::string xz = compress(Compression::xz, "hello");  // a dictionary of 8 MiB
  CHECK(decode(xz, {.memory_max = {9U << 20U}}).bytes == "hello");
  CHECK(decode(xz, {.memory_max = {7U << 20U}}).error.value().code == Errc::limit);
  const std::string zstd = compress(Compression::zstd, "hello", {.window_log = 23});
  CHECK(decode(zstd, {.memory_max = {8U << 20U}}).bytes == "hello");
  CHECK(decode(zstd, {.memory_max = {7U << 20U}}).error.value().code == Errc::limit);
  CHECK(decode(compress(Compression::zstd, "hello", {.window_log = 27})).bytes == "hello");
}

TEST_CASE("decoder: a zstd frame whose content is its window is held to the same limit") {
  // Magic number; single segment with a content size of 8 bytes; 2^40 bytes.
  const std::string stream = "\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\x01\0\0"s;

  const Decoded decoded = decode(stream);

  REQUIRE(decoded.error);
  CHECK(decoded.error->code == Errc::limit);
  CHECK(decoded.error->found == "1048576 MiB");
}

TEST_CASE("decoder: formats that are not read are named, with what to do") {
  CHECK(text_of(decode("\x89LZO\x00\x0d\x0a\x1a\x0a"s).error) ==
        "compressed with lzop, which is not read\n"
        "  at:       byte 0 of the compressed payload\n"
        "  expected: gzip, xz, lzma, zstd, bzip2, lz4, compress, or no compression\n"
        "  found:    lzop\n"
        "  hint:     decompress it with lzop -d, and pack it again with one of these\n");
  for (const char* const magic : {"LZIP\x01", "BZ3v1"}) {
    CHECK(decode(magic).error.value().code == Errc::unsupported);
  }
  const Decoded legacy = decode("\x02\x21\x4c\x18\x06\0\0\0\x50hello"s);
  REQUIRE(legacy.error);
  CHECK(legacy.error->code == Errc::unsupported);
  CHECK(legacy.error->found == "the legacy format, of lz4 -l");
}

TEST_CASE("decoder: compress works at every width, and when its table starts anew") {
  const std::string text = sample_text(400'000);
  for (unsigned width = 10; width <= 16; ++width) {
    CAPTURE(width);
    const std::string stream = compress(Compression::compress, text, {.code_width_max = width});

    CHECK((decode(stream, {}, 1000).bytes == text));
  }
  // A code that stands for the entry which it adds: the third of "aaaaaa...".
  const std::string same(10'000, 'a');
  CHECK((decode(compress(Compression::compress, same)).bytes == same));
}

TEST_CASE("decoder: what compress(1) wrote is read") {
  // printf 'TOBEORNOTTOBEORTOBEORNOT' | compress -c, ncompress 5.0
  const std::string stream =
      "\x1f\x9d\x90\x54\x9e\x08\x29\xf2\x44\x8a\x93\x27\x54\x02\x0e\x2c\xa8\x90\xa0\x41\x84"s;

  CHECK(decode(stream).bytes == "TOBEORNOTTOBEORTOBEORNOT");
}

TEST_CASE("decoder: codes of compress that stand for nothing are damage") {
  struct Case {
    std::string name;
    std::string stream;
    Errc code;
  };
  const Case cases[] = {
      {"the first is no literal", "\x1f\x9d\x90\x01\x01"s, Errc::corrupt},  // 257
      {"two ahead", "\x1f\x9d\x90\x61\x04\x02"s, Errc::corrupt},            // 'a', 258
      {"after the table was emptied", "\x1f\x9d\x90\x61\0\x02\0\0\0\0\0\0\x01\x01"s, Errc::corrupt},
      {"17 bits", "\x1f\x9d\x91\x61\x00"s, Errc::unsupported},
      {"9 bits", "\x1f\x9d\x89\x61\x00"s, Errc::unsupported},
      {"no header", "\x1f\x9d"s, Errc::corrupt},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Decoded decoded = decode(c.stream);

    REQUIRE(decoded.error);
    CHECK(decoded.error->code == c.code);
  }
}
