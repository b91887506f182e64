// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/openpgp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/openpgp_armor.hpp"
#include "compatpack/io/child_process.hpp"
#include "compatpack/io/text_file.hpp"

namespace compatpack::host {
namespace {

using State = SignatureState;

// All of Debian's keys are 0.1 MB.
constexpr ByteCount kKeyringMax{16U << 20U};

constexpr ByteCount kOutputMax{64U << 10U};

// Since it last took some of the content. The check itself takes milliseconds.
constexpr std::chrono::seconds kTimeout{60};

// Not even a folder of this name can be made: where GnuPG looks for the user's settings.
constexpr const char* kNoFolder = "/dev/null/none";

constexpr std::string_view kStatusStart = "[GNUPG:] ";

bool is_program(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string find_program(Environment environment, std::string_view name) {
  for (const std::string_view folder :
       split(value_of(environment, "PATH").value_or(std::string_view()), ':')) {
    std::string path = std::string(folder) + "/" + std::string(name);
    if (folder.starts_with('/') && is_program(path)) {
      return path;
    }
  }
  return {};
}

/// A binary key begins with its packet, of tag 6 in the old or the new form; a keybox of GnuPG has
/// its magic behind eight bytes.
bool is_binary_keyring(std::string_view bytes) {
  constexpr std::string_view kFirst = "\x98\x99\x9A\x9B\xC6";
  return bytes.find_first_of(kFirst) == 0 || (bytes.size() > 12 && bytes.substr(8, 4) == "KBXf");
}

/// A user's name as gpgv writes it, with "%25" for a percent sign.
std::string unescaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::size_t kNone = std::string_view::npos;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool has_two = text[i] == '%' && i + 2 < text.size();
    const std::size_t high = has_two ? kHex.find(text[i + 1]) : kNone;
    const std::size_t low = has_two ? kHex.find(text[i + 2]) : kNone;
    if (high != kNone && low != kNone) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_fingerprint(std::string_view text) { return parse_hex(text, 40) || parse_hex(text, 64); }

/// Lines of NAME=value for the verifier: ours, without what leads it to the user's own settings or
/// to another language.
std::vector<std::string> verifier_environment(Environment environment) {
  constexpr std::array<std::string_view, 5> kReplaced{
      "HOME=", "GNUPGHOME=", "LC_ALL=", "LANGUAGE=", "LD_PRELOAD="};
  std::vector<std::string> lines;
  for (const std::string& line : environment) {
    if (std::none_of(kReplaced.begin(), kReplaced.end(),
                     [&line](std::string_view name) { return line.starts_with(name); })) {
      lines.push_back(line);
    }
  }
  lines.push_back(std::string("HOME=") + kNoFolder);
  lines.push_back(std::string("GNUPGHOME=") + kNoFolder);
  lines.emplace_back("LC_ALL=C");
  return lines;
}

/// Collects what status lines say; see GnuPG's doc/DETAILS for their fields.
class GpgvStatus {
 public:
  void take(const std::vector<std::string_view>& words, std::string_view rest) {
    const std::string_view keyword = words.front();
    const auto word = [&words](std::size_t number) {
      return number < words.size() ? words[number] : std::string_view();
    };
    if (keyword == "GOODSIG") {
      ++good_;
      note(State::good, rest);
    } else if (keyword == "VALIDSIG") {
      // The signing key's fingerprint, ..., the signature's class (00: of bytes), the primary
      // key's.
      const std::string_view primary = word(10).empty() ? word(1) : word(10);
      ++valid_;
      fingerprint_ = is_fingerprint(primary) ? primary : std::string_view();
      if (word(9) != "00") {
        note(State::of_text, word(1));
      }
    } else if (keyword == "ERRSIG") {
      const bool no_key = word(6) == "9";
      note(no_key ? State::unknown_key : State::unusable, word(7).size() > 1 ? word(7) : word(1));
    } else {
      for (const auto& [name, state] : kBadEnds) {
        if (keyword == name) {
          note(state, rest);
        }
      }
    }
  }

  [[nodiscard]] SignatureVerdict verdict() const {
    // Only what both lines say of each signature is good.
    if (verdict_.state == State::good && (good_ != valid_ || fingerprint_.empty())) {
      return {};
    }
    SignatureVerdict verdict = verdict_;
    const bool is_by_it = verdict.state != State::bad && verdict.state != State::unknown_key;
    if (is_by_it && !fingerprint_.empty()) {
      verdict.key = std::string(fingerprint_);
    }
    return verdict;
  }

 private:
  static constexpr std::array<std::pair<std::string_view, State>, 4> kBadEnds{
      {{"BADSIG", State::bad},
       {"REVKEYSIG", State::revoked_key},
       {"EXPKEYSIG", State::expired_key},
       {"EXPSIG", State::expired}}};

  static int badness(State state) {
    constexpr std::array<State, 8> kOrder{
        State::good,    State::unknown_key, State::unusable,    State::of_text,
        State::expired, State::expired_key, State::revoked_key, State::bad};
    return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), state) - kOrder.begin());
  }

