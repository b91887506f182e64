// SPDX-License-Identifier: Apache-2.0
#pragma once

// Manual pages: what the reference knows, around what people wrote. The project keeps the pages in
// man/; see scripts/make-reference.
//
// A page has two parts that are made here, each between lines of its own:
//
//   .\" from the reference
//   .\" to here
//
// The first is title, name and synopsis; the second options, exit status, and other pages.

#include <string>
#include <string_view>

#include "compatpack/base/result.hpp"
#include "compatpack/cli/reference.hpp"

namespace compatpack::cli {

/// `page` with its two parts made anew, for the command `name`, or the program itself where that is
/// empty. `version` is that of the program.
/// Errors: usage where there is no such command; corrupt where `page` has not two parts.
Result<std::string> manual_page(std::string_view page, const Reference& all, std::string_view name,
                                std::string_view version);

}  // namespace compatpack::cli
