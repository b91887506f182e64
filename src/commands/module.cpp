// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compatpack/commands/commands.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/pipeline/modulefile.hpp"
#include "compatpack/pipeline/target.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "host_steps.hpp"
#include "json.hpp"

namespace compatpack::commands {
namespace {

bool has_libcuda(const pipeline::Receipt& receipt) {
  const auto is_libcuda = [](const auto& one) { return one.path == "libcuda.so.1"; };
  return std::any_of(receipt.links.begin(), receipt.links.end(), is_libcuda) ||
         std::any_of(receipt.files.begin(), receipt.files.end(), is_libcuda);
}

}  // namespace

Result<int> run_module(const ModuleOptions& options, Console& console) {
  CP_CHECK(open_tree_folder(options.tree));
  CP_TRY(const pipeline::Receipt receipt, pipeline::read_tree(options.tree));
  if (!has_libcuda(receipt)) {
    return Error{.code = Errc::unsupported,
                 .what = "tree has nothing to activate",
                 .subject = options.tree,
                 .expected = "a tree with libcuda.so.1 in it"};
  }
  std::string path = options.prefix;
  if (path.empty()) {
    CP_TRY(path, io::absolute_folder(options.tree));
  }
  CP_CHECK(pipeline::check_tree_path(path));
  const auto driver = DriverVersion::parse(receipt.driver_version);
  CP_TRY(std::string text,
         pipeline::make_modulefile(options.format, {driver, receipt.cuda_version, path}));
  while (text.ends_with('\n')) {
    text.pop_back();
  }
  if (console.json()) {
    const bool is_lua = options.format == pipeline::ModuleFormat::lua;
    console.document(
        rendered({{"tree", path}, {"format", is_lua ? "lua" : "tcl"}, {"modulefile", text}}));
  } else {
    console.result(text);
  }
  return 0;
}

}  // namespace compatpack::commands