  /// `rest` is a key, and behind a blank its user.
  void note(State state, std::string_view rest) {
    if (seen_ && badness(state) <= badness(verdict_.state)) {
      return;
    }
    seen_ = true;
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    std::string user = unescaped(trim(rest.substr(blank)));
    verdict_ = {state, std::string(rest.substr(0, blank)),
                user.empty() ? verdict_.user : std::move(user)};
  }

  SignatureVerdict verdict_;
  bool seen_ = false;
  int good_ = 0;
  int valid_ = 0;
  std::string_view fingerprint_;
};

}  // namespace

Result<Verifier> find_verifier(Environment environment) {
  if (std::string path = find_program(environment, "gpgv"); !path.empty()) {
    return Verifier{Verifier::Kind::gpgv, std::move(path)};
  }
  if (std::string path = find_program(environment, "sqv"); !path.empty()) {
    return Verifier{Verifier::Kind::sqv, std::move(path)};
  }
  return Error{.code = Errc::io,
               .what = "no program to check signatures with",
               .expected = "gpgv or sqv in PATH",
               .found = "neither",
               .hint = "install gpgv (on Debian and Ubuntu), gnupg2 (Fedora, RHEL) or gpg2 (SUSE)"};
}

Result<std::string> read_keyring(const std::string& path) {
  CP_TRY(auto read, io::read_text_file(path, kKeyringMax));
  if (!read) {
    return Error{.code = Errc::io,
                 .what = "no such keyring",
                 .subject = path,
                 .expected = "a file with public keys",
                 .found = "nothing of that name"};
  }
  std::string text = *std::move(read);
  if (is_binary_keyring(text)) {
    return text;
  }
  if (!formats::is_armored_keyring(text)) {
    return Error{.code = Errc::not_recognized,
                 .what = "not a keyring",
                 .subject = path,
                 .expected = "public keys of OpenPGP, binary or armored",
                 .found = text.empty() ? "an empty file" : text.substr(0, 40),
                 .hint = "gpg --export KEY writes one"};
  }
  auto keys = formats::dearmor_keyring(text);
  if (!keys) {
    keys.error().subject = path;
  }
  return keys;
}

SignatureVerdict parse_gpgv_status(std::string_view report) {
  GpgvStatus status;
  while (!report.empty()) {
    std::string_view line = take_line(report);
    if (!line.starts_with(kStatusStart)) {
      continue;
    }
    line.remove_prefix(kStatusStart.size());
    const auto words = split(line, ' ');
    if (!words.empty()) {
      status.take(words, line.substr(std::min(words.front().size() + 1, line.size())));
    }
  }
  return status.verdict();
}

SignatureVerdict parse_sqv_answer(int status, std::string_view report) {
  const std::string_view first = trim(report.substr(0, report.find('\n')));
  if (status != 0 || !is_fingerprint(first)) {
    return {};
  }
  return {State::good, std::string(first)};
}

Result<SignatureVerdict> check_signature(const SignatureRequest& request) {
  const bool gpgv = request.verifier.kind == Verifier::Kind::gpgv;
  const std::vector<std::string> files{request.keyring, request.signature};
  const std::string keyring = io::child_file(0);
  const std::string signature = io::child_file(1);
  const std::vector<std::string> words =
      gpgv ? std::vector<std::string>{"--status-fd",
                                      std::to_string(io::kReportFd),
                                      "--keyring",
                                      keyring,
                                      "--",
                                      signature,
                                      "-"}
           : std::vector<std::string>{"--keyring", keyring, "--", signature, "/dev/stdin"};
  const std::vector<std::string> environment = verifier_environment(request.environment);
  CP_TRY(const io::ChildEnd end, io::run_child({.program = request.verifier.path,
                                                .words = words,
                                                .environment = environment,
                                                .timeout = kTimeout,
                                                .output_max = kOutputMax,
                                                .interrupted = request.interrupted,
                                                .files = files,
                                                .input = &request.content,
                                                .keep_output = true}));
  if (end.timed_out || end.signal != 0) {
    return Error{.code = Errc::io,
                 .what = "cannot check a signature",
                 .subject = request.verifier.path,
                 .expected = "an exit status",
                 .found = end.timed_out ? "no end of it for a minute"
                                        : "killed by signal " + std::to_string(end.signal)};
  }
  SignatureVerdict verdict =
      gpgv ? parse_gpgv_status(end.report) : parse_sqv_answer(end.status, end.report);
  // The status lines may speak of less than all that is wrong.
  if (verdict.state == State::good && end.status != 0) {
    verdict.state = State::unusable;
  }
  verdict.words = trim(end.words);
  return verdict;
}

}  // namespace compatpack::host
