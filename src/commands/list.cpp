// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/pipeline/nested.hpp"

#include "bundle_steps.hpp"

namespace compatpack::commands {
namespace {

using formats::EntryType;
using pipeline::Selection;

/// Prints each member as it goes by, and writes nothing.
class Lister final : public pipeline::MemberVisitor {
 public:
  Lister(const pipeline::SelectionRequest& request, Console& console)
      : request_(request), console_(console) {}

  Result<Done> visit(const pipeline::Member& member, pipeline::MemberContent& content) override {
    if (member.type == EntryType::folder) {
      return Done{};
    }
    Selection selection = pipeline::select_by_path(member.path, request_);
    if (member.type == EntryType::symlink) {
      selection = {Selection::Use::none, "", "link to " + member.link_target};
    } else if (member.type == EntryType::file && pipeline::is_bundle_name(member.path.text())) {
      selection = {Selection::Use::none, "", "a bundle inside; extract --member takes it"};
    }
    if (member.type == EntryType::file) {
      CP_CHECK(look_inside(selection, content));
    }
    print(member, selection);
    return Done{};
  }

  [[nodiscard]] const Json& members() const { return members_; }

 private:
  Result<Done> look_inside(Selection& selection, io::Source& content) const {
    if (selection.use != Selection::Use::library && selection.use != Selection::Use::file) {
      return Done{};
    }
    std::array<std::byte, formats::kElfHeadSize> head{};
    CP_TRY(const std::size_t count, io::read_full(content, head));
    std::string unfit = pipeline::unfit_content(std::span(head).first(count), selection, request_);
    if (!unfit.empty()) {
      selection = {Selection::Use::none, selection.component, std::move(unfit)};
    }
    return Done{};
  }

  static std::string_view verdict_of(const Selection& selection) {
    switch (selection.use) {
      case Selection::Use::library:
      case Selection::Use::file:
      case Selection::Use::licence:
        return "take";
      case Selection::Use::manifest:
        return "read";
      case Selection::Use::none:
        return "leave";
    }
    return "leave";
  }

  void print(const pipeline::Member& member, const Selection& selection) {
    const std::string_view verdict = verdict_of(selection);
    const std::string& component = selection.component;
    if (console_.json()) {
      members_.push_back({{"path", member.path.text()},
                          {"size", member.size.value},
                          {"take", verdict == "take"},
                          {"component", text_or_null(component)},
                          {"reason", selection.reason}});
      return;
    }
    std::string line(verdict);
    line.resize(7, ' ');
    line += component.empty() ? "-" : component;
    line.resize(17, ' ');
    const std::string size = human_size(member.size);
    line += std::string(size.size() < 9 ? 9 - size.size() : 0, ' ') + size + "  ";
    line += printable(member.path.text());
    if (!selection.reason.empty()) {
      line += "  (" + printable(selection.reason) + ")";
    }
    console_.answer(line);
  }

  const pipeline::SelectionRequest& request_;
  Console& console_;
  Json members_ = Json::array();
};

}  // namespace

Result<int> run_list(const ListOptions& options, const Env& env, Console& console) {
  CP_TRY(OpenBundle open, open_bundle(options.bundle, env, console));
  confine(env, console, {});
  Lister lister(options.selection, console);
  CP_TRY(const auto verification, pipeline::read_members(*open.bundle, open.read, lister));
  for (const std::string& warning : verification.warnings) {
    console.warn(warning);
  }
  if (console.json()) {
    console.document(rendered({{"bundle", json_of(open.bundle->info())},
                               {"sha256", verification.sha256},
                               {"signed_by", json_of(verification.signed_by)},
                               {"arch", options.selection.arch},
                               {"members", lister.members()}}));
  }
  return 0;
}

}  // namespace compatpack::commands
