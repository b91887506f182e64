// SPDX-License-Identifier: Apache-2.0
#include "compatpack/commands/commands.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/pipeline/target.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "host_steps.hpp"
#include "json.hpp"

namespace compatpack::commands {

Result<int> run_env(const EnvOptions& options, Console& console) {
  CP_CHECK(open_tree_folder(options.tree));
  CP_TRY(const pipeline::Receipt receipt, pipeline::read_tree(options.tree));
  if (receipt.driver_version.empty()) {
    return Error{.code = Errc::unsupported,
                 .what = "tree has no activation scripts",
                 .subject = options.tree,
                 .expected = "a tree whose driver version is known"};
  }
  CP_TRY(const std::string path, io::absolute_folder(options.tree));
  CP_CHECK(pipeline::check_tree_path(path));
  CP_TRY(std::string code, pipeline::make_eval_code(options.shell, path));
  while (code.ends_with('\n')) {
    code.pop_back();
  }
  if (console.json()) {
    console.document(rendered({{"tree", path}, {"code", code}}));
  } else {
    console.result(code);
  }
  return 0;
}

}  // namespace compatpack::commands
